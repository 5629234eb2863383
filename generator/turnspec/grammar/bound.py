"""A grammar for real tools: what it lets through, the parser reads, and the schemas allow.

Rulings: an object whose schema lists properties and doesn't mention ``additionalProperties`` has no
others. Properties stand in the schema's order, or in that of their names where a format sorts them.
A turn that has to call a tool may hold reasoning before the calls, and no content.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from turnspec.codegen.shapes import looks_like_head
from turnspec.grammar.bound_schemas import BoundSchemas, CallSyntax, RememberedSchemas
from turnspec.grammar.calls import Calls, argument_rules, call_rules
from turnspec.grammar.characters import character_rules
from turnspec.grammar.in_string import in_string
from turnspec.grammar.request import GrammarRequest, checked_tools, contradictions
from turnspec.grammar.requested import is_lazy, offer_for, prefill_problems
from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.schema_checks import Place
from turnspec.grammar.schema_limits import TooBigError
from turnspec.grammar.schema_parts import is_valid
from turnspec.grammar.text import Rule, reachable, trimmed
from turnspec.grammar.triggers import before_trigger, trigger_patterns
from turnspec.grammar.turn import turn_rules
from turnspec.grammar.turn_markers import in_turn_order
from turnspec.grammar.turn_onward import begun_rules, prompt_extra
from turnspec.grammar.turn_parts import ROOT, Offer, calls_of
from turnspec.grammar.turn_text import shared_rules, text_markers
from turnspec.grammar.values import json_value_rules
from turnspec.spec.calls import Literal, Piece
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import may_repeat_calls, stop_strings, with_stop_at_end
from turnspec.spec.words import Part

if TYPE_CHECKING:
    from turnspec.grammar.limited import BindingProcesses
    from turnspec.rendering.limits import Limits


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


def bind_grammar(
    spec: Spec, request: GrammarRequest, *, limit: Limits | None = None
) -> BoundGrammar | list[Problem]:
    """Return the grammar of a format for the tools and the answer of a request.

    Args:
        spec: the format.
        request: what the grammar is to let through.
        limit: the seconds and the memory that binding may take, in a process of its own; None, the
            default, is no limit. Who binds many requests shares a `GrammarBinder`.

    Returns:
        The grammar, or all problems that there are with the request.
    """
    with closing(GrammarBinder(spec, remembered=0, limit=limit)) as binder:
        return binder.bind(request)


class GrammarBinder:
    """Binds the grammar of one format, request by request; threads may share it.

    What the format alone decides is worked out once, and the last grammars and tools' schemas are
    remembered: the same tools once more cost a look-up, one that is new costs itself.
    """

    def __init__(self, spec: Spec, *, remembered: int = 32, limit: Limits | None = None) -> None:
        """Take a format; ``remembered`` is how many grammars are kept, 0 for none.

        With a ``limit`` of seconds and memory for each, those that aren't remembered are bound in
        processes of their own.
        """
        self.spec = spec
        self._base = _Base.of(spec)
        self._schemas = RememberedSchemas(self._base.syntax)
        self._turn = lru_cache(maxsize=32)(partial(_turn, self._base.ended))
        self._processes: BindingProcesses | None = None
        if limit is not None:
            from turnspec.grammar.limited import BindingProcesses  # only who wants them loads them

            self._processes = BindingProcesses(spec, limit)
        self._recall = lru_cache(remembered)(lambda key: self._bind(GrammarRequest.from_bytes(key)))

    def bind(self, request: GrammarRequest) -> BoundGrammar | list[Problem]:
        """Return the grammar for a request, or all problems that there are with it."""
        key = request.as_bytes()
        try:
            found = self._bind(request) if key is None else self._recall(key)
        except TooBigError as error:  # which isn't remembered: once more it may be quicker
            return [Problem(str(error))]
        return list(found) if isinstance(found, tuple) else found

    def close(self) -> None:
        """End the processes that were started, if any."""
        if self._processes is not None:
            self._processes.close()

    def _bind(self, request: GrammarRequest) -> BoundGrammar | tuple[Problem, ...]:
        if self._processes is not None:
            found = self._processes.bind(request)
            return tuple(found) if isinstance(found, list) else found
        base = self._base
        tools = checked_tools(request, self._schemas.findings)
        problems = (*contradictions(self.spec, request), *tools.problems)
        if request.own_grammar is not None:
            return problems or _with_extras(self.spec, request.own_grammar)
        problems += tuple(prefill_problems(base.ended, request))
        calls = _calls(base, request)
        schemas = BoundSchemas(RuleNames(base.taken), request.loosen, self._schemas)
        if calls is not None and base.syntax is not None:
            offered = [f for f in tools.functions if request.only_tool in ("", f.name)]
            bound = {f.name: schemas.arguments(f, base.syntax) for f in offered}
            tried = offered if calls.tools.empty_call else []
            roots = {f.name: Place(f.parameters, f.path) for f in tried}
            empty = {name for name, root in roots.items() if is_valid(root.schema, root, {})}
            calls = replace(calls, bound=bound, may_be_empty=frozenset(empty))
        if request.response_schema is not None:
            schemas.answer(request.response_schema, text_markers(base.ended))
        if problems or schemas.problems:
            return (*problems, *schemas.problems)
        return self._bound(request, calls, (*tools.notices, *schemas.notices), schemas.rules)

    def _bound(
        self,
        request: GrammarRequest,
        calls: Calls | None,
        notices: tuple[Problem, ...],
        rules: list[Rule],
    ) -> BoundGrammar:
        base = self._base
        lazy = calls is not None and is_lazy(base.ended, request)
        offer = offer_for(base.ended, request)
        parts = (offer.parts, offer.prompts, offer.needed, offer.content)
        rules_of_turn = (*self._turn(*parts, lazy), *begun_rules(offer, calls))
        turn = in_turn_order(rules_of_turn, base.ended.turn.order, (ROOT,))
        own = [*turn, *(call_rules(calls) if calls else ())]
        given = [*own, *rules, *(base.arguments if calls else ()), *base.shared]
        if calls and calls.tools.arguments.syntax.in_string:
            given = in_string(given, {"arguments", *(calls.bound or {}).values()})
        text = "".join(str(rule) for rule in reachable(given, [ROOT]))
        return _with_extras(self.spec, text.lstrip(), offer, lazy=lazy, notices=notices)


@dataclass(frozen=True, slots=True)
class _Base:
    """What the format alone decides.

    ``ended`` is its spec with all that stops it at the end, ``taken`` are its own rules' names.
    """

    ended: Spec
    calls: Calls | None
    arguments: tuple[Rule, ...]
    shared: tuple[Rule, ...]
    syntax: CallSyntax | None
    taken: frozenset[str]

    @classmethod
    def of(cls, spec: Spec) -> _Base:
        ended = with_stop_at_end(spec)
        arguments = argument_rules(ended.tools) if ended.tools else ()
        shared = (*json_value_rules(), *character_rules(), *shared_rules(ended, known=True))
        syntax = CallSyntax.of(ended.tools) if ended.tools else None
        calls = calls_of(ended, parallel=True)
        unbound = call_rules(calls) if calls else ()
        taken = frozenset(rule.name for rule in (*unbound, *arguments, *shared))
        return cls(ended, calls, arguments, shared, syntax, taken)


def _with_extras(
    spec: Spec,
    grammar: str,
    offer: Offer | None = None,
    *,
    lazy: bool = False,
    notices: tuple[Problem, ...] = (),
) -> BoundGrammar:
    patterns = trigger_patterns(spec, prompt_extra(spec, offer.prompts[0])) if offer else ()
    quote = spec.tools.arguments.syntax.quote if spec.tools else ""
    quotes = (quote,) if looks_like_head(quote) else ()
    return BoundGrammar(
        grammar=grammar,
        lazy=lazy,
        trigger_words=spec.grammar.triggers if lazy else (),
        trigger_patterns=patterns if lazy else (),
        preserved_tokens=(*spec.grammar.preserved_tokens, *quotes),
        stop=stop_strings(spec),
        notices=notices,
    )


def _calls(base: _Base, request: GrammarRequest) -> Calls | None:
    """Return which calls there may be, before the tools are bound; None if there are none."""
    spec = base.ended
    if not request.calls_allowed or base.calls is None:
        return None
    calls = replace(base.calls, parallel=request.parallel and may_repeat_calls(spec))
    if trimmed(calls.tools.section_start):
        return calls
    others = [_without_stop(spec, pieces) for pieces in spec.alternatives.calls]
    if is_lazy(spec, request):
        begun = [_from_trigger(pieces, spec.grammar.triggers) for pieces in others]
        others = [pieces for pieces in begun if pieces]
    return replace(calls, others=tuple(dict.fromkeys(p for p in others if p != calls.tools.call)))


def _turn(
    spec: Spec,
    parts: tuple[Part, ...],
    prompts: tuple[str, ...],
    needed: Part | None,
    content: str,
    lazy: bool,
) -> tuple[Rule, ...]:
    offer = Offer(spec, parts, prompts, needed=needed, content=content)
    entry, *rest = turn_rules(offer)
    if lazy:
        comment = "from the trigger on; a marker beside free text is spelled out"
        entry = Rule(ROOT, offer.turn_rule(Part.CALLS), comment)
    return (entry, *rest)


def _without_stop(spec: Spec, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return the pieces without the marker that stops the model, which the turn's end has."""
    stop, last = trimmed(spec.final(Part.CALLS)), pieces[-1]
    if not stop or not last.text.endswith(stop):
        return pieces
    kept = last.text.removesuffix(stop)
    return (*pieces[:-1], *([Literal(kept)] if kept else []))


def _from_trigger(pieces: tuple[Piece, ...], triggers: Iterable[str]) -> tuple[Piece, ...]:
    """Return the pieces from a trigger on in the first of them; none if they hold no trigger.

    What stands before a trigger in a later piece belongs to the trigger's pattern.
    """
    known = tuple(triggers)
    if not before_trigger(pieces, known) and not pieces[0].kind:
        text = pieces[0].text
        begun = [text[text.index(trigger) :] for trigger in known if trigger in text]
        return (Literal(begun[0]), *pieces[1:]) if begun else ()
    return pieces
