"""What users do with a parser beside reading: copies, deltas, comparisons, and wrong arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.deviations.calls import bare_name
from turnspec.deviations.turns import SAID, THOUGHT, Format
from turnspec.spec.message import Message

_SCHEMAS: tuple[Any, ...] = (
    *(7, {"properties": []}, {"anyOf": 3}, {"items": [{}]}, {"$ref": "#/x"}, {"enum": 1}),
    *({"items": 3}, {"items": {"anyOf": 3}}, {"additionalProperties": 3}, {"prefixItems": [3]}),
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
            assert event == copy.copy(event)
            assert event != parser.message
        message = module.parse([(text, False)], **options)
        assert message == copy.deepcopy(parser).message
        assert message.to_dict()["role"] == "assistant"
        assert message.finish_reason
        _refused(partial(parser.feed, "x"), ValueError)
        _interrupt(module.Parser(**options))
    for wrong in (None, b"x", [3]):
        _refused(partial(module.parse, wrong, **options), TypeError)
    said = [*refusals(module)]
    has_calls = hasattr(module, "ToolCallStart")
    results: Any = module
    call = results.ToolCall("x", "look", "{", complete=False)
    assert (results.Message("", "", [call], []).finish_reason == "length") is has_calls
    of_tools = len(said) - len(_NO_TOOLS) - len(_SCHEMAS)
    assert "taken" not in said[:of_tools]
    if has_calls:  # what reads no calls has no use for tools
        assert "taken" not in said[of_tools : -len(_SCHEMAS)]


def _copied(parser: Any) -> list[Any]:
    other = copy.copy(parser)
    assert other.message == parser.message
    other.finish()
    return []


def refusals(module: FormatModule) -> Iterator[str]:
    """Yield what a parser says of what it can't take; a schema that it never reads it takes."""
    many = [chr(0x4E00 + number) for number in range(_TOKENS)]
    schemas = ([{"name": "x", "parameters": schema}] for schema in _SCHEMAS)
    misused: list[dict[str, Any]] = [
        *({"stop": [""]}, {"special_tokens": [3]}, {"stop": many}, {"special_tokens": many}),
        *({"reasoning": "no"}, {"echo": "no"}, {"prefill": 3}, {"id_prefix": None}),
        *({"tools": tools} for tools in (*_NO_TOOLS, *schemas)),
    ]
    for options in misused:
        try:
            module.Parser(**options)
        except ValueError as error:
            yield f"{error}"
        else:
            yield "taken"


def _interrupt(parser: Any) -> None:
    """End a call by an exception that comes from outside, as a signal's."""
    vars(parser)["_reading"] = _interrupted()
    _refused(lambda: parser.feed("x", special=True), KeyboardInterrupt)
    _refused(lambda: parser.feed("x"), RuntimeError)
    _refused(parser.finish, RuntimeError)


def _interrupted() -> Iterator[None]:
    raise KeyboardInterrupt
    yield  # so that it's a generator


def _refused(call: Callable[[], object], error: type[BaseException]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{error.__name__} is not raised")
