"""Templates that render turns of formats drawn at random, as the formats' writer writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from turnspec.spec.calls import Arguments, Piece, Tools
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: What stands before a turn; the prompt for one ends with it.
HEADER = "<|turn|>assistant\n"


def can_be_rendered(spec: Spec) -> bool:
    """Say whether a template of a few lines renders the format: no literals of Python's."""
    if spec.tools is None:
        return True
    arguments = spec.tools.arguments
    strings, others = (arguments.values.get(it) for it in (JsonType.STRING, JsonType.ARRAY))
    is_plain = strings is not Encoding.PYTHON and others is not Encoding.QUOTED
    return is_plain or not arguments.item


def template_of(spec: Spec) -> str:
    """Return a template for a format; tools, users and results are written in some way."""
    end = _written(spec.turn.stop[0])
    asks = '{{ "<|turn|>" ~ message.role ~ "\\n" ~ message.content ~ "<|done|>\\n" }}'
    return (
        f"{_macro(spec.tools)}"
        '{% if tools %}{{ "<|turn|>tools\\n" ~ tools | tojson ~ "<|done|>\\n" }}{% endif %}'
        "{% for message in messages %}{% if message.role == 'assistant' %}"
        f"{_written(HEADER)}{_reasoning(spec)}{_content(spec)}{_calls(spec.tools)}{end}"
        f"{{% else %}}{asks}{{% endif %}}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{_written(HEADER)}{{% endif %}}"
    )


def _written(text: str) -> str:
    return f"{{{{ {_quoted(text)} }}}}" if text else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reasoning(spec: Spec) -> str:
    start, end = spec.reasoning.start, spec.reasoning.end
    return _if_there("message.reasoning_content", start, end) if end else ""


def _content(spec: Spec) -> str:
    return _if_there("message.content", spec.content.start, spec.content.end)


def _if_there(name: str, start: str, end: str) -> str:
    return f"{{% if {name} %}}{_written(start)}{{{{ {name} }}}}{_written(end)}{{% endif %}}"


def _calls(tools: Tools | None) -> str:
    if tools is None:
        return ""
    call = "".join(_piece(piece, tools.arguments) for piece in tools.call)
    calls = _items("call in message.tool_calls", tools.separator, call)
    section = f"{_written(tools.section_start)}{calls}{_written(tools.section_end)}"
    return f"{{% if message.tool_calls %}}{section}{{% endif %}}"


def _items(loop: str, separator: str, item: str) -> str:
    between = f"{{% if not loop.first %}}{_written(separator)}{{% endif %}}" if separator else ""
    return f"{{% for {loop} %}}{between}{item}{{% endfor %}}"


def _piece(piece: Piece, arguments: Arguments) -> str:
    match piece.kind:
        case None:
            return _written(piece.text)
        case SlotKind.NAME:
            return "{{ call.function.name }}"
        case SlotKind.ARGUMENTS if arguments.item:
            item = "".join(_argument(it, arguments) for it in arguments.item)
            items = _items(
                "key, value in call.function.arguments.items()", arguments.separator, item
            )
            return f"{_written(arguments.start)}{items}{_written(arguments.end)}"
        case SlotKind.ARGUMENTS:
            return "{{ call.function.arguments | tojson }}"
    raise ValueError(f"no template renders {piece.kind}")


def _argument(piece: Piece, arguments: Arguments) -> str:
    match piece.kind:
        case None:
            return _written(piece.text)
        case SlotKind.KEY:
            return "{{ key }}"
    strings, others = (arguments.values.get(it) for it in (JsonType.STRING, JsonType.ARRAY))
    quotes: Sequence[str] = ("", "")
    if strings is Encoding.QUOTED:
        quotes = (arguments.syntax.quote,) * 2
    elif arguments.guard:
        quotes = (arguments.guard.start, arguments.guard.end)
    text = "{{ value | tojson }}"
    if strings is not Encoding.JSON:
        text = f"{_written(quotes[0])}{{{{ value }}}}{_written(quotes[1])}"
    other = "{{ value | tojson }}" if others is Encoding.JSON else "{{ value }}"
    if arguments.elements:
        other = "{{ shown(value) }}"
    return f"{{% if value is string %}}{text}{{% else %}}{other}{{% endif %}}"


def _macro(tools: Tools | None) -> str:
    """Return a macro that shows arrays and objects as elements, if the format has such."""
    elements = tools and tools.arguments.elements
    if not (tools and elements):
        return ""
    others = tools.arguments.values.get(JsonType.INTEGER)
    other = "{{ value | tojson }}" if others is Encoding.JSON else "{{ value }}"
    members = _items("key, inner in value.items()", elements.separator, _shown(elements.member))
    items = _items("inner in value", elements.separator, _shown(elements.element))
    return (
        "{% macro shown(value) %}"
        f"{{% if value is mapping %}}{members}"
        "{% elif value is string %}{{ value }}"
        f"{{% elif value is iterable %}}{items}"
        f"{{% else %}}{other}{{% endif %}}{{% endmacro %}}"
    )


def _shown(pieces: Sequence[Piece]) -> str:
    """Return a member or an element, which may hold others."""
    slots = {SlotKind.KEY: "{{ key }}", SlotKind.VALUE: "{{ shown(inner) }}"}
    return "".join(slots[it.kind] if it.kind else _written(it.text) for it in pieces)
