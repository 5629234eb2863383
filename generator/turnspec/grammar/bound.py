"""A grammar for real tools: what it lets through, the parser reads, and the schemas allow.

Rulings: an object whose schema lists properties and doesn't mention ``additionalProperties`` has no
others. Properties stand in the schema's order, or in that of their names where a format sorts them.
A turn that has to call a tool may hold reasoning before the calls, and no content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from turnspec.grammar.answers import RESPONSE, answer_grammar
from turnspec.grammar.calls import Calls, tool_call_rules, value_ends
from turnspec.grammar.characters import character_rules
from turnspec.grammar.request import (
    Function,
    GrammarRequest,
    ToolChoice,
    functions,
    request_problems,
)
from turnspec.grammar.schema import SchemaGrammar, slug, value_grammar
from turnspec.grammar.schema_checks import Schema
from turnspec.grammar.tagged import argument_notation
from turnspec.grammar.text import GAP, Rule, reachable, sequence, trimmed
from turnspec.grammar.triggers import before_trigger, trigger_patterns
from turnspec.grammar.turn import (
    ROOT,
    Offer,
    begun_rules,
    calls_of,
    opens_reasoning,
    parts_of,
    prompt_extra,
    shared_rules,
    text_markers,
    turn_rules,
)
from turnspec.grammar.values import json_value_rules
from turnspec.spec.characters import call_ends, is_name, key_ends
from turnspec.spec.model import Literal, Part, Piece, SlotKind, Spec, Tools
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import may_repeat_calls, stop_strings, with_stop_at_end


@dataclass(frozen=True, slots=True)
class BoundGrammar:
    """A grammar, and what an engine needs beside it.

    Attributes:
        grammar: GBNF text; the entry is the rule ``root``.
        lazy: whether the grammar holds from a trigger on only; else from the prompt's end on.
        trigger_words: texts that each begin a call.
        trigger_patterns: regular expressions for the same, which leave reasoning alone; the grammar
            begins where the group of the match does.
        preserved_tokens: special tokens that must be seen as text.
        stop: texts that end the turn.
        notices: where the grammar doesn't say what the schemas say.
    """

    grammar: str
    lazy: bool
    trigger_words: tuple[str, ...]
    trigger_patterns: tuple[str, ...]
    preserved_tokens: tuple[str, ...]
    stop: tuple[str, ...]
    notices: tuple[Problem, ...] = ()


def bind_grammar(spec: Spec, request: GrammarRequest) -> BoundGrammar | list[Problem]:
    """Return the grammar of a format for the tools and the answer of a request.

    Args:
        spec: the format.
        request: what the grammar is to let through.

    Returns:
        The grammar, or all problems that there are with the request.
    """
    problems = request_problems(spec, request)
    if problems:
        return problems
    if request.own_grammar is not None:
        return _with_extras(spec, request.own_grammar)
    ended = with_stop_at_end(spec)
    calls = _calls(ended, request)
    shared = (*shared_rules(ended), *json_value_rules(), *character_rules())
    unbound = tool_call_rules(calls) if calls else ()
    schemas = _Schemas({rule.name for rule in (*unbound, *shared)})
    if calls is not None:
        bound = {f.name: schemas.arguments(f, calls.tools) for f in _functions(request)}
        calls = replace(calls, bound=bound)
    if request.response_schema is not None:
        schemas.answer(request.response_schema, text_markers(ended))
    if schemas.problems:
        return schemas.problems
    lazy = calls is not None and _is_lazy(ended, request)
    offer = _offer(ended, request)
    own = [*_turn(offer, calls, lazy=lazy), *(tool_call_rules(calls) if calls else ())]
    rules = [*own, *schemas.rules, *shared]
    text = "".join(str(rule) for rule in reachable(_first_of_each(rules), [ROOT]))
    return _with_extras(spec, text.lstrip(), offer, lazy=lazy, notices=tuple(schemas.notices))


def _with_extras(
    spec: Spec,
    grammar: str,
    offer: Offer | None = None,
    *,
    lazy: bool = False,
    notices: tuple[Problem, ...] = (),
) -> BoundGrammar:
    patterns = trigger_patterns(spec, prompt_extra(spec, offer.prompts[0])) if offer else ()
    return BoundGrammar(
        grammar=grammar,
        lazy=lazy,
        trigger_words=spec.grammar.triggers if lazy else (),
        trigger_patterns=patterns if lazy else (),
        preserved_tokens=spec.grammar.preserved_tokens,
        stop=stop_strings(spec),
        notices=notices,
    )


@dataclass(slots=True)
class _Schemas:
    """The rules for all schemas of a request, with names that no other rule has."""

    taken: set[str]
    rules: list[Rule] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)

    def arguments(self, function: Function, tools: Tools) -> str:
        """Add the rules for a tool's arguments and return the name of the first."""
        if not is_name(function.name, call_ends(tools, SlotKind.NAME)):
            message = f"the name {function.name!r} cannot be written in this format"
            self.problems.append(Problem(message, file="tools", path=function.path))
            return ""
        hint = f"tool-{slug(function.name)}"
        names = (f"{hint}-{number}" if number > 1 else hint for number in count(1))
        name = next(name for name in names if name not in self.taken)
        notation = argument_notation(
            tools.arguments, value_ends(tools, known=True), key_ends(tools)
        )
        found = value_grammar(
            function.parameters, name, notation, closed=True, only="object", taken=self.taken
        )
        self._add(found, "tools", function.path)
        return name

    def answer(self, schema: Schema, markers: Iterable[str]) -> None:
        """Add the rules for an answer by a schema."""
        self._add(answer_grammar(schema, markers, self.taken), "response schema", "#")

    def _add(self, found: SchemaGrammar | list[Problem], file: str, path: str) -> None:
        remarks = found if isinstance(found, list) else found.notices
        placed = [replace(r, file=file, path=path + r.path.removeprefix("#")) for r in remarks]
        if isinstance(found, list):
            self.problems += placed
            return
        self.notices += placed
        self.rules += found.rules
        self.taken |= {rule.name for rule in found.rules}


def _functions(request: GrammarRequest) -> list[Function]:
    """Return the functions that may be called."""
    only = request.only_tool
    return [f for f in functions(request.tools) if not only or f.name == only]


def _calls(spec: Spec, request: GrammarRequest) -> Calls | None:
    """Return which calls there may be, before the tools are bound; None if there are none."""
    if not request.calls_allowed:
        return None
    calls = calls_of(spec, parallel=request.parallel and may_repeat_calls(spec))
    if calls is None or trimmed(calls.tools.section_start):
        return calls
    others = [_without_stop(spec, pieces) for pieces in spec.alternatives.calls]
    if _is_lazy(spec, request):
        begun = [_from_trigger(pieces, spec.grammar.triggers) for pieces in others]
        others = [pieces for pieces in begun if pieces]
    return replace(calls, others=tuple(dict.fromkeys(p for p in others if p != calls.tools.call)))


def _is_lazy(spec: Spec, request: GrammarRequest) -> bool:
    """Say whether the grammar waits for a trigger: not in reasoning that nothing closes."""
    if request.tool_choice != ToolChoice.AUTO or request.response_schema is not None:
        return False
    extra = prompt_extra(spec, _prompt(spec, request))
    closed = bool(trimmed(spec.reasoning.end)) or not opens_reasoning(spec, extra)
    return bool(spec.grammar.triggers) and closed


def _prompt(spec: Spec, request: GrammarRequest) -> str:
    return spec.thinking.prompt_on if request.thinking else spec.thinking.prompt_off


def _offer(spec: Spec, request: GrammarRequest) -> Offer:
    prompt = _prompt(spec, request)
    absent = set()
    if not request.calls_allowed:
        absent.add(Part.CALLS)
    if request.calls_needed:
        absent.add(Part.CONTENT)
    if not request.thinking and not opens_reasoning(spec, prompt_extra(spec, prompt)):
        absent.add(Part.REASONING)
    parts = tuple(part for part in parts_of(spec) if part not in absent)
    if request.response_schema is None:
        return Offer(spec, parts, (prompt,), needed=Part.CALLS if request.calls_needed else None)
    needed = next(part for part in parts if part is not Part.REASONING)
    return Offer(spec, parts, (prompt,), needed=needed, content=sequence(GAP, RESPONSE, GAP))


def _turn(offer: Offer, calls: Calls | None, *, lazy: bool) -> Iterator[Rule]:
    entry, *rest = turn_rules(offer)
    if lazy:
        comment = "from the trigger on; a marker beside free text is spelled out"
        entry = Rule(ROOT, offer.turn_rule(Part.CALLS), comment)
    yield entry
    yield from rest
    yield from begun_rules(offer, calls)


def _first_of_each(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules without those whose name an earlier one has."""
    found: dict[str, Rule] = {}
    for rule in rules:
        found.setdefault(rule.name, rule)
    return list(found.values())


def _without_stop(spec: Spec, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return the pieces without the marker that stops the model, which the turn's end has."""
    stop, last = trimmed(spec.final(Part.CALLS)), pieces[-1]
    if not stop or not isinstance(last, Literal) or not last.text.endswith(stop):
        return pieces
    kept = last.text.removesuffix(stop)
    return (*pieces[:-1], *([Literal(kept)] if kept else []))


def _from_trigger(pieces: tuple[Piece, ...], triggers: Iterable[str]) -> tuple[Piece, ...]:
    """Return the pieces from a trigger on in the first of them; none if they hold no trigger.

    What stands before a trigger in a later piece belongs to the trigger's pattern.
    """
    known = tuple(triggers)
    if not before_trigger(pieces, known) and isinstance(pieces[0], Literal):
        text = pieces[0].text
        begun = [text[text.index(trigger) :] for trigger in known if trigger in text]
        return (Literal(begun[0]), *pieces[1:]) if begun else ()
    return pieces
