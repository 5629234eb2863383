"""What users do with a parser beside reading: copies, deltas, comparisons, and wrong arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.deviations.calls import bare_name
from turnspec.deviations.turns import SAID, THOUGHT, Format
from turnspec.spec.message import Message

_SCHEMAS: tuple[Any, ...] = (
    *(7, {"properties": []}, {"anyOf": 3}, {"items": [{}]}, {"$ref": "#/x"}, {"enum": 1}),
    *({"properties": {"a": 3}}, {"$ref": "#/x", "x": {"type": "string"}}, {"oneOf": [{}, True]}),
)
_NO_TOOLS: tuple[Any, ...] = (
    *("x", 3, [3], [{}], [{"name": ""}], [{"function": {"name": 1}}], [{"function": 3}]),
)
#: More tokens than have a stand-in.
_TOKENS = 0x1900


def turns_to_use(form: Format) -> list[str]:
    """Return turns that have all there is between them."""
    messages = [form.message, form.one_call, form.shown(Message(SAID, THOUGHT))]
    turns = [form.write(message) for message in messages]
    return [*turns, turns[0][: len(turns[0]) * 2 // 3], *(case.text for case in bare_name(form))]


def use(module: FormatModule, texts: Sequence[str], options: Any) -> None:
    """Do with a parser all that users may, with texts for it to read."""
    for text in texts:
        parser = module.Parser(**options)
        events = [*parser.feed(text), *_copied(parser), *parser.finish()]
        for event in events:
            assert event.to_delta() is None or repr(event)
            assert event == event and event != parser.message
        message = module.parse([(text, False)], **options)
        assert message == copy.deepcopy(parser).message
        assert message.to_dict()["role"] == "assistant"
        assert message.finish_reason
        _refused(lambda parser=parser: parser.feed("x"), ValueError)
        _interrupt(module.Parser(**options))
    _misuse(module, options)


def _copied(parser: Any) -> list[Any]:
    other = copy.copy(parser)
    assert other.message == parser.message
    other.finish()
    return []


def _misuse(module: FormatModule, options: Any) -> None:
    """Give a parser what it can't take."""
    for tools in _NO_TOOLS:
        _refused(lambda tools=tools: module.Parser(tools=tools), ValueError)
    for schema in _SCHEMAS:  # without calls a parser reads none
        with suppress(ValueError):
            module.Parser(tools=[{"name": "x", "parameters": schema}])
    _refused(lambda: module.Parser(stop=[" "]), ValueError)
    _refused(lambda: module.Parser(special_tokens=[3]), ValueError)
    many = [chr(0x4E00 + number) for number in range(_TOKENS)]
    _refused(lambda: module.Parser(stop=many, special_tokens=many), ValueError)


def _interrupt(parser: Any) -> None:
    """End a call by an exception that comes from outside, as a signal's."""
    vars(parser)["_reading"] = _interrupted()
    _refused(lambda: parser.feed("x", special=True), KeyboardInterrupt)
    _refused(lambda: parser.feed("x"), RuntimeError)


def _interrupted() -> Iterator[None]:
    raise KeyboardInterrupt
    yield  # so that it's a generator


def _refused(call: Callable[[], object], error: type[BaseException]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{error.__name__} is not raised")
