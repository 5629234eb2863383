"""Rung 3 of the ladder: parser and grammar agree, without any grammar engine.

Random walks over the grammar, for any tools and bound to real ones, are read without a problem, as
they were meant, valid by the schemas, and the same in pieces. And the grammar allows every turn
that the writer writes, but none without its end of a call.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import ceil
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

from turnspec.codegen.format_module import FormatModule
from turnspec.grammar.bound import GrammarBinder
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.spec.calls import Arguments
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import Counterexample, RungResult
from turnspec.spec.words import Part
from turnspec.verification.begun_markers import begun_markers
from turnspec.verification.chunking import same_in_pieces
from turnspec.verification.comparing import as_parsed
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.tally import Tally
from turnspec.verification.walk_offers import Bind, Offer, bound_grammar, offers, schemas
from turnspec.verification.walked_turns import MeantTurn, meant_by, read_as, same
from turnspec.verification.walks import Taken, Walk, random_walk
from turnspec.verification.written_turns import written_turns

#: Walks over the grammar for any tools.
_UNBOUND_WALKS = 40
#: How long walks get, in characters; short ones come first, as they make the best examples.
_LENGTHS = (40, 120, 250, 400)
_SEED = 2026
#: What is said twice is the same within one call, argument or member; no grammar can say so.
SAID_AGAIN = {"tool-name": "call", "argument-name": "argument", "element-name": "element-member"}
#: A number that no double holds is left out: JSON's readers needn't take it (RFC 8259, section 6),
#: and Python's literals can't.
BEYOND_DOUBLES = re.compile(r"[eE]\+?[0-9]{3}")
#: No grammar for any arguments can keep a key from coming twice.
_ALLOWED = "repeated_argument"
#: What parsers drop behind a call, and tell: content of nothing else is no evidence.
_STRAY = re.compile(r"[,}\]`\s]*[,}\]`][,}\]`\s]*")


def agreement(
    spec: Spec, module: FormatModule, gbnf: str, bind: Bind | None = None, share: float = 1
) -> RungResult:
    """Return what came of walks over the grammars, and of the written turns given to them.

    ``share`` is how many of the usual walks are taken.
    """
    tally, walked, bind = Tally(), 0, bind or GrammarBinder(spec).bind
    walks = walk_faults(spec, module, gbnf, bind, share=share)
    begun = islice(_begun_faults(spec, module, gbnf), 0, None, int(1 / share))
    for fault in (*walks, *begun):
        tally.add(fault.example if fault else None)
        walked += 1
    for written in written_turns(spec, gbnf, bind):
        tally.add(written.fault())
    found = tally.result()
    return replace(found, note=f"{walked} walks, {found.total - walked} written turns")


@dataclass(frozen=True, slots=True)
class WalkFault:
    """A walk that isn't read as it should be; ``is_misread``: not even the message is the same."""

    example: Counterexample
    is_misread: bool = True


def walk_faults(
    spec: Spec,
    module: FormatModule,
    gbnf: str,
    bind: Bind | None = None,
    reader: Spec | None = None,
    share: float = 1,
) -> Iterator[WalkFault | None]:
    """Yield for each walk over the grammars what is wrong with how it is read, or None.

    The module is of ``reader`` where that is another spec; then it may take the prompts of that.
    """
    bind = bind or GrammarBinder(spec).bind
    for reading in _readings(spec, module, gbnf, bind, reader or spec):
        if isinstance(reading, WalkFault):
            yield reading
            continue
        for walk in reading.walks(ceil(reading.count * share)):
            yield reading.fault(walk)


def _begun_faults(spec: Spec, module: FormatModule, gbnf: str) -> Iterator[WalkFault | None]:
    """Yield the same for texts that begin as markers and go on otherwise."""
    grammar = read_grammar(gbnf)
    if isinstance(grammar, Problem):  # the walks tell
        return
    for prompt, walks in begun_markers(spec, grammar):
        thinking = None if prompt == spec.thinking.default.prompt else True
        reading = _Reading(spec, module, grammar, 0, Random(_SEED), (prompt,), thinking)
        yield from map(reading.fault, walks)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One grammar, and how the parser is told to read its turns."""

    spec: Spec
    module: FormatModule
    grammar: Grammar
    count: int
    random: Random
    prefills: tuple[str, ...]
    thinking: bool | None = None
    request: GrammarRequest | None = None

    def walks(self, count: int) -> Iterator[Walk]:
        taken: Taken = Counter()
        for number in range(count):
            longest = _LENGTHS[number * len(_LENGTHS) // count]
            walk = None
            while walk is None or BEYOND_DOUBLES.search(walk.text):
                walk = random_walk(
                    self.grammar, self.random, longest=longest, again=SAID_AGAIN, taken=taken
                )
            yield walk

    def fault(self, walk: Walk) -> WalkFault | None:
        """Return what is wrong with how a walk is read, ended or not, behind any of the prompts."""
        known = schemas(self.request.tools) if self.request and self.request.tools else None
        try:
            meant = meant_by(walk, known, _escapes(self.spec))
        except (ValueError, SyntaxError) as error:  # a grammar with strings that are none
            return WalkFault(Counterexample(walk.text, "strings as they are quoted", str(error)))
        if meant.calls and _STRAY.fullmatch(meant.content):
            return None
        found: WalkFault | None = None
        for prefill in self.prefills:
            for end in ("", *turn_ends(self.spec)):
                found = self._fault(walk.text + end, prefill, meant)
                if found is None:
                    return None
        return found

    def _fault(self, text: str, prefill: str, meant: MeantTurn) -> WalkFault | None:
        options: dict[str, object] = {"prefill": prefill, "enable_thinking": self.thinking}
        # Bare JSON is a call where its name is known, so a grammar for any tools knows its own.
        any_tools = [{"name": call.name} for call in meant.calls]
        options["tools"] = list(self.request.tools) if self.request else any_tools
        try:
            parsed = self.module.parse(text, **options)
        except Exception as error:  # a parser never raises: that it did is the result
            raised = f"{type(error).__name__}: {error}"
            return WalkFault(Counterexample(text, "no exception", raised))
        read = read_as(parsed, meant)
        told = [problem for problem in parsed.problems if problem.kind != _ALLOWED]
        if told:
            example = Counterexample(text, "no problem", str(as_parsed(self.spec, parsed)))
            return WalkFault(example, is_misread=not same(meant, read))
        if not same(meant, read):
            return WalkFault(Counterexample(text, str(meant), str(read)))
        for invalid in self._invalid(parsed):
            return WalkFault(Counterexample(text, "what the schemas allow", invalid))
        cuts = sorted(Random(text).choices(range(len(text) + 1), k=5))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        found = same_in_pieces(self.spec, self.module, options, pieces, parsed)
        return WalkFault(found) if found else None

    def _invalid(self, parsed: Any) -> Iterator[str]:
        """Yield what the request doesn't allow of what was read."""
        if self.request is None:
            return
        known = schemas(self.request.tools)
        for call in parsed.tool_calls:
            yield from call_faults(call, known)
        if self.request.calls_needed and not parsed.tool_calls:
            yield "no call"
        if self.request.response_schema is not None and not parsed.tool_calls:
            validator = Draft202012Validator(self.request.response_schema)
            try:
                answer = json.loads(parsed.content)
            except ValueError:
                yield f"content that is no JSON: {parsed.content!r}"
                return
            yield from (error.message for error in validator.iter_errors(answer))


def _readings(
    spec: Spec, module: FormatModule, gbnf: str, bind: Bind, reader: Spec
) -> Iterator[_Reading | WalkFault]:
    """Yield the grammars to walk over; one that can't be made or read is a failure."""
    random = Random(_SEED)
    grammar = read_grammar(gbnf)
    if isinstance(grammar, Problem):
        yield WalkFault(Counterexample(gbnf, "a grammar that can be read", str(grammar)))
        return
    prompts = ((*it.thinking.prompts, it.turn.header) for it in (reader, spec))
    prefills = tuple(dict.fromkeys(chain.from_iterable(prompts)))
    yield _Reading(spec, module, grammar, _UNBOUND_WALKS, random, prefills)
    for offer in offers(spec):
        found = bound_grammar(offer.request, bind)
        if isinstance(found, Problem):
            yield WalkFault(Counterexample("", f"a grammar for {offer.title}", str(found)))
            continue
        lazy = found[0].lazy
        begun = tuple(dict.fromkeys(_prefill(it, offer, lazy=lazy) for it in (reader, spec)))
        thinking = offer.request.thinking
        yield _Reading(spec, module, found[1], offer.walks, random, begun, thinking, offer.request)


def _prefill(spec: Spec, offer: Offer, *, lazy: bool) -> str:
    """Return what stands before a bound grammar's turns."""
    prompt = spec.thinking.state(offer.request.thinking).prompt
    # A lazy grammar begins with the first call, when reasoning is over.
    begun = lazy and opens_reasoning(spec, prompt_extra(spec, prompt))
    return prompt + spec.reasoning.end + spec.join(Part.REASONING, Part.CALLS) if begun else prompt


def call_faults(call: Any, known: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a call: cut off, of no tool, or with arguments of another form.

    The schemas are ``known`` by the tools' names.
    """
    if not call.complete:
        yield f"{call.name} is not complete"
    if call.name not in known:
        yield f"there is no tool {call.name}"
        return
    try:
        arguments = json.loads(call.arguments)
    except ValueError as error:
        yield f"{call.name}: arguments are not JSON: {error}"
        return
    errors = Draft202012Validator(known[call.name]).iter_errors(arguments)
    yield from (f"{call.name}: {error.json_path}: {error.message}" for error in errors)


def turn_ends(spec: Spec) -> list[str]:
    """Return the ends of a turn that an engine may take away; where they show nothing, its stops.

    Without its end a turn that ends like the beginning of a marker may have been cut off there.
    """
    finals = (spec.content.end + spec.final(Part.CONTENT), spec.final(Part.CALLS))
    return [final for final in dict.fromkeys(finals) if final.strip()] or list(spec.turn.stop)


def _escapes(spec: Spec) -> Mapping[str, str]:
    """Return what stands for signs in any value."""
    arguments = spec.tools.arguments if spec.tools else Arguments()
    return {} if arguments.escapes_only_strings else arguments.value_escapes
