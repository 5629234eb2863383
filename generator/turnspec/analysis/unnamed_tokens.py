"""Special tokens that a template writes into an assistant's turn, and that nobody names.

A tokenizer gives its templates more tokens than those that begin and end a text (`sep_token`,
`pad_token`, …). Where a template is all that is known, such a one is rendered as nothing.
"""

from __future__ import annotations

from turnspec.analysis.probes import probe_message
from turnspec.rendering.conversation import Chat
from turnspec.spec.problems import Problem

_NEEDLE = "<|tokqa|>"


def unnamed_tokens(chat: Chat, file: str) -> list[Problem]:
    """Return a problem for each token that a turn holds, if its text is nowhere said."""
    names = [it for it in chat.facts.reads if it.endswith("_token") and it not in chat.tokens]
    return [
        Problem(
            f"a turn holds {name}, and nothing says what that is: put it into the template, as in "
            f'{{% set {name} = "…" %}}, or let an overlay say what ends a turn',
            file=file,
        )
        for name in sorted(names)
        if _is_shown(chat, name)
    ]


def _is_shown(chat: Chat, name: str) -> bool:
    """Tell whether a token's text would stand in a turn, where nothing stands without it."""
    message = probe_message(content=True)
    without = chat.turn(message).text
    shown = chat.using({**chat.variables, name: _NEEDLE}).turn(message).text or ""
    return _NEEDLE in shown and shown.replace(_NEEDLE, "") == without
