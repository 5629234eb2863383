"""Arguments in tags: their order, their types, and what stands in their values."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from turnspec.deviations.turns import Case, Format
from turnspec.spec.calls import Literal, Slot
from turnspec.spec.message import Message
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

#: Ways to write a call otherwise, each an expression for a part of it and what stands there then.
Rewriting = tuple[tuple[str, str], ...]

_TAG = "(<[^<>]+>)"
#: A name with its own tag and the one before the first key.
_NAMED = rf"{_TAG}look\s*<[^<>]+>(?=city<)"
#: Another sign stands for the one behind a tag's word, none, or an attribute's name.
OTHER_SIGNS: Rewriting = tuple(
    (r"(?<=<)(\w+)=(?=(?:look|city)>)", rf"\1{sign}") for sign in (" ", ":", " name=")
)
#: A tag around a key, or the one before its value, stands twice.
A_TAG_TWICE: Rewriting = tuple(
    (rf"{_TAG}(city){_TAG}(\s*){_TAG}", twice)
    for twice in (r"\1\1\2\3\4\5", r"\1\2\3\3\4\5", r"\1\2\3\4\5\5")
)
#: The first key lacks the tag before it; white space, a tag or nothing stands there.
FIRST_KEY_WITHOUT_TAG: Rewriting = tuple(
    (_NAMED, rf"\1look{between}") for between in (r"\n", " ", r"\1", "")
)
#: The last sign of a tag is missing behind a name, or behind a key that ends a line.
TAG_WITHOUT_ITS_END: Rewriting = ((r"(?<==look)>(?=\s*<)", ""), (r"(?<==city)>(?=\n)", ""))
#: White space stands around a key between tags.
SPACE_AROUND_KEYS: Rewriting = ((r"(?<=[=>])city(?=[<>])", r" city\n"),)
#: The word for a value's type is missing, with its attribute: the schema tells it.
NO_TYPE: Rewriting = ((r'(?<="city") \w+="\w+"', ""),)


def rewritten(ways: Rewriting, told: Collection[str], form: Format) -> Iterator[Case]:
    """A part of a call is written otherwise, in each of some ways."""
    text = form.write(form.one_call) if _has_tags(form) else ""
    for part, instead in ways:
        if (other := re.sub(part, instead, text)) != text:
            yield form.case(other, form.one_call, *told)


def another_order(form: Format) -> Iterator[Case]:
    """The arguments come in another order."""
    if _has_tags(form):
        yield form.as_written(form.calling(dict(reversed(list(form.call.arguments.items())))))


def unknown_argument(form: Format) -> Iterator[Case]:
    """The tool has no such argument."""
    if _has_tags(form):
        message = form.calling({"odd": "thing", **form.call.arguments})
        yield form.as_written(message, "unknown_argument")


def repeated_argument(form: Format) -> Iterator[Case]:
    """An argument is there twice: the last one wins on loading."""
    if not _has_tags(form):
        return
    text = form.write(form.calling({"citx": "Oslo", "city": "Rome"}))
    message = form.calling({"city": "Rome"})
    yield form.case(text.replace("citx", "city"), message, "repeated_argument")


def quoted_names(form: Format) -> Iterator[Case]:
    """A name and a key behind an equals sign stand in any quotes, as attributes do, or in none."""
    if not _has_tags(form):
        return
    text = form.write(form.one_call)
    for quote in ("", "'", '"'):
        quoted = re.sub(r"""=["']?(look|city)["']?(?=>)""", rf"={quote}\1{quote}", text)
        if "=" in text.partition("look")[0][-2:]:
            yield form.case(quoted, form.one_call)


def end_of_a_value_alone(form: Format) -> Iterator[Case]:
    """A call has nothing but its name, what closes a value, and at most its end."""
    text = form.write(form.one_call) if _has_tags(form) else ""
    if found := re.search(_NAMED, text):
        message = form.calling({})
        begun = f"{text[: found.start()]}{found[1]}look{_closing(form).strip()}"
        for end in ("", form.spec.turn.stop[0]):
            yield form.case(begun + end, message, "no_arguments")


def literals_of_python(form: Format) -> Iterator[Case]:
    """A value that can't be a string is a literal of Python."""
    if _has_schema_types(form):
        tools = json.dumps(form.options["tools"]).replace('"integer"', '"array"')
        message = form.calling({"days": "['a', None]"})
        read = form.calling({"days": ["a", None]})
        yield form.case(form.write(message), read, tools=json.loads(tools))


def value_not_closed(form: Format) -> Iterator[Case]:
    """A value's closing tag is missing before the next argument, and before the call's end."""
    if not _is_raw(form):
        return
    closing = _closing(form)
    text = form.write(form.one_call)
    for which in (0, 1):
        at = [match.start() for match in re.finditer(re.escape(closing), text)][which]
        yield form.case(text[:at] + text[at + len(closing) :], form.one_call, "missing_marker")


def value_closed_twice(form: Format) -> Iterator[Case]:
    """A value's closing tag stands twice, before the next argument and before the call's end."""
    closing = _closing(form) if _is_raw(form) else ""
    text = form.write(form.one_call)
    for found in [*re.finditer(re.escape(closing), text)] * bool(closing):
        twice = text[: found.end()] + closing + text[found.end() :]
        yield form.case(twice, form.one_call, "repeated")


def call_not_closed(form: Format) -> Iterator[Case]:
    """What closes a call is missing behind its last value, and another call follows."""
    last = form.tools.call[-1] if _is_raw(form) and len(form.calls) > 1 else None
    if isinstance(last, Literal):
        message = Message(calls=form.calls)
        first, *others = map(form.call_text, form.calls)
        texts = [first.removesuffix(last.text), *others]
        yield form.case(form.write(message, texts), message, "malformed")


def wrong_type(form: Format) -> Iterator[Case]:
    """A value isn't of the schema's type: it stays a string."""
    if not _has_schema_types(form):
        return
    for text in ("many", "123,456", "3 or so", "[1, 2"):
        yield form.as_written(form.calling({"city": "Paris", "days": text}), "wrong_type")


def looks_typed(form: Format) -> Iterator[Case]:
    """A string looks like a number, like JSON or like nothing."""
    if _has_tags(form):
        for text in ("7", "007", "true", '{"a": [1]}', "", "None"):
            yield form.as_written(form.calling({"city": text, "days": 3}))


def _has_tags(form: Format) -> bool:
    return (
        bool(form.calls)
        and form.tools.mode is ToolMode.TAG_WITH_TAGGED
        and bool(form.call.arguments.get("city"))
    )


def _is_raw(form: Format) -> bool:
    values = form.tools.arguments.values if form.calls else {}
    return _has_tags(form) and values.get(JsonType.STRING) is Encoding.RAW and bool(_closing(form))


def _closing(form: Format) -> str:
    """Return what closes a value, where that is one text for all of them."""
    item = form.tools.arguments.item
    behind = item[item.index(Slot(SlotKind.VALUE)) + 1 :]
    return behind[0].text if len(behind) == 1 else ""


def _has_schema_types(form: Format) -> bool:
    values = form.tools.arguments.values if form.calls else {}
    raw = values.get(JsonType.STRING) is Encoding.RAW
    return _has_tags(form) and raw and Slot(SlotKind.TYPE) not in form.tools.arguments.item
