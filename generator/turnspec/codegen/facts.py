"""Spec -> the facts that the engine of `turnspec.engine` is compiled with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from turnspec.codegen.argument_marks import Pieces, around_value, has_python_words
from turnspec.codegen.argument_rules import signs_behind_string
from turnspec.codegen.call_marks import other_keys, other_values, own_keys, sign_between
from turnspec.codegen.call_rules import first_call_roles
from turnspec.codegen.element_rules import element_key, element_lead
from turnspec.codegen.markers import leading_text, parted
from turnspec.codegen.marks import Marks
from turnspec.codegen.notation import as_filled, notation, plain
from turnspec.codegen.object_rules import first_signs
from turnspec.codegen.rules import TABLES, Row, Slots, tables_of
from turnspec.codegen.shapes import looks_like_marker
from turnspec.codegen.text_marks import marks_of
from turnspec.spec.calls import Arguments, Elements, Literal, Slot
from turnspec.spec.characters import NOT_IN_NAMES
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, ReasoningMode, SlotKind

#: Roles of heads of calls, with arguments after them.
HEADS = ("call", "other_call", "short_call", "untagged_call", "next_call")
#: Roles of what begins a call in another syntax.
OTHER_SYNTAX = ("foreign", "foreign_name")
#: Roles of what begins reasoning or content.
OF_PARTS = ("reasoning_start", "between", "content_start")


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """What a module is compiled with: constants, texts and slots by name, and tables of rules."""

    format: Mapping[str, str]
    turn_ends: tuple[str, ...]
    slots: Mapping[str, list[str]]
    data: Mapping[str, object]
    markers: Mapping[str, str | tuple[str, ...]]  # those that the engine asks for by themselves
    tables: Mapping[str, tuple[Row, ...]]
    unused: frozenset[str]  # tables that no format of this kind has
    style: Mapping[str, object]  # of values in a relative of JSON
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a marker that the engine asks for by itself; nothing if there is none."""
        return str(self.markers.get(name, ""))

    def rows(self, role: str) -> list[Row]:
        """Return the rules that have a role, of all tables."""
        return [row for rows in self.tables.values() for row in rows if row.role == role]


def facts_of(spec: Spec) -> FormatFacts:
    """Return the facts of a format."""
    marks, slots = marks_of(spec), Slots()
    found = tables_of(marks, slots)
    tables = {**dict.fromkeys(TABLES, ()), **found}
    markers = _markers(marks, slots)
    texts = _format(spec, marks.spec.turn.header)
    calls = _call_values(marks)
    ids = ("ID_KEY", "ID_AROUND_NAME", "NAME_STANDS_IN_ID")
    return FormatFacts(
        format=texts,
        turn_ends=tuple(map(slots.text, marks.text.turn_end)),
        slots=slots.found,
        data=_data(marks),
        markers={name: text for name, text in markers.items() if text},
        tables=tables,
        unused=frozenset(TABLES.keys() - found.keys()),
        style=_style(marks),
        values={
            **{name: text for name, text in markers.items() if not text},
            **_text_values(marks),
            **calls,
            **_row_values(marks, tables),
            "PROMPTS_ADD_TEXT": len({it for name, it in texts.items() if name != "name"}) > 1,
            "HAS_IDS": "<id>" in repr(slots.found) or any(map(calls.get, ids)),
            "HAS_SLOTS": bool(slots.found),
            "NAMES_ARE_REPEATED": "<name_again>" in repr(slots.found),
            "NAMES_HAVE_SIGNS": "{is} {name" in markers["CALL_HEAD"],
        },
    )


def unmarked_reasoning(spec: Spec) -> str:
    """Return why no parser can tell where reasoning begins or ends; "" if one can.

    What opens it may be so little, as one sign is, that any text could hold it; or what closes it.
    """
    start = spec.reasoning.start
    if not start.strip() or marks_of(spec).text.reasoning_start:
        return ""
    return f"{start!r} could stand in any text; parsers can't tell by it where reasoning begins"


def roles_in(facts: FormatFacts) -> set[str]:
    """Return the roles that any rule has."""
    return {row.role for rows in facts.tables.values() for row in rows}


# Constants: see `turnspec.engine.facts`.


def _format(spec: Spec, header: str) -> dict[str, str]:
    thinking, default = spec.thinking, spec.turn.header
    prompt = thinking.default.prompt or default
    others = {
        "prompt_with_thinking": thinking.enabled.prompt or default,
        "prompt_without_thinking": thinking.disabled.prompt or default,
    }
    own = {name: text for name, text in others.items() if text not in ("", prompt)}
    return {"name": spec.name, "header": header, "prompt": prompt, **own}


def _text_values(marks: Marks) -> dict[str, object]:
    """Return the constants of reasoning and content."""
    spec, text = marks.spec, marks.text
    reasoning, ends = spec.reasoning, text.reasoning_end
    reasons = reasoning.mode is not ReasoningMode.NONE
    is_open = reasoning.mode is ReasoningMode.DELIMITER and not reasoning.start.strip()
    has_end = bool(ends) and ends != (notation(spec.content.start),)  # with which content begins
    is_first = reasons and (reasoning.field is None or spec.turn.order[0] is Part.REASONING)
    return {
        "IS_TRACED": False,
        "HAS_SPECIAL_TOKENS": True,
        "HAS_REASONING": bool(text.reasoning_start or ends or is_open or marks.may_stay_open),
        "REASONING_HAS_START": bool(text.reasoning_start),
        "REASONING_HAS_END": has_end,
        "STARTS_IN_REASONING": is_open,
        "REASONING_MAY_STAY_OPEN": marks.may_stay_open,
        "REASONING_MAY_END_TURN": marks.may_stay_open and not spec.final(Part.REASONING).strip(),
        "REASONING_ENDS_AS_IT_BEGINS": reasons and reasoning.start.strip() == reasoning.end.strip(),
        "REASONING_END_ENDS_TURN": not {*ends}.isdisjoint(text.turn_end),
        "REASONING_END_ENDS_CONTENT": not {*ends}.isdisjoint(text.content_end),
        "REASONING_IS_FIRST": is_first,
        "HAS_CALLS": spec.tools is not None,
        "HAS_DRAFTS": _has_drafts(marks),
        "HAS_MENTIONS": bool(marks.calls.mentions),
        "ARE_CALLS_ADDRESSED": bool(text.headers),
    }


def _has_drafts(marks: Marks) -> bool:
    """Tell whether calls in open reasoning may be drafts."""
    is_closed = bool(marks.text.reasoning_end) and not marks.may_stay_open
    return marks.spec.tools is not None and is_closed


def _row_values(marks: Marks, tables: Mapping[str, tuple[Row, ...]]) -> dict[str, object]:
    """Return what markers and their roles have, of all that they can."""
    rows = [row for table in tables.values() for row in table]
    has_other_syntax = any(row.role in OTHER_SYNTAX for row in rows)
    in_text = {row.role for row in tables["IN_TEXT"]}
    has_end = bool(marks.text.reasoning_end or marks.text.between) and not marks.may_stay_open
    are_drafts = _has_drafts(marks) and in_text.isdisjoint({"object", "code"})
    is_left_open = _text_values(marks)["HAS_REASONING"] and has_end and not are_drafts
    return {
        "HAS_OPTIONAL_TEXTS": "{?" in repr(rows),
        "PARTS_HAVE_OPTIONAL_TEXTS": any("{?" in x.marker for x in rows if x.role in OF_PARTS),
        "HAS_FOLLOWERS": any(row.if_before for row in rows),
        "HAS_SEAMS": in_text != {"turn_end"},
        "CALLS_BEGIN_IN_REASONING": is_left_open,
        "ARGUMENTS_MAY_BE_TEXT": any(row.role in HEADS and not row.if_before for row in rows),
        "ARE_LISTED": "listed" in in_text,
        "READS_TAGS": has_other_syntax and marks.arguments.form == "json",
        "MAY_READ_AGAIN": has_other_syntax or marks.are_objects or _has_drafts(marks),
        "CODE_MAY_BE_OBJECT": any(row.role == "object" for row in tables["AT_CODE_START"]),
    }


def _data(marks: Marks) -> dict[str, object]:
    """Return the constants that are an expression, sets of words, or words by others."""
    arguments = marks.tools.arguments if marks.arguments.form == "text" else Arguments()
    types: dict[str, list[str]] = {}
    for json_type, word in arguments.types.items():
        types.setdefault(word, []).append(json_type.value)
    marked = (*marks.text.reasoning_start, *marks.text.reasoning_end)
    reasons = [plain(it.partition("{no ")[0]) for it in marked]
    words = (it for it in reasons if not looks_like_marker(it) or reasons.count(it) > 1)
    escapes = (*arguments.escapes.items(), *arguments.value_escapes.items())
    return {
        "NAME": f"(?P<name>[^{NOT_IN_NAMES}]{{1,256}})" if marks.spec.tools else "",
        "AROUND_NAME": _around_name(marks) if marks.calls.start else "",
        "WORDS": words_of(marks),
        "UNWRITTEN": tuple(map(plain, marks.text.unwritten)),
        "REASONING_WORDS": tuple(dict.fromkeys("".join(it.split()) for it in words)),
        "TYPE_WORDS": types,
        "ENTITIES": {text: sign for sign, text in escapes},
    }


def words_of(marks: Marks) -> tuple[str, ...]:
    """Return the words in a format's markers, if it has such that may hold any word."""
    text, calls = marks.text, asdict(marks.calls)
    own = (text.reasoning_start, text.reasoning_end, text.content_start, text.content_end)
    heads = (calls["start"], calls["tail"])
    found = (*own, text.leads, heads, *(it for it in calls.values() if isinstance(it, tuple)))
    written = "\n".join(it for markers in found for it in markers)
    outside_slots = re.sub(r"\{(?!\?)[^{}]*\}", " ", written)
    words = {*re.findall(r"[\w-]+", outside_slots)} if "{word" in written else set()
    return tuple(sorted(words))


def _markers(marks: Marks, slots: Slots) -> dict[str, str | tuple[str, ...]]:
    """Return the markers that the engine asks for by themselves."""
    calls, ends = marks.calls, marks.text.reasoning_end
    end = next(iter(ends), "")
    signs = "".join(end.split())
    others = (*calls.other_starts, *calls.short_starts)
    return {
        "REASONING_END": signs if signs in marks.spec.reasoning.end else plain(end),
        "REASONING_END_SIGNS": signs,
        "CALL_HEAD": slots.text(calls.start),
        "OTHER_HEADS": tuple(map(slots.text, others)),
        "OPENING": next(iter(calls.opening), ""),
        "OPENINGS": tuple(map(slots.text, calls.opening)) if calls.start else (),
        "FIRST_CALL_END": next(iter(calls.closing), ""),
        "LATER_CALL_END": " ".join(calls.closing[1:]),
    }


def _call_values(marks: Marks) -> dict[str, object]:
    """Return the constants of calls."""
    spec, calls, arguments, style = marks.spec, marks.calls, marks.arguments, marks.arguments.style
    found: dict[str, object] = {
        "CALLS_ARE_OBJECTS": marks.are_objects,
        "IS_BARE": marks.are_bare,
        "HAS_CODE": marks.code is not None,
        "HAS_ELEMENTS": marks.has_elements,
        "HAS_OTHER_VALUES": style is not None,
        "HAS_RAW_STRINGS": bool(arguments.quote),
        "HAS_JSON_STRINGS": not style or not style.has_python_escapes,
        "HAS_PYTHON_VALUES": style is not None and style.has_python_escapes,
    }
    if spec.tools is None:
        return found
    order = spec.turn.order
    has_late_id = any("{id}" in text for text in (calls.tail, *calls.closing[:1]))
    is_text = arguments.form == "text"
    return {
        **found,
        "CALLS_BEGIN_WITH_NAME": calls.begin_with_name,
        "FIRST_CALL_IS_NAME": any(
            parted(it)[0].startswith(" {name") for _, it in first_call_roles(marks)
        ),
        "CONTENT_IS_LAST": Part.CONTENT in order[order.index(Part.CALLS) :],
        "HAS_LATE_IDS": has_late_id or "id" in own_keys(spec.tools),
        "ENTITIES_ARE_OF_STRINGS": spec.tools.arguments.escapes_only_strings,
        "HAS_PYTHON_LITERALS": not is_text or has_python_words(spec.tools.arguments),
        **_head_values(marks),
        **_object_values(marks),
        **_element_values(marks),
        "CODE_TOOL": marks.code.name if marks.code else "",
        "CODE_ARGUMENT": marks.code.argument if marks.code else "",
    }


def _head_values(marks: Marks) -> dict[str, object]:
    calls, arguments = marks.calls, marks.arguments
    in_section, has_end = calls.only_in_section, bool(arguments.end)
    has_words = any(map(str.isalnum, leading_text(arguments.start)))
    return {
        "ARGUMENTS": arguments.form,
        "ARGUMENTS_IN_STRING": marks.tools.arguments.syntax.in_string,
        "NEEDS_OPENING": calls.is_doubtful
        or bool(calls.start and calls.opening and not in_section),
        "NAME_STANDS_IN_ID": bool(calls.start) and marks.spec.names_by_id,
        "ID_AROUND_NAME": as_filled(marks.tools.id_parts),
        "ONLY_IN_SECTION": in_section,
        "HAS_SECTIONS": bool(in_section or calls.opening),
        "ARGUMENT_HAS_END": has_end,
        "CLOSED_BY_KEY": "{key}" in arguments.end,
        "ARGUMENT_SIGNS": _signs_of(arguments.end.strip()),
        "HAS_KNOWN_ENDS": has_end and not arguments.are_keyed,
        "ARGUMENTS_ARE_KEYED": arguments.are_keyed,
        "ARGUMENT_SHOWS_ITSELF": arguments.are_keyed or has_words or not has_end,
        "ARGUMENTS_MARK": _mark_before_arguments(marks),
        "COMMA_SEPARATES": sign_between(marks.tools) == ",",
        "SEPARATOR": sign_between(marks.tools) * (not in_section),
        "NAME_IS_LAST": bool(calls.start) and "{name" not in calls.start,
        "CALL_HAS_END": bool(calls.closing),
        "ENDS_AS_JSON_BEGINS": not calls.closing or calls.closing[0].lstrip()[:1] in ("[", "{"),
        "ENDS_AS_JSON_GOES_ON": any(
            it.lstrip()[:1] in (":", ",", '"') for it in (*calls.closing[:1], calls.tail) if it
        ),
        "MAY_LACK_ARGUMENTS": bool(marks.tools.empty_call),
    }


def _mark_before_arguments(marks: Marks) -> str:
    """Return how a call's arguments begin, where nothing else tells of a call that is none.

    Where a call is for who is addressed, one that is quoted is text.
    """
    if marks.are_objects:
        key = own_keys(marks.tools).get("arguments", "arguments")
        return f'"{key}"[ \t\n\r]*:[ \t\n\r]*[{{]'
    before = "".join(it.text if isinstance(it, Literal) else "\0" for it in marks.tools.call)
    mark = before.removesuffix("\0").rpartition("\0")[2].strip()
    is_open = not (marks.calls.closing or marks.text.headers)
    is_one = marks.arguments.form == "json" and is_open and looks_like_marker(mark)
    return f"{re.escape(mark)}[ \t\n\r]*[{{]" if is_one else ""


def _signs_of(mark: str) -> str:
    """Return the signs one of which a mark has left that is misspelt, or lacks a special token."""
    angles = re.sub("[^<>]", "", mark)  # which values have less often than other signs
    return "".join(dict.fromkeys(angles or mark[:1] + mark[-1:]))


def _around_name(marks: Marks) -> str:
    """Return how a name may have more around it: the head's own words and numbers, itself; an id.

    Clients write ids anew, and models go by the ids in their prompts: `functions_NAME_1` is what
    becomes of `functions.NAME:1`.
    """
    if marks.spec.names_by_id:
        # With no more than one word behind it, or in the name space that APIs have for functions.
        return r"[\s\S]*(?<!\w)NAME(?!\w)\W*\w*|functions?[\W_]*NAME[\W_]*[0-9]*"
    prefix = re.search(r"\{\?([^{}]*)\} ?\{name", marks.calls.start)
    if not (prefix or marks.text.headers):
        return ""
    own = re.findall(r"[^\W\d_]+", prefix[1]) if prefix else []
    # Before the name may stand that of its name space, unless it is a header's own.
    spaces = [] if marks.text.headers else [r"[\w:.]*[:.]"]
    words = "|".join([*own, "NAME", *spaces])
    number = r"[\W_]*[0-9]*" if "{index}" in marks.calls.start else ""
    return rf"(?:{words})?[\W_]*NAME{number}"


def _object_values(marks: Marks) -> dict[str, object]:
    tools = marks.tools
    keys = own_keys(tools)
    return {
        "IS_IN_ARRAY": marks.are_objects and tools.section_start.rstrip().endswith("["),
        "OBJECTS_NEED_MEMBERS": marks.are_objects and "{" in first_signs(marks),
        "NAME_IS_KEY": marks.are_objects and not keys,
        "NAME_KEY": keys.get("name", "name"),
        "ARGUMENTS_KEY": keys.get("arguments", "arguments"),
        "ID_KEY": keys.get("id", ""),
        "ARGUMENTS_COME_FIRST": next(iter(keys), "") == "arguments",
        "OTHER_MEMBERS": other_keys(tools),
        "OTHER_MEMBER_VALUES": other_values(tools),
    }


def _closing(pieces: Pieces) -> str:
    """Return what stands behind a value, without white space around it."""
    return "".join(it.text or "\0" for it in around_value(pieces)[1]).strip()


def _element_values(marks: Marks) -> dict[str, object]:
    has, elements = marks.has_elements, marks.tools.arguments.elements or Elements((), ())
    item = marks.tools.arguments.item
    is_keyed = has and Slot(SlotKind.KEY) in around_value(elements.member)[1]
    firsts = [pieces[0].text for pieces in (elements.member, elements.element) if has]
    return {
        "ELEMENT_KEY": element_key(elements) if has else "",
        "ELEMENT_SEPARATOR": elements.separator.strip(),
        "ELEMENTS_ARE_KEYED": is_keyed,
        "MEMBERS_END_AS_ARGUMENTS": has and _closing(item).startswith(_closing(elements.member)),
        "ELEMENTS_ARE_DISTINCT": has and all(map(looks_like_marker, firsts)),
        "HAS_ELEMENT_LEAD": has and element_lead(marks) is not None,
    }


def _style(marks: Marks) -> Mapping[str, object]:
    """Return how values are written in a relative of JSON."""
    style = marks.arguments.style
    return {**asdict(style), "after_string": signs_behind_string(marks)} if style else {}
