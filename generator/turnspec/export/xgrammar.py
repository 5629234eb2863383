"""xgrammar's structural tag: free text up to a trigger, then the grammar for real tools.

vLLM, SGLang and others take it as a response format. Written for xgrammar 0.2.8: in free text it
excludes what begins something else (`any_text` with `excludes`), which may then follow. Where only
the turn's beginning is a call, free text is one that begins otherwise, and may quote one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from turnspec.export.exporting import Exported, ExportOptions, Refusal, bound_or_refusal
from turnspec.grammar.bound import BoundGrammar
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.requested import prompt_for
from turnspec.grammar.text import trimmed
from turnspec.grammar.triggers import before_words, begins_turn, escaped
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.spec.model import Spec
from turnspec.spec.visible import visible_json

FILE = "structural_tag.json"

_Format = dict[str, Any]


def export_xgrammar(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a structural tag for the request's tools and answer."""
    tag = structural_tag(spec, options.request)
    return tag if isinstance(tag, Refusal) else Exported({FILE: tag_text(tag)})


def tag_text(tag: _Format) -> str:
    """Return a structural tag as a file's text."""
    return visible_json(json.dumps(tag, indent=2, ensure_ascii=False)) + "\n"


def structural_tag(spec: Spec, request: GrammarRequest) -> _Format | Refusal:
    """Return the structural tag as data.

    Where the grammar is lazy it holds from a trigger on, and what comes before is free, so that a
    model thinks and answers as it likes; else it holds from the prompt's end on.
    """
    bound = bound_or_refusal(spec, request, "a structural tag")
    return bound if isinstance(bound, Refusal) else tag_of_grammar(spec, request, bound)


def tag_of_grammar(spec: Spec, request: GrammarRequest, bound: BoundGrammar) -> _Format:
    """Return the structural tag of a grammar that is bound to a request."""
    grammar = {"type": "grammar", "grammar": bound.grammar}
    return {
        "type": "structural_tag",
        "format": _free(spec, request, bound, grammar) if bound.lazy else grammar,
    }


def _free(spec: Spec, request: GrammarRequest, bound: BoundGrammar, grammar: _Format) -> _Format:
    """Return free text with calls behind it, if any; a trigger inside reasoning is none."""
    start, end = trimmed(spec.reasoning.start), trimmed(spec.reasoning.end)
    calls = _text(bound.trigger_words, grammar)
    if begins_turn(spec):
        leads = ("", *before_words(spec))
        begun = [lead + word for lead in leads for word in bound.trigger_words]
        before = _regex(f"[ \\t\\n\\r]*(?:{'|'.join(map(escaped, leads))})")
        calls = _either(_sequence(before, grammar), _regex(f"[ \\t\\n\\r]*{_otherwise(begun)}"))
    if end in ("", start):
        return calls
    inside = _text((end,), _sequence(_constant(end), calls))
    if opens_reasoning(spec, prompt_extra(spec, prompt_for(spec, request))):
        return inside
    if not start:
        return calls
    reasoning = _sequence(_constant(start), inside)
    return _text((start, *bound.trigger_words), _either(reasoning, grammar))


def _otherwise(words: Sequence[str], spaces: str = r" \t\n\r") -> str:
    """Return an expression for a text, or none, that begins with none of some words.

    Nor does it with one of the ``spaces``, which stand before it.
    """
    signs = sorted({word[0] for word in words}, key=lambda sign: (sign != "-", sign))
    other = f"[^{''.join(map(escaped, signs))}{spaces}][\\s\\S]*"
    rests = {sign: [word[1:] for word in words if word[0] == sign] for sign in signs}
    begun = [escaped(sign) + _otherwise(rest, "") for sign, rest in rests.items() if all(rest)]
    return f"(?:{'|'.join([other, *begun])})?"


def _text(excluded: Sequence[str], following: _Format) -> _Format:
    """Return text that holds none of some words, and what may follow it."""
    text = {"type": "any_text", "excludes": [*excluded]}
    return _sequence(text, {"type": "optional", "content": following})


def _either(*elements: _Format) -> _Format:
    return {"type": "or", "elements": [*elements]}


def _regex(pattern: str) -> _Format:
    return {"type": "regex", "pattern": pattern}


def _sequence(*elements: _Format) -> _Format:
    return {"type": "sequence", "elements": [*elements]}


def _constant(text: str) -> _Format:
    return {"type": "const_string", "value": text}
