"""Writes docs/CAPABILITIES.md: what each template takes, what stands in, and what was compared.

Run with ``make capabilities``.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.cases import (
    ANSWER,
    CALLING,
    NOW,
    PAGE,
    RAIN,
    SYSTEM,
    THANKS,
    THOUGHTFUL,
    TIME,
    USER,
    WEATHER,
    OpenTemplates,
    RecordingWorker,
    rendered_cases,
    template_names,
)
from tests.reference.compare import Verdicts, verdicts
from turnspec.chat import NAMED_FORMATS, ChatError, ChatTemplate, Polyfill
from turnspec.chat.summary import summary

TALK: tuple[Mapping[str, Any], ...] = (
    *(SYSTEM, USER, THOUGHTFUL, THANKS),
    *(CALLING, RAIN, ANSWER, USER),
)
#: The same, with a prompt (None) wherever the model answers.
IN_USE: tuple[Mapping[str, Any] | None, ...] = (
    *(SYSTEM, USER, None, THOUGHTFUL, THANKS, None),
    *(CALLING, RAIN, None, ANSWER, USER, None),
)
_TOOLS = (WEATHER, TIME)

HEAD = """\
<!-- Written by `make capabilities`. -->

# What templates take

What was found by rendering: the reference templates first, then the formats that
`ChatTemplate.named` knows. [How to render a prompt](render-a-prompt.md) tells what it is good for.

"""
COLUMNS = """\
- **system**: messages of that role are shown; *dev* where `developer` is a role of its own.
- **tools**, **calls**: tools and calls are shown, *one* where a message holds a single call.
- **results**: the role under which a tool's result is shown.
- **arguments**: what the template wants them to be; *flat* where they stand beside the call's id.
- **parts**: roles (by first letter) whose content may be a list of typed parts.
- **reasoning**: the key from which it is read.
- **thinking**: the variables or the word that turn it off (or on, where it is off at first).
- **channel**: the marker behind which content stands, where it always stands behind one.
- **stands in**: the polyfills that a conversation may need.
- **increments**: a conversation of eight messages, added one by one. Of the seven steps behind the
  first, how many only add to the text: by subtracting one rendering from the next → with
  `Conversation`. Behind that, the same with a prompt wherever the model answers: of eleven steps.

"""
_SHORT = {
    Polyfill.TOOLS: "tools",
    Polyfill.CALLS: "calls",
    Polyfill.RESULTS: "results",
    Polyfill.SINGLE_CALLS: "single calls",
    Polyfill.SYSTEM: "system",
    Polyfill.ALTERNATION: "alternation",
    Polyfill.NULL_CONTENT: "null content",
}


def page(templates: OpenTemplates, compared: Verdicts) -> str:
    """Return the page's text."""
    steps = {name: _steps(templates[name]) for name in template_names()}
    rows = [_row(name, templates[name], *found) for name, found in steps.items()]
    head = (
        *("", "system", "tools", "calls", "results", "arguments", "parts", "reasoning"),
        *("thinking", "channel", "stands in", "increments"),
    )
    return (
        HEAD
        + _figures(templates, steps, compared)
        + "## The templates\n\n"
        + COLUMNS
        + _table([head, ("---",) * len(head), *rows])
    )


def row_of(name: str, templates: OpenTemplates) -> str:
    """Return one template's line on the page."""
    return _table([_row(name, templates[name], *_steps(templates[name]))])


def _steps(chat: ChatTemplate) -> tuple[int, int, int]:
    return naive_steps(chat), _held_or_none(chat, TALK), _held_or_none(chat, IN_USE)


def _held_or_none(chat: ChatTemplate, steps: Sequence[Mapping[str, Any] | None]) -> int:
    """Return the steps that are held; none if the template takes no such conversation."""
    try:
        return held_steps(chat, steps)
    except ChatError:
        return 0


def _figures(
    templates: OpenTemplates, steps: Mapping[str, tuple[int, int, int]], compared: Verdicts
) -> str:
    """Return how many templates can what, and what was compared, as tables."""
    names = [name for name in template_names() if name not in NAMED_FORMATS]
    forms = [templates[name].form for name in names]
    can = [form.capabilities for form in forms]
    counts = {
        "system messages": sum(one.system_role for one in can),
        "tools": sum(one.tools for one in can),
        "calls": sum(one.tool_calls for one in can),
        "several calls in a message": sum(one.parallel_calls for one in can),
        "results of tools": sum(form.result_role is not None for form in forms),
        "content in parts, from users": sum("user" in form.takes_parts for form in forms),
        "reasoning": sum(form.dialect.reasoning_field is not None for form in forms),
        "all of a conversation with tools, without anything standing in": sum(
            not set(templates[name].polyfills) - {Polyfill.NULL_CONTENT} for name in names
        ),
    }
    rows = [("what is taken", f"of {len(names)}"), ("---", "---:")]
    rows += [(what, str(count)) for what, count in counts.items()]
    naive = sum(steps[name][0] for name in names)
    held = sum(steps[name][1] for name in names)
    total = len(names) * (len(TALK) - 1)
    told = [name for name in names if steps[name][1] < len(TALK) - 1]
    return (
        _table(rows)
        + "\n## Increments\n\n"
        + f"Of {total} steps, {naive} only add to the text by subtraction, {held} with "
        + "`Conversation`, which says so of each. The others are of "
        + f"{' and '.join(told)},\nwhich put the tools before the last question. With a prompt "
        + f"wherever the model answers, {sum(steps[name][2] for name in names)} of "
        + f"{len(names) * (len(IN_USE) - 1)} do: a prompt\nthat opens or closes reasoning is no "
        + "beginning of a later rendering that has none.\n\n"
        + "## Agreement with transformers\n\n"
        + _agreement(compared)
    )


def _agreement(found: Verdicts) -> str:
    columns = [Counter(str(row[number]) for row in found) for number in (1, 2)]
    verdict_order = sorted(
        {*columns[0], *columns[1]}, key=lambda verdict: (-max(c[verdict] for c in columns), verdict)
    )
    rows: list[tuple[str, ...]] = [
        (f"of {len(found)} renderings", "in form", "plain"),
        ("---", "---:", "---:"),
    ]
    rows += [(verdict, *(str(c[verdict]) for c in columns)) for verdict in verdict_order]
    return (
        "Hugging Face transformers rendered the same conversations, ten for each template "
        "(`make reference`; [tests/reference](../tests/reference)). *In form*: with messages in "
        "the template's form, as they are given to it here. *Plain*: with messages as chat APIs "
        "have them, so that the difference is what this library does for a template. Each that "
        "isn't equal has its reason.\n\n" + _table(rows) + "\n"
    )


def _row(name: str, chat: ChatTemplate, naive: int, held: int, in_use: int) -> tuple[str, ...]:
    spec = chat.prepared().spec
    found = summary(chat.form, spec)
    calls = (
        "one" if found["tool_calls"] and not found["parallel_calls"] else _mark(found["tool_calls"])
    )
    parts = "".join(role[0] for role in sorted(chat.form.takes_parts))
    link = name if name in NAMED_FORMATS else f"[{name}](../specs/{name}.yaml)"
    channel = found["channel"]
    start = channel["start"] if isinstance(channel, dict) else ""
    arguments = f"{found['arguments'] or ''}{', flat' if found['flat_calls'] else ''}"
    return (
        link,
        _mark(found["system_role"]) + (" dev" if found["developer_role"] else ""),
        _mark(found["tools"]),
        calls,
        str(found["tool_results"] or ""),
        arguments,
        parts,
        str(found["reasoning"] or ""),
        _code(str(found["thinking"])),
        _code(start.strip()),
        ", ".join(_SHORT[polyfill] for polyfill in chat.polyfills),
        f"{naive} → {held}; {in_use}",
    )


def _mark(holds: object) -> str:
    return "✓" if holds else ""


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def naive_steps(chat: ChatTemplate) -> int:
    """Return how often one more message only adds to the rendering."""
    texts = [_rendered(chat, TALK[: count + 1]) for count in range(len(TALK))]
    return sum(
        before is not None and after is not None and after.startswith(before)
        for before, after in itertools.pairwise(texts)
    )


def _rendered(chat: ChatTemplate, messages: Sequence[Mapping[str, Any]]) -> str | None:
    try:
        return chat.render(messages, tools=_TOOLS, add_generation_prompt=False, now=NOW).text
    except ChatError:
        return None


def held_steps(chat: ChatTemplate, steps: Sequence[Mapping[str, Any] | None]) -> int:
    """Return how many steps behind the first only add to what a conversation gave out.

    A step is a message, or a prompt (None).
    """
    conversation = chat.conversation(tools=_TOOLS, now=NOW)
    taken = [conversation.prompt() if step is None else conversation.add(step) for step in steps]
    return sum(step.appended for step in taken[1:])


def main() -> int:
    """Write the page."""
    with RecordingWorker() as worker:
        templates = OpenTemplates(worker)
        compared = list(verdicts(rendered_cases(templates, template_names()), worker))
        PAGE.write_text(page(templates, compared), encoding="utf-8")
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
