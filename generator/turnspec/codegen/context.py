"""Plan -> the values that the code templates of a Python module are filled with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from turnspec.codegen.call_plan import CallPlan
from turnspec.codegen.constants import (
    SEARCHED,
    end_expression,
    marker_constants,
    prompt_constants,
)
from turnspec.codegen.docstrings import alternatives, docstring, state_docstrings, text_docstring
from turnspec.codegen.element_plan import ElementPlan
from turnspec.codegen.marker_plan import Expression, Follows, Marker, first_characters, literal
from turnspec.codegen.plan import ModulePlan, ReasoningPlan
from turnspec.codegen.source import shown
from turnspec.spec.model import CodeCall


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """What ``module.jinja`` and the templates it includes refer to."""

    title: str
    reasoning: bool
    starts_in_reasoning: bool
    unthink_ends_turn: bool
    closes_content: bool
    reasoning_first: bool
    reasoning_may_stay_open: bool
    reasoning_may_end_turn: bool
    reasoning_end: str
    reasoning_unmarked: bool  # nothing ends it but what comes next
    two_prompts: bool
    public: tuple[str, ...]
    constants: tuple[str, ...]
    expressions: tuple[str, ...]
    functions: tuple[str, ...]
    text_roles: tuple[str, ...]
    ends: bool
    look_alikes: bool  # whether some marker can be part of the text
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
    match_name: str  # the name in a match of a call's beginning
    match_id: str
    other_heads: bool  # whether a call may begin in several ways
    code: CodeCall | None
    code_name: str
    code_opening: str  # of its arguments
    code_starts: frozenset[str]
    wraps: bool
    tracks_wrap: bool
    wrap_text: str
    bare: bool
    announces: bool  # whether a marker may stand before calls that need none
    in_section: bool
    structured: bool
    open_ended: bool  # nothing closes a call's arguments
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
    elements: ElementPlan | None
    is_element: str  # whether a match is an array's element
    opening_name: str  # of what an element's tags say
    closing_name: str
    is_opening: str
    is_not_opening: str
    next_argument: bool
    separator: str
    separator_text: str
    closes: bool
    tail: bool
    name_last: bool
    head_slots: frozenset[str]
    tail_slots: frozenset[str]
    after_call: str
    arguments_doc: str
    value_doc: str
    guard_doc: str
    opening_doc: str
    element_doc: str
    objects_doc: str
    member_doc: str
    section_doc: str
    tail_doc: str
    tail_missing: str
    name_groups: str
    code_doc: str


def module_context(plan: ModulePlan) -> ModuleContext:
    """Return what the code templates are filled with."""
    calls = plan.calls
    reasoning = plan.reasoning
    roles = tuple(marker.role for marker in plan.text)
    sets = {"_TEXT": plan.text, **(calls.sets if calls else {})}
    parameter_roles = {marker.role for marker in sets.get("_PARAMETERS", ())}
    late_id = calls is not None and bool(calls.keys.get("_ID_KEYS") or "id" in calls.tail_slots)
    raw_values = calls is not None and calls.kind == "tagged" and not calls.structured
    elements = calls.elements if calls else None
    uses_schemas = raw_values and calls is not None and not calls.type_words
    return ModuleContext(
        title=f"Parser for turns in the format of {shown(plan.name)}.",
        reasoning=reasoning is not None,
        starts_in_reasoning=reasoning is not None and reasoning.starts_open,
        unthink_ends_turn=reasoning is not None and reasoning.end_ends_turn,
        closes_content=reasoning is not None and reasoning.end_closes_content,
        reasoning_first=reasoning is not None and reasoning.comes_first,
        reasoning_may_stay_open=reasoning is not None and reasoning.may_stay_open,
        reasoning_may_end_turn=reasoning is not None and reasoning.may_end_turn,
        reasoning_end=repr(reasoning.end) if reasoning else "",
        reasoning_unmarked=reasoning is not None and not {"unthink", "boundary"} & set(roles),
        two_prompts=plan.prompt_on != plan.prompt_off,
        public=_public_names(plan),
        constants=prompt_constants(plan),
        expressions=marker_constants(plan, sets),
        functions=_functions(calls, uses_schemas, raw_values),
        text_roles=roles,
        ends=bool(end_expression(plan)),
        look_alikes="mention" in roles
        or _quotes_reasoning(roles, reasoning)
        or bool(calls and calls.wrap and "call" in roles),
        quotes_reasoning=_quotes_reasoning(roles, reasoning),
        several_starts=any(len(first_characters(sets.get(name, ()))) > 1 for name in SEARCHED),
        inline_if=_inline_if(roles),
        inline_text=_inline_text(roles, reasoning),
        branches=_branches(roles, reasoning, calls),
        first_state=_first_state(plan),
        openings=bool(plan.openings),
        ahead=calls is not None or _looks_ahead(plan),
        text_doc=text_docstring(plan),
        end_doc=docstring(
            "Take what stands behind the turn's end.",
            f"After {alternatives(plan.text, 'end') or 'the end'} nothing is content.",
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
        match_name="_name(match)" if _other_heads(calls) else 'match["name"]',
        match_id='match["id"] or ""' if _other_heads(calls) else 'match["id"]',
        other_heads=_other_heads(calls),
        code=calls.code if calls else None,
        code_name=repr(calls.code.name) if calls and calls.code else "",
        code_opening=repr(_code_opening(calls.code)) if calls and calls.code else "",
        code_starts=frozenset(marker.role for marker in sets.get("_CODE_START", ())),
        arguments_first=bool(calls and calls.arguments_first),
        wraps=bool(calls and calls.wrap),
        tracks_wrap=bool(calls and calls.kind != "native" and {"wrap", "unwrap"} & set(roles)),
        wrap_text=shown(calls.wrap).replace('"', "'") if calls else "",
        bare=bool(calls and calls.bare),
        announces=bool(calls and calls.bare and "wrap" in roles),
        in_section=bool(calls and calls.in_section),
        structured=bool(calls and calls.structured),
        open_ended=_is_open_ended(sets.get("_PARAMETERS", ())),
        collects=bool(calls and calls.kind != "tagged"),
        name_is_key=bool(calls and calls.name_is_key),
        type_words=bool(calls and calls.type_words),
        python_values=bool(calls and calls.python_values),
        dialect=calls.dialect if calls else "",
        unescaped_strings=bool(calls and (calls.dialect == "quoted" or calls.quoted_strings)),
        escapes_if=_escapes_if(calls),
        guarded=bool(calls and calls.guarded),
        key_closes=bool(calls and calls.key_closes),
        elements=elements,
        is_element=elements.is_element if elements else "",
        opening_name=elements.opening_name if elements else "",
        closing_name=elements.closing_name if elements else "",
        next_argument=any(marker.role == "next" for marker in sets.get("_ELEMENTS", ())),
        is_opening=elements.is_opening if elements else "",
        is_not_opening=elements.is_not_opening if elements else "",
        separator=repr(elements.separator) if elements else "",
        separator_text=(
            f" but ``{shown(elements.separator)}``" if elements and elements.separator else ""
        ),
        closes=bool(calls and calls.structured) and "close" in parameter_roles,
        uses_schemas=uses_schemas,
        value_tail=raw_values and any(marker.role == "tail" for marker in sets["_VALUE"]),
        broken="broken" in parameter_roles,
        tail="_TAIL" in sets,
        name_last=bool(calls and calls.kind == "json" and "name" in calls.tail_slots),
        head_slots=calls.head_slots if calls else frozenset(),
        tail_slots=calls.tail_slots if calls else frozenset(),
        after_call=_after_call(calls),
        name_groups=", ".join(f'"{group}"' for group in calls.name_groups) if calls else "",
        **state_docstrings(calls),
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
    "code": "code",
    "end": "end",
}


def _public_names(plan: ModulePlan) -> tuple[str, ...]:
    """Return what ``__all__`` lists."""
    names = ["HEADER", "PROMPT", "ContentDelta", "Event", "Message", "Parser", "Problem", "parse"]
    if plan.prompt_on != plan.prompt_off:
        names.append("PROMPT_WITHOUT_THINKING")
    if plan.reasoning:
        names.append("ReasoningDelta")
    if plan.calls:
        names += ["ToolCall", "ToolCallDelta", "ToolCallEnd", "ToolCallStart"]
    return tuple(sorted(names, key=lambda name: (name.islower(), not name.isupper(), name)))


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


def _is_open_ended(parameters: Iterable[Marker]) -> bool:
    return any(
        not literal(pieces[1:])
        for marker in parameters
        if marker.role == "done"
        for pieces in marker.alternatives
        if isinstance(pieces[0], Expression)
    )


def _looks_ahead(plan: ModulePlan) -> bool:
    pieces = (piece for marker in plan.text for found in marker.alternatives for piece in found)
    return any(isinstance(piece, Follows) for piece in pieces)


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


def _code_opening(code: CodeCall) -> str:
    return f'{{{json.dumps(code.argument, ensure_ascii=False)}: "'


def _other_heads(calls: CallPlan | None) -> bool:
    return calls is not None and len(calls.name_groups) > 1


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
    found = ["parameters_by_name" if calls.kind == "tagged" else "names", "flaw"]
    if _other_heads(calls):
        found.append("name")
    if calls.code is not None and calls.code.method:
        found.append("keyword_arguments")
    if calls.kind == "native" and not calls.name_is_key:
        found.append("as_string")
    if calls.kind != "tagged":
        found += ["as_object", "deviation"]
    if uses_schemas or calls.elements:
        found += ["options", "json_types"]
    if calls.elements:
        found.append("schemas_inside")
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
