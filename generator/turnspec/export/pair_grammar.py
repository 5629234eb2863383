"""The grammar of a pair's tag: no text in a call holds what its template would take for the end.

A template finds a call's end by an expression, wherever it stands. Strings with escapes write the
first sign of what ends a call by its code where that would follow what closes a value, so they hold
any value; texts without escapes hold none of the marks.
"""

from __future__ import annotations

import re

from turnspec.analysis.text import markers
from turnspec.codegen.shapes import looks_like_head
from turnspec.export.response_calls import are_array, call_head, call_tail
from turnspec.grammar.call_text import value_ends
from turnspec.grammar.elements import ELEMENT_TEXT, element_ends
from turnspec.grammar.free_text import text_without
from turnspec.grammar.text import character_class, literal
from turnspec.grammar.value_notations import RAW_TEXT
from turnspec.grammar.values import LONG_ESCAPES, QUOTED_TEXT
from turnspec.spec.calls import Tools
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings, with_stop_at_end
from turnspec.spec.words import Part

_CLOSING = "}])"


def narrowed(spec: Spec, grammar: str) -> str:
    """Return a bound grammar in whose calls no text holds what ends one."""
    tools = with_stop_at_end(spec).tools
    assert tools is not None
    marks, elements = end_marks(spec), tools.arguments.elements
    texts = {
        RAW_TEXT: value_ends(tools, known=True) if tools.arguments.item else [],
        ELEMENT_TEXT: element_ends(elements) if elements else [],
        QUOTED_TEXT: [tools.arguments.syntax.quote],
    }
    if tools.separator.isspace():  # without it, what ends one call and begins another is nothing
        grammar = grammar.replace("( gap call )*", r"( [ \t\n\r] gap call )*")
    for name, ends in texts.items():
        rules = "".join(map(str, text_without(name, [*ends, *marks])))
        grammar, found = re.subn(rf"^{name}(-\S+)? ::= .*\n", "", grammar, flags=re.MULTILINE)
        grammar += rules if found else ""
    grammar = grammar.replace(f" | {LONG_ESCAPES}", "")  # which transformers doesn't undo
    closing, signs = guard(spec)
    plain = character_class(signs, negated=True).removesuffix("]")
    grammar = grammar.replace("json-character ::= [^", f"json-character ::= {plain}")
    for name, quotes in (("json-string", '"'), ("python-string", "'\"")):
        ways = (_string(sign, closing, signs, f"{name[:-6]}escape") for sign in quotes)
        line = f"{name} ::= {' | '.join(ways)}".replace("\\", r"\\")
        grammar = re.sub(rf"^{name} ::= .*$", line, grammar, flags=re.MULTILINE)
    return grammar


def _string(quote: str, closing: str, signs: str, escape: str) -> str:
    r"""Return a string that writes some signs by codes: behind what closes a value, or all."""
    controls, never = r"\x00-\x1F", f"{quote}\\{closing or signs}"
    plain = character_class(never, negated=True, ranges=controls)
    coded = f'"\\\\" {escape}'
    if not closing:
        return f"{literal(quote)} ( {plain} | {coded} )* {literal(quote)}"
    closed = f"{character_class(closing)} {character_class([*closing, ' '])}*"
    behind = character_class(never + signs + " ", negated=True, ranges=controls)
    inside = f"{plain} | {coded} | {closed} ( {behind} | {coded} )"
    return f"{literal(quote)} ( {inside} )* ( {closed} )? {literal(quote)}"


def guard(spec: Spec) -> tuple[str, str]:
    """Return what closes a call's arguments, and the first signs of all that may follow it.

    Where nothing does but marks, they are what counts, wherever they stand.
    """
    tools = spec.tools
    assert tools is not None
    tail = call_tail(tools).strip()
    behind = tail + tools.section_end.strip()
    brackets = behind[: len(behind) - len(behind.lstrip(_CLOSING))]
    own = "]" if are_array(tools) else "" if tools.arguments.item else "}"
    closing = "".join(dict.fromkeys(own + brackets))
    if not closing:
        return "", "".join(sorted({mark[0] for mark in end_marks(spec)}))
    ends = (text.strip().lstrip(_CLOSING).lstrip() for text in _ends(spec))
    # What JSON begins with holds a quote, and stands in no string.
    signs = {end[0] for end in ends if end and not end[0].isalnum()} - set('{":')
    return closing, "".join(sorted(signs - ({","} if own else set())))


def end_marks(spec: Spec) -> list[str]:
    """Return texts of which one is in all that ends a call, in a text without escapes."""
    tools = spec.tools
    assert tools is not None
    tail = call_tail(tools).strip()
    ends = [tail] if looks_like_head(tail) else _ends(spec)
    texts = [text.strip().lstrip(_CLOSING) for text in ends]
    return [_mark(text, tools) for text in dict.fromkeys(texts) if looks_like_head(text)]


def _mark(text: str, tools: Tools) -> str:
    """Return the last whole marker of a text that has white space, but none that arguments have."""
    arguments = repr((tools.arguments.item, tools.arguments.elements))
    found = [marker for marker in markers(text) if marker not in arguments]
    return found[-1] if found and re.search(r"\s", text) else text


def _ends(spec: Spec) -> list[str]:
    """Return all that may stand behind a call."""
    tools = spec.tools
    assert tools is not None
    ends = (call_tail(tools), *tools.section_ends, *tools.separators, *stop_strings(spec))
    return [*ends, spec.final(Part.CALLS), tools.section_start, call_head(tools)]
