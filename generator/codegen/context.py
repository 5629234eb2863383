"""Plan -> the values that the code templates of a Python module are filled with."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from generator.codegen.call_plan import CallPlan
from generator.codegen.marker_plan import Marker, first_characters
from generator.codegen.plan import ModulePlan, ReasoningPlan
from generator.codegen.source import long_string, marker_set, raw, shown, used_constants
from generator.codegen.value_expressions import value_expressions

_EXPRESSIONS = {
    "_KEY_TEXT": r'(?P<key>(?:[^"\\]|\\.|\\\Z){0,256})',
}
#: Marker sets that are looked for, not only expected.
_SEARCHED = ("_TEXT", "_VALUE", "_GUARDED_VALUE", "_QUOTED_END", "_PARAMETERS")
_COMMENTS = {
    "_NEWLINE": "one is not part of the value",
    "_NEVER": "such a marker ends a value only at the end of the text",
}


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """What ``module.jinja`` and the templates it includes refer to."""

    title: str
    reasoning: bool
    starts_in_reasoning: bool
    unthink_ends_turn: bool
    closes_content: bool
    reasoning_first: bool
    reasoning_end: str
    two_prompts: bool
    constants: tuple[str, ...]
    expressions: tuple[str, ...]
    functions: tuple[str, ...]
    text_roles: tuple[str, ...]
    ends: bool
    quotes_reasoning: bool
    several_starts: bool
    inline_if: str  # whether a marker stays in the content where reasoning does
    inline_text: str
    branches: tuple[tuple[str, tuple[str, ...]], ...]
    first_state: str
    openings: bool
    ahead: bool
    text_doc: str
    end_doc: str
    shown_header: str
    tools_use: str
    # Calls; empty or false in a format without tools.
    calls: str
    late_id: bool
    closers: tuple[str, ...]
    mentions_close: bool
    content_last: bool
    in_array: bool
    wrapped_object: bool
    arguments_first: bool
    loose: tuple[tuple[str, str], ...]  # groups of a call's head that may be missing
    name_again: bool
    wraps: bool
    tracks_wrap: bool
    wrap_text: str
    bare: bool
    in_section: bool
    structured: bool
    collects: bool
    name_is_key: bool
    type_words: bool
    python_values: bool
    dialect: str
    unescaped_strings: bool
    escapes_if: str  # where strings have escapes that elsewhere have none
    uses_schemas: bool
    value_tail: bool
    broken: bool
    guarded: bool
    key_closes: bool
    closes: bool
    tail: bool
    name_last: bool
    head_slots: frozenset[str]
    tail_slots: frozenset[str]
    after_call: str
    arguments_doc: str
    value_doc: str
    guard_doc: str
    objects_doc: str
    member_doc: str
    section_doc: str
    tail_doc: str
    tail_missing: str


def module_context(plan: ModulePlan) -> ModuleContext:
    """Return what the code templates are filled with."""
    calls = plan.calls
    reasoning = plan.reasoning
    roles = tuple(marker.role for marker in plan.text)
    sets = {"_TEXT": plan.text, **(calls.sets if calls else {})}
    parameter_roles = {marker.role for marker in sets.get("_PARAMETERS", ())}
    late_id = calls is not None and bool(calls.keys.get("_ID_KEYS") or "id" in calls.tail_slots)
    raw_values = calls is not None and calls.kind == "tagged" and not calls.structured
    uses_schemas = raw_values and calls is not None and not calls.type_words
    return ModuleContext(
        title=f"Parser for turns in the format of {shown(plan.name)}.",
        reasoning=reasoning is not None,
        starts_in_reasoning=reasoning is not None and reasoning.starts_open,
        unthink_ends_turn=reasoning is not None and reasoning.end_ends_turn,
        closes_content=reasoning is not None and reasoning.end_closes_content,
        reasoning_first=reasoning is not None and reasoning.comes_first,
        reasoning_end=repr(reasoning.end) if reasoning else "",
        two_prompts=plan.prompt_on != plan.prompt_off,
        constants=_constants(plan),
        expressions=_expressions(plan, sets),
        functions=_functions(calls, uses_schemas, raw_values),
        text_roles=roles,
        ends=bool(_ends(plan)),
        quotes_reasoning=_quotes_reasoning(roles, reasoning),
        several_starts=any(len(first_characters(sets.get(name, ()))) > 1 for name in _SEARCHED),
        inline_if=_inline_if(roles),
        inline_text=_inline_text(roles, reasoning),
        branches=_branches(roles, reasoning, calls),
        first_state=_first_state(plan),
        openings=bool(plan.openings),
        ahead=calls is not None,
        text_doc=_text_doc(plan),
        end_doc=_docstring(
            "Take what stands behind the turn's end.",
            f"After {_alternatives(plan.text, 'end') or 'the end'} nothing is content.",
        ),
        shown_header=shown(plan.header),
        tools_use=_tools_use(calls, uses_schemas),
        calls=calls.kind if calls else "",
        late_id=late_id,
        closers=tuple(role for role in ("close", "unwrap") if role in roles),
        mentions_close="mention" in roles and bool({"close", "unwrap"} & set(roles)),
        content_last=plan.content_last,
        in_array=bool(calls and calls.in_array),
        wrapped_object=bool(calls and calls.wrapped_object),
        loose=_loose(calls),
        name_again=bool(calls and "_NAME_AGAIN" in calls.expressions),
        arguments_first=bool(calls and calls.arguments_first),
        wraps=bool(calls and calls.wrap),
        tracks_wrap=bool(calls and calls.kind != "native" and {"wrap", "unwrap"} & set(roles)),
        wrap_text=shown(calls.wrap).replace('"', "'") if calls else "",
        bare=bool(calls and calls.bare),
        in_section=bool(calls and calls.in_section),
        structured=bool(calls and calls.structured),
        collects=bool(calls and calls.kind != "tagged"),
        name_is_key=bool(calls and calls.name_is_key),
        type_words=bool(calls and calls.type_words),
        python_values=bool(calls and calls.python_values),
        dialect=calls.dialect if calls else "",
        unescaped_strings=bool(calls and (calls.dialect == "quoted" or calls.quoted_strings)),
        escapes_if=_escapes_if(calls),
        guarded=bool(calls and calls.guarded),
        key_closes=bool(calls and calls.key_closes),
        closes=bool(calls and calls.structured) and "close" in parameter_roles,
        uses_schemas=uses_schemas,
        value_tail=raw_values and any(marker.role == "tail" for marker in sets["_VALUE"]),
        broken="broken" in parameter_roles,
        tail="_TAIL" in sets,
        name_last=bool(calls and calls.kind == "json" and "name" in calls.tail_slots),
        head_slots=calls.head_slots if calls else frozenset(),
        tail_slots=calls.tail_slots if calls else frozenset(),
        after_call=_after_call(calls),
        **_state_docs(calls),
    )


#: What to do at a marker: the template ``role_….jinja`` for each role; the others only end text.
_BRANCHES = {
    "think": "think",
    "unthink": "unthink",
    "boundary": "boundary",
    "opening": "boundary",
    "wrap": "wrap",
    "call": "call",
    "close": "close",
    "again": "again",
    "header": "again",
    "unwrap": "unwrap",
    "end": "end",
}


def _branches(
    roles: tuple[str, ...], reasoning: ReasoningPlan | None, calls: CallPlan | None
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the templates for what is done at markers, each with its roles."""
    skipped = {"boundary"} if reasoning is None else set()
    if calls and calls.kind == "native":  # which reads on at such a marker
        skipped.add("wrap")
    never_stray = reasoning is not None and (
        reasoning.end_closes_content and not reasoning.starts_open and not reasoning.end_ends_turn
    )
    merged = {"unthink": "boundary"} if never_stray else {}
    found: dict[str, tuple[str, ...]] = {}
    for role, usual in _BRANCHES.items():
        branch = merged.get(role, usual)
        if role in roles and branch not in skipped:
            found[branch] = (*found.get(branch, ()), role)
    return tuple(found.items())


def _first_state(plan: ModulePlan) -> str:
    calls = plan.calls
    if calls is None or (plan.reasoning and plan.reasoning.starts_open):
        return "text"
    return "objects" if calls.bare else "text"


def _after_call(calls: CallPlan | None) -> str:
    if calls is None:
        return ""
    if calls.kind == "native":
        return "objects"
    return "section" if calls.in_section else "text"


def _constants(plan: ModulePlan) -> tuple[str, ...]:
    def prompt(text: str) -> str:
        rest = text.removeprefix(plan.header)
        if rest == text:
            return long_string(text)
        return f"HEADER + {long_string(rest)}" if rest else "HEADER"

    lines = [f"HEADER = {long_string(plan.header)}  # of an assistant's turn"]
    lines.append(f"PROMPT = {prompt(plan.prompt_on)}  # what the prompt holds of the turn")
    if plan.prompt_on != plan.prompt_off:
        lines.append(f"PROMPT_WITHOUT_THINKING = {prompt(plan.prompt_off)}")
    calls = plan.calls
    if calls and calls.kind == "native" and not calls.name_is_key:
        for constant, keys in calls.keys.items():
            if keys or constant != "_ID_KEYS":
                lines.append(f"{constant} = {_set(keys)}")
    if calls and calls.type_words:
        words = ", ".join(f"{word!r}: {_set(types)}" for word, types in calls.type_words.items())
        lines.append(f"_TYPES = {{{words}}}")
    if calls and calls.kind == "tagged" and not calls.structured:
        lines.append(_TYPE_NAMES)
    return tuple(lines)


_TYPE_NAMES = """_TYPE_NAMES = {
    str: {"string"}, int: {"integer", "number"}, float: {"number"}, bool: {"boolean"},
    list: {"array"}, dict: {"object"}, type(None): {"null"},
}"""


def _set(values: tuple[str, ...]) -> str:
    return "{" + ", ".join(map(repr, values)) + "}" if values else "frozenset[str]()"


def _expressions(plan: ModulePlan, sets: dict[str, tuple[Marker, ...]]) -> tuple[str, ...]:
    calls = plan.calls
    used = {constant for markers in sets.values() for constant in used_constants(markers)}
    known = {**_EXPRESSIONS, **(calls.expressions if calls else {})}
    lines = []
    for constant, expression in known.items():
        json_key = calls and calls.structured and calls.dialect == "json"
        if constant in used or (json_key and constant == "_KEY_TEXT"):
            comment = f"  # {_COMMENTS[constant]}" if constant in _COMMENTS else ""
            lines.append(f"{constant} = re.compile({raw(expression)}){comment}")
    for constant, markers in sets.items():
        searched = constant in _SEARCHED and not (
            constant == "_PARAMETERS" and calls and calls.structured
        )
        lines.append(marker_set(constant, markers, searched=searched))
    if plan.openings:
        opening = "|".join(r"\s*".join(map(re.escape, text.split())) for text in plan.openings)
        lines.append(f"_OPENING = re.compile({raw(opening)})  # one without the rest is no content")
    if ends := _ends(plan):
        lines.append(f"_ENDS = re.compile({raw(ends)})  # more ends behind the first")
    if calls and calls.structured:
        lines += value_expressions(calls)
    return tuple(lines)


def _loose(calls: CallPlan | None) -> tuple[tuple[str, str], ...]:
    known = calls.expressions if calls else {}
    texts = {"prefix": "the prefix of a name", "index": "the index of a call"}
    return tuple(
        (group, text)
        for group, text in texts.items()
        if f"?P<{group}>" in known.get(f"_{group.upper()}", "")
    )


def _quotes_reasoning(roles: tuple[str, ...], reasoning: ReasoningPlan | None) -> bool:
    """Tell whether content can speak of the markers of reasoning: they mean nothing there."""
    if reasoning is None or not {"think", "unthink"} <= set(roles):
        return False
    return not (reasoning.end_ends_turn or reasoning.end_closes_content)


def _inline_if(roles: tuple[str, ...]) -> str:
    closing = [role for role in ("unthink", "boundary") if role in roles]
    closes = (
        f"match.lastgroup in {tuple(closing)}" if closing[1:] else 'match.lastgroup == "unthink"'
    )
    closes = f"(self._thinking and {closes})"
    return f'(match.lastgroup == "think" or {closes})' if "think" in roles else closes


def _inline_text(roles: tuple[str, ...], reasoning: ReasoningPlan | None) -> str:
    if reasoning is None or "boundary" not in roles:
        return "match.group()"
    return f'({reasoning.end!r} if match.lastgroup == "boundary" else match.group())'


def _ends(plan: ModulePlan) -> str:
    """Return an expression for any number of ends of the turn, from the text's beginning."""
    found = [
        r"\s*".join(re.escape(piece) for piece in pieces if isinstance(piece, str))
        for marker in plan.text
        if marker.role == "end"
        for pieces in marker.alternatives
    ]
    return rf"\A(?:\s|{'|'.join(found)})+" if found else ""


def _escapes_if(calls: CallPlan | None) -> str:
    """Return the condition under which a string has escapes; "" if all or none have."""
    if calls is None:
        return ""
    if calls.quoted_strings:
        return f"self._closers or self._quote != {calls.quote!r}"
    return "self._quote == '\"'" if calls.dialect == "quoted" and calls.quote != '"' else ""


def _functions(calls: CallPlan | None, uses_schemas: bool, raw_values: bool) -> tuple[str, ...]:
    if calls is None:
        return ()
    found = ["properties_by_name" if calls.kind == "tagged" else "names", "flaw"]
    if calls.kind == "native" and not calls.name_is_key:
        found.append("as_string")
    if calls.kind != "tagged":
        found += ["as_object", "deviation"]
    if uses_schemas:
        found.append("json_types")
    if raw_values:
        found.append("to_json")
    if calls.structured and calls.dialect == "python":
        found.append("unescaped")
    return tuple(found)


def _tools_use(calls: CallPlan | None, uses_schemas: bool) -> str:
    if calls is None:
        return ""
    if calls.bare:
        return "calls from other JSON"
    return "the types of arguments" if uses_schemas else "which names are known"


def _alternatives(markers: tuple[Marker, ...], *roles: str) -> str:
    found = [
        f"``{shown(' '.join(piece for piece in pieces if isinstance(piece, str)))}``"
        for marker in markers
        if marker.role in roles
        for pieces in marker.alternatives
    ]
    return " or ".join(list(dict.fromkeys(found))[:3])


#: The width of docstrings, and the first lines of those that need more than one.
_DOC_WIDTH = 76
_SUMMARIES = {
    "arguments_doc": "Read the arguments.",
    "value_doc": "Read a value.",
    "guard_doc": "Read what is before a value.",
    "objects_doc": "Read calls.",
    "member_doc": "Read a member of a call.",
    "section_doc": "Read the calls of a section.",
    "tail_doc": "Read what closes a call.",
}


def _text_doc(plan: ModulePlan) -> str:
    ends = _alternatives(plan.text, "end")
    parts = []
    if plan.reasoning:
        start = _alternatives(plan.text, "think") or "the turn's beginning"
        parts.append(f"Reasoning: from {start} to {_alternatives(plan.text, 'unthink')}.")
    wrapped = _alternatives(plan.text, "opening")
    content = f"Content: {'after ' + wrapped if wrapped else 'all other text'}"
    parts.append(f"{content}{', to ' + ends if ends else ''}.")
    return _docstring("Read reasoning and content.", *parts)


def _docstring(summary: str, *paragraphs: str) -> str:
    """Return the inside of a method's docstring: the paragraph alone if it fits in its line.

    Lines are narrower than they may be, as some characters are wide.
    """
    if len(paragraphs) == 1 and len(paragraphs[0]) <= _DOC_WIDTH:
        return paragraphs[0]
    indent = " " * 8
    wrapped = [
        textwrap.fill(text, _DOC_WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        for text in (summary, *paragraphs)
    ]
    return f"\n\n{indent}".join(wrapped) + f"\n{indent}"


def _state_docs(calls: CallPlan | None) -> dict[str, str]:
    sets = calls.sets if calls else {}

    def quoted(constant: str, *roles: str) -> str:
        return _alternatives(sets.get(constant, ()), *roles)

    parameter = quoted("_PARAMETERS", "parameter")
    docs = {
        "arguments_doc": (
            f"Arguments: {parameter} for each." if parameter else "Arguments: a JSON object."
        ),
        "value_doc": f"A value: raw text up to {quoted('_VALUE', 'close')}.",
        "guard_doc": f"A value that begins with {quoted('_GUARD', 'guard')} is a string.",
        "objects_doc": "Calls: JSON objects, alone or in an array.",
        "member_doc": "A call object's members, in any order; others are left out.",
        "section_doc": "Calls in a row.",
        "tail_doc": f"After the arguments: {quoted('_TAIL', 'tail')}.",
    }
    found = {name: _docstring(_SUMMARIES[name], text) for name, text in docs.items()}
    return found | {"tail_missing": repr(f"no {quoted('_TAIL', 'tail')} after the arguments")}
