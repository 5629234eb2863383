"""A spec as the plain data of its YAML file, and back.

What is empty or has its default is left out where that helps reading; modes, the header and the
start and end of each part are always there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turnspec.spec.model import (
    AfterFirst,
    Alternatives,
    Arguments,
    CallIdPosition,
    Capabilities,
    CodeCall,
    Condition,
    Content,
    ContentBlocks,
    ContentMode,
    Elements,
    Encoding,
    End,
    Fields,
    Grammar,
    Guard,
    IndexScope,
    Join,
    JsonType,
    Limit,
    Literal,
    OtherMarks,
    Part,
    Piece,
    Reasoning,
    ReasoningMode,
    ReasoningScope,
    Slot,
    SlotKind,
    Spec,
    Subject,
    Switch,
    SwitchWord,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    Tokenizer,
    TokenSource,
    ToolMode,
    Tools,
    Turn,
    ValueSyntax,
    Verdict,
)
from turnspec.spec.versions import SPEC_VERSION
from turnspec.spec.yaml_text import Line, Text

#: What schema.json has already found right; the keys and types are therefore taken for granted.
Data = Mapping[str, Any]

#: The states of thinking that are left out of a file where they are the default.
_STATES = ("enabled", "disabled")


def spec_to_data(spec: Spec) -> dict[str, object]:
    """Return the data of a spec's YAML file, in the model's order."""
    data: dict[str, object] = {
        "spec_version": SPEC_VERSION,
        "name": spec.name,
        "template": {
            "file": spec.template.file,
            "sha256": spec.template.sha256,
            "origin": spec.template.origin,
        },
        "tokens": {
            name: Line(text=Text(token.text), source=token.source)
            for name, token in sorted(spec.tokens.items())
        },
        "capabilities": _capabilities_to_data(spec.capabilities),
        "thinking": _thinking_to_data(spec.thinking),
        "turn": _turn_to_data(spec.turn),
        "reasoning": _reasoning_to_data(spec.reasoning),
        "content": {
            "mode": spec.content.mode,
            "start": Text(spec.content.start),
            "end": Text(spec.content.end),
        },
        "tools": _tools_to_data(spec.tools) if spec.tools else None,
        "limits": tuple(_limit_to_data(limit) for limit in spec.limits),
        "grammar": {
            "triggers": _texts(spec.grammar.triggers),
            "preserved_tokens": _texts(spec.grammar.preserved_tokens),
        },
        "alternatives": _alternatives_to_data(spec.alternatives),
        "overlay": spec.overlay,
        "tokenizer": _tokenizer_to_data(spec.tokenizer) if spec.tokenizer else None,
    }
    empty: dict[str, object] = {"tokens": {}, "tools": None, "limits": ()}
    return _without(data, {**empty, "alternatives": {}, "overlay": (), "tokenizer": None})


def spec_from_data(data: Data) -> Spec:
    """Return the spec of data that schema.json allows."""
    tools = data.get("tools")
    return Spec(
        name=data["name"],
        template=TemplateIdentity(**data["template"]),
        tokens={
            name: Token(token["text"], TokenSource(token["source"]))
            for name, token in data.get("tokens", {}).items()
        },
        capabilities=Capabilities(**data["capabilities"]),
        thinking=_thinking_from_data(data["thinking"]),
        turn=_turn_from_data(data["turn"]),
        reasoning=_reasoning_from_data(data["reasoning"]),
        content=Content(
            ContentMode(data["content"]["mode"]), data["content"]["start"], data["content"]["end"]
        ),
        tools=_tools_from_data(tools) if tools else None,
        limits=tuple(_limit_from_data(limit) for limit in data.get("limits", ())),
        grammar=Grammar(
            tuple(data["grammar"]["triggers"]), tuple(data["grammar"]["preserved_tokens"])
        ),
        alternatives=_alternatives_from_data(data.get("alternatives", {})),
        overlay=tuple(data.get("overlay", ())),
        tokenizer=tokenizer_from_data(data["tokenizer"]) if "tokenizer" in data else None,
    )


def _tokenizer_to_data(tokenizer: Tokenizer) -> dict[str, object]:
    data: dict[str, object] = {
        "origin": tokenizer.origin,
        "special_tokens": _texts(tokenizer.special_tokens),
        "end_tokens": _texts(tokenizer.end_tokens),
    }
    return _without(data, {"special_tokens": (), "end_tokens": ()})


def tokenizer_from_data(data: Data) -> Tokenizer:
    """Return the special tokens that a spec, or an index of templates, names."""
    tokens = (tuple(data.get(key, ())) for key in ("special_tokens", "end_tokens"))
    return Tokenizer(data["origin"], *tokens)


def _without(data: dict[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    absent = object()
    return {key: value for key, value in data.items() if value != defaults.get(key, absent)}


def _texts(texts: Iterable[str]) -> tuple[Text, ...]:
    return tuple(Text(text) for text in texts)


def _settings(values: Mapping[str, object]) -> Line:
    return Line({name: _setting(value) for name, value in sorted(values.items())})


def _setting(value: object) -> object:
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, Mapping):
        return _settings(value)
    return [_setting(item) for item in value] if isinstance(value, list | tuple) else value


def _thinking_to_data(thinking: Thinking) -> dict[str, object]:
    data: dict[str, object] = {
        "default": _state_to_data(thinking.default),
        "enabled": _state_to_data(thinking.enabled),
        "disabled": _state_to_data(thinking.disabled),
        "words": tuple(
            Line(
                word=Text(word.word),
                switches=Text(word.switches),
                roles=list(word.roles),
                prompt=Text(word.prompt),
            )
            for word in thinking.words
        ),
        "others": tuple(Line(_state_to_data(state)) for state in thinking.others),
    }
    return _without(data, {"words": (), "others": (), **dict.fromkeys(_STATES, data["default"])})


def _state_to_data(state: ThinkingState) -> dict[str, object]:
    texts = {"prompt": Text(state.prompt), "before": Text(state.before)}
    data: dict[str, object] = {"variables": _settings(state.variables), **texts}
    return _without(data, {"variables": {}, "before": Text("")})


def _thinking_from_data(data: Data) -> Thinking:
    words = tuple(
        SwitchWord(word["word"], Switch(word["switches"]), tuple(word["roles"]), word["prompt"])
        for word in data.get("words", ())
    )
    default = ThinkingState(**data["default"])
    enabled, disabled = (
        ThinkingState(**data[name]) if name in data else default for name in _STATES
    )
    others = tuple(ThinkingState(**state) for state in data.get("others", ()))
    return Thinking(default, enabled, disabled, words, others)


def _capabilities_to_data(capabilities: Capabilities) -> dict[str, object]:
    return {
        "system_role": capabilities.system_role,
        "tools": capabilities.tools,
        "tool_calls": capabilities.tool_calls,
        "parallel_calls": capabilities.parallel_calls,
        "tool_results": capabilities.tool_results,
        "object_arguments": capabilities.object_arguments,
        "string_arguments": capabilities.string_arguments,
        "null_content": capabilities.null_content,
        "content_beside_calls": capabilities.content_beside_calls,
        "call_id_required": capabilities.call_id_required,
        "roles_alternate": capabilities.roles_alternate,
    }


def _turn_to_data(turn: Turn) -> dict[str, object]:
    data: dict[str, object] = {
        "header": Text(turn.header),
        "order": list(turn.order),
        "joins": tuple(map(_join_to_data, turn.joins)),
        "ends": tuple(_end_to_data(end) for end in turn.ends),
        "stop": _texts(turn.stop),
        "calls_decide_end": turn.calls_decide_end,
    }
    return _without(data, {"joins": (), "calls_decide_end": False})


def _join_to_data(join: Join) -> dict[str, object]:
    when = {} if join.when is Condition.ALWAYS else {"when": join.when}
    return Line(left=join.left, right=join.right, **when, text=Text(join.text))


def _turn_from_data(data: Data) -> Turn:
    return Turn(
        header=data["header"],
        order=tuple(map(Part, data["order"])),
        joins=tuple(
            Join(
                Part(join["left"]),
                Part(join["right"]),
                join["text"],
                Condition(join.get("when", Condition.ALWAYS)),
            )
            for join in data.get("joins", ())
        ),
        ends=tuple(
            End(Part(end["last"]), end["final"], end.get("followed", end["final"]))
            for end in data["ends"]
        ),
        stop=tuple(data["stop"]),
        calls_decide_end=data.get("calls_decide_end", False),
    )


def _end_to_data(end: End) -> Line:
    line = Line(last=end.last, final=Text(end.final))
    if end.followed != end.final:
        line["followed"] = Text(end.followed)
    return line


def _reasoning_to_data(reasoning: Reasoning) -> dict[str, object]:
    data: dict[str, object] = {
        "mode": reasoning.mode,
        "start": Text(reasoning.start),
        "end": Text(reasoning.end),
        "field": reasoning.field,
        "call_field": reasoning.call_field,
        "scope": reasoning.scope,
        "blocks": _blocks_to_data(reasoning.blocks) if reasoning.blocks else None,
    }
    return _without(data, {"field": None, "call_field": None, "blocks": None})


def _blocks_to_data(blocks: ContentBlocks) -> Line:
    line = Line(
        type_key=Text(blocks.type_key),
        reasoning_type=Text(blocks.reasoning_type),
        content_type=Text(blocks.content_type),
        content_key=Text(blocks.content_key),
    )
    return Line({**line, "container": Text(blocks.container)}) if blocks.container else line


def _reasoning_from_data(data: Data) -> Reasoning:
    return Reasoning(
        mode=ReasoningMode(data["mode"]),
        start=data["start"],
        end=data["end"],
        field=data.get("field"),
        scope=ReasoningScope(data["scope"]),
        blocks=ContentBlocks(**data["blocks"]) if "blocks" in data else None,
        call_field=data.get("call_field"),
    )


def _tools_to_data(tools: Tools) -> dict[str, object]:
    data: dict[str, object] = {
        "mode": tools.mode,
        "section_start": Text(tools.section_start),
        "call": _pieces_to_data(tools.call),
        "separator": Text(tools.separator),
        "section_end": Text(tools.section_end),
        "arguments": _arguments_to_data(tools.arguments),
        "fields": _fields_to_data(tools.fields),
        "call_id": tools.call_id,
        "index_base": tools.index_base,
        "index_scope": tools.index_scope,
        "after_first": _after_first_to_data(tools.after_first),
    }
    absent = dict.fromkeys(("index_base", "index_scope", "after_first"))
    return _without(data, {"fields": {}, **absent})


def _after_first_to_data(after: AfterFirst | None) -> Line | None:
    if after is None:
        return None
    return Line(
        separator=Text(after.separator),
        section_end=Text(after.section_end),
        end=Text(after.end),
    )


def _tools_from_data(data: Data) -> Tools:
    fields = data.get("fields", {})
    scope = data.get("index_scope")
    return Tools(
        mode=ToolMode(data["mode"]),
        section_start=data["section_start"],
        call=tuple(map(_piece_from_data, data["call"])),
        separator=data["separator"],
        section_end=data["section_end"],
        arguments=_arguments_from_data(data["arguments"]),
        fields=Fields(
            name=tuple(fields.get("name", ())),
            arguments=tuple(fields.get("arguments", ())),
            id=tuple(fields.get("id", ())),
            name_is_key=fields.get("name_is_key", False),
        ),
        call_id=CallIdPosition(data["call_id"]),
        index_base=data.get("index_base"),
        index_scope=None if scope is None else IndexScope(scope),
        after_first=AfterFirst(**data["after_first"]) if "after_first" in data else None,
    )


def _pieces_to_data(pieces: Iterable[Piece]) -> tuple[dict[str, object], ...]:
    return tuple(
        {"text": Text(piece.text)} if isinstance(piece, Literal) else {"slot": piece.kind}
        for piece in pieces
    )


def _piece_from_data(data: Data) -> Piece:
    return Literal(data["text"]) if "text" in data else Slot(SlotKind(data["slot"]))


def _arguments_to_data(arguments: Arguments) -> dict[str, object]:
    values, types = arguments.values, arguments.types
    data: dict[str, object] = {
        "syntax": _syntax_to_data(arguments.syntax),
        "item": _pieces_to_data(arguments.item),
        "start": Text(arguments.start),
        "separator": Text(arguments.separator),
        "end": Text(arguments.end),
        "empty": Text(arguments.empty),
        "values": {str(kind): values[kind] for kind in JsonType if kind in values},
        "types": {str(kind): Text(types[kind]) for kind in JsonType if kind in types},
        "guard": _guard_to_data(arguments.guard),
        "elements": _elements_to_data(arguments.elements),
        "escapes": {Text(sign): Text(text) for sign, text in arguments.escapes.items()},
        "value_escapes": {Text(sign): Text(text) for sign, text in arguments.value_escapes.items()},
    }
    defaults = {"item": (), "start": "", "separator": "", "end": "", "empty": Arguments().empty}
    others: dict[str, object] = {"guard": None, "elements": None}
    maps: dict[str, object] = {key: {} for key in ("values", "types", "escapes", "value_escapes")}
    return _without(data, {**defaults, **others, **maps})


def _guard_to_data(guard: Guard | None) -> Line | None:
    if guard is None:
        return None
    data = {"start": Text(guard.start), "end": Text(guard.end)}
    if guard.characters:
        data["characters"] = Text(guard.characters)
    return Line(**data)


def _elements_to_data(elements: Elements | None) -> dict[str, object] | None:
    if elements is None:
        return None
    data: dict[str, object] = {
        "member": _pieces_to_data(elements.member),
        "element": _pieces_to_data(elements.element),
        "separator": Text(elements.separator),
    }
    return _without(data, {"separator": ""})


def _elements_from_data(data: Data) -> Elements:
    return Elements(
        member=tuple(map(_piece_from_data, data["member"])),
        element=tuple(map(_piece_from_data, data["element"])),
        separator=data.get("separator", ""),
    )


def _arguments_from_data(data: Data) -> Arguments:
    return Arguments(
        syntax=_syntax_from_data(data["syntax"]),
        item=tuple(map(_piece_from_data, data.get("item", ()))),
        start=data.get("start", ""),
        separator=data.get("separator", ""),
        end=data.get("end", ""),
        empty=data.get("empty", Arguments().empty),
        values={JsonType(kind): Encoding(v) for kind, v in data.get("values", {}).items()},
        types={JsonType(kind): word for kind, word in data.get("types", {}).items()},
        guard=Guard(**{"characters": "", **data["guard"]}) if "guard" in data else None,
        elements=_elements_from_data(data["elements"]) if "elements" in data else None,
        escapes=data.get("escapes", {}),
        value_escapes=data.get("value_escapes", {}),
    )


def _syntax_to_data(syntax: ValueSyntax) -> dict[str, object]:
    default = ValueSyntax()
    data: dict[str, object] = {
        "encoding": syntax.encoding,
        "item_separator": Text(syntax.item_separator),
        "key_separator": Text(syntax.key_separator),
        "indent": syntax.indent,
        "margin": syntax.margin,
        "ascii_only": syntax.ascii_only,
        "sorted_keys": syntax.sorted_keys,
        "sort_ignores_case": syntax.sort_ignores_case,
        "quote": Text(syntax.quote),
        "bare_keys": syntax.bare_keys,
        "null": Text(syntax.null),
        "one_quote": syntax.one_quote,
        "python_words": syntax.python_words,
    }
    names = [name for name in data if name != "encoding"]
    return _without(data, {name: getattr(default, name) for name in names})


def _syntax_from_data(data: Data) -> ValueSyntax:
    return ValueSyntax(**{**data, "encoding": Encoding(data["encoding"])})


def _fields_to_data(fields: Fields) -> dict[str, object]:
    data: dict[str, object] = {
        "name": list(_texts(fields.name)),
        "arguments": list(_texts(fields.arguments)),
        "id": list(_texts(fields.id)),
        "name_is_key": fields.name_is_key,
    }
    return _without(data, {"name": [], "arguments": [], "id": [], "name_is_key": False})


def _limit_to_data(limit: Limit) -> Line:
    line = Line(
        subject=limit.subject,
        verdict=limit.verdict,
        when=limit.when,
        reason=Text(limit.reason),
    )
    if limit.characters:
        line["characters"] = Text(limit.characters)
    return line


def _limit_from_data(data: Data) -> Limit:
    return Limit(
        subject=Subject(data["subject"]),
        verdict=Verdict(data["verdict"]),
        when=Condition(data["when"]),
        reason=data["reason"],
        characters=data.get("characters", ""),
    )


def _alternatives_to_data(alternatives: Alternatives) -> dict[str, object]:
    data: dict[str, object] = {
        "calls": tuple(list(_pieces_to_data(call)) for call in alternatives.calls),
        "code": _code_to_data(alternatives.code) if alternatives.code else None,
        "marks": tuple(_marks_to_data(marks) for marks in alternatives.marks),
        "stop": _texts(alternatives.stop),
    }
    return _without(data, {"calls": (), "code": None, "marks": (), "stop": ()})


def _alternatives_from_data(data: Data) -> Alternatives:
    return Alternatives(
        calls=tuple(tuple(map(_piece_from_data, call)) for call in data.get("calls", ())),
        code=CodeCall(**data["code"]) if "code" in data else None,
        marks=tuple(
            OtherMarks(
                Part(marks["part"]),
                tuple(map(_piece_from_data, marks["start"])),
                marks.get("end", ""),
            )
            for marks in data.get("marks", ())
        ),
        stop=tuple(data.get("stop", ())),
    )


def _code_to_data(code: CodeCall) -> Line:
    line = Line(start=Text(code.start), name=Text(code.name), argument=Text(code.argument))
    return Line({**line, "method": Text(code.method)}) if code.method else line


def _marks_to_data(marks: OtherMarks) -> Line:
    line = Line(part=marks.part, start=list(_pieces_to_data(marks.start)))
    return Line({**line, "end": Text(marks.end)}) if marks.end else line
