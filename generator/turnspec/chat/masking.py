"""Conversations as tokens with a mask for training: a function for `datasets.Dataset.map`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from turnspec.chat.template import ChatTemplate

#: What losses leave out, in labels.
_IGNORED = -100


class Masker:
    """Turns a row with messages, and tools if it has any, into tokens and what the model wrote.

    It can be copied into other processes, which open the template themselves.

    Example:
        >>> from functools import partial
        >>> mask = Masker(partial(ChatTemplate.load, "model"), tokenizer)  # doctest: +SKIP
        >>> dataset.map(mask, remove_columns=dataset.column_names, num_proc=4)  # doctest: +SKIP
    """

    def __init__(
        self,
        open_template: Callable[[], ChatTemplate],
        tokenizer: Any,
        *,
        labels: bool = False,
        **options: Any,
    ) -> None:
        """Take what is asked of each row.

        Args:
            open_template: opens the template.
            tokenizer: a fast tokenizer of transformers, or a `tokenizers.Tokenizer`.
            labels: give ``labels``, which are -100 where the model wrote nothing, in place of
                ``assistant_masks``.
            options: for `ChatTemplate.spans`, such as ``thinking``.
        """
        self._open, self._tokenizer, self._labels = open_template, tokenizer, labels
        self._options = options
        self._chat: ChatTemplate | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not the open template."""
        return {**self.__dict__, "_chat": None}

    def __call__(self, row: Mapping[str, Any]) -> dict[str, list[int]]:
        """Return the row's ``input_ids``, and ``assistant_masks`` or ``labels``.

        Keys that are None are left out, as rows have all keys that any row has. Tools may be JSON
        text, and so may messages.

        Raises:
            ChatError: the template can't render the row.
        """
        self._chat = self._chat or self._open()
        messages = [_without_none(message) for message in _loaded(row["messages"])]
        tools = [_without_none(tool) for tool in _loaded(row.get("tools") or [])]
        found = self._chat.spans(messages, tools=tools, **self._options)
        tokens = found.in_tokens(self._tokenizer)
        if not self._labels:
            return tokens
        ids, mask = tokens.values()
        labels = [token if said else _IGNORED for token, said in zip(ids, mask, strict=True)]
        return {"input_ids": ids, "labels": labels}


def _loaded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _without_none(value: Any) -> Any:
    """Return a value without members that are None, in lists and members, too."""
    if isinstance(value, Mapping):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value
