"""Sanity of a spec in its parser and its grammar: what they make of what the spec allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from turnspec.analysis.text import markers
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.rendering.conversation import schema_of, tool_definitions
from turnspec.spec.calls import Slot, Tools
from turnspec.spec.characters import call_ends, is_key, is_name, not_in_keys
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, SlotKind, ToolMode
from turnspec.spec.yaml_text import quoted
from turnspec.verification import messages
from turnspec.verification.comparing import Turn, as_meant, as_read
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.messages import allowed_call, ambiguous_types, format_markers
from turnspec.verification.prompts import prompts_of
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.sanity_view import Finding, View
from turnspec.verification.turns import expected_message, written_input
from turnspec.verification.written_turns import may_be_written

_THOUGHT, _ANSWER = "qxthought", "qxanswer"

#: Characters of which some stand in names, some in keys and some in neither.
_SIGNS = "_.:/-$@#+*?!&%;,=|~^<>()[]{}\"'`\\ é中"


def leaks(view: View) -> Iterator[Finding]:
    """A block that the template leaves empty is no content when there is something in it.

    Nor does that cost the call behind it.
    """
    spec = view.spec
    opener = spec.content.start or spec.join(Part.REASONING, Part.CONTENT)
    own = [(opener, spec.content.end)]
    own += [(spec.tools.section_start, spec.tools.section_end)] if spec.tools else []
    known = format_markers(spec)
    shared = _shared_words(known)
    for path, text in _literals(spec):
        for opening, closing in _empty_blocks(text, shared):
            is_own = any(opening in start and closing in end for start, end in own)
            if is_own or _has_other_end(opening, closing, known):
                continue  # what stands in that is content, or a call
            filled = f"{opening}\n{_THOUGHT}\n{closing}"
            said = f"{filled}\n\n{_ANSWER}" + spec.final(Part.CONTENT)
            found = as_read(spec, view.module, Turn(said, spec.turn.header, ())).content
            if any(part in found for part in (opening, closing, _THOUGHT)):
                yield path, f"holds an empty block; a text in one is content: {quoted(found)}"
            elif lost := _lost_call(view, f"{opening}{closing}", filled):
                yield path, f"holds an empty block; a text in one costs a call: {quoted(lost)}"


def _literals(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield what a format writes before a part, and between two, by its path."""
    for join in spec.turn.joins:
        path = f"turn.joins.{join.left}.{join.right}.{join.when}"
        yield path.removesuffix(".always"), join.text
    yield "reasoning.start", spec.reasoning.start
    yield "content.start", spec.content.start
    if spec.tools is not None:
        yield "tools.section_start", spec.tools.section_start
        yield "tools.call.0", spec.tools.call[0].text
        yield "tools.separator", spec.tools.separator
    for path, prompt in prompts_of(spec.thinking):
        yield path, prompt.removeprefix(spec.turn.header)


def _lost_call(view: View, empty: str, filled: str) -> str | None:
    """Return a turn that has other calls once its first empty block holds something, or None."""
    for message, text in view.turns():
        if message.calls and empty in text:
            said = text.replace(empty, filled, 1)
            offered = tool_definitions(message.calls)
            found = as_read(view.spec, view.module, Turn(said, view.spec.turn.header, offered))
            return said if found.calls != as_meant(view.spec, message).calls else None
    return None


def _shared_words(texts: Iterable[str]) -> set[str]:
    """Return the words with which more markers end than one that opens and one that closes.

    They say whose the markers are, and not what they are about.
    """
    ends = Counter(_words(marker)[-1:] for marker in {m for text in texts for m in markers(text)})
    return {word for words, number in ends.items() for word in words if number > 2}


def _empty_blocks(text: str, shared: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield two markers with nothing between them of which the second closes what the first opens.

    They are about the same: they end with the same word, but for those that are ``shared``.
    """
    found = markers(text)
    for opening, closing in pairwise(found):
        between = text.partition(opening)[2].partition(closing)[0]
        is_pair = opening != closing and not re.match(r"\W+/", opening)
        words = [[w for w in _words(it) if w not in shared][-1:] for it in (opening, closing)]
        if is_pair and not between.strip() and words[0] == words[1] != []:
            yield opening, closing


def _has_other_end(opening: str, closing: str, known: Iterable[str]) -> bool:
    """Tell whether another marker differs from the one that opens by its last word alone."""
    first, last = _words(opening), _words(closing)
    others = [_words(marker) for text in known for marker in markers(text)]
    return first != last and any(
        words[:-1] == first[:-1] != () and words not in (first, last) for words in others
    )


def _words(marker: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in re.findall(r"[^\W_]+", marker))


def values(view: View) -> Iterator[Finding]:
    """Parser and grammar agree on values at the edges of what a type can be."""
    spec = view.spec
    if spec.tools is None:
        return
    told = ambiguous_types(spec)
    asked = [v for kind, found in messages.EDGE_VALUES.items() if kind not in told for v in found]
    keys = {f"qxk{number}": value for number, value in enumerate(asked)}
    grammar = _bound_to(spec, keys)
    for key, value in keys.items():
        call = allowed_call(spec, Call("qxprobe", {key: value}, "abcdefgh1"))
        message = expected_message(spec, Message(calls=(call,)))
        if not message.calls or message.calls[0].arguments != {key: value}:
            continue
        written = written_input(spec, message, thinking=True)
        if written is None or not may_be_written(spec, message):
            continue
        is_read = as_read(spec, view.module, written) == as_meant(spec, message)
        is_allowed = grammar is not None and grammar.accepts(written.text)
        if is_read != is_allowed:
            path = f"tools.arguments.values.{json_type(value)}"
            yield path, f"{value!r} is {_verdict(is_read, is_allowed)}: {quoted(written.text)}"


def _verdict(is_read: bool, is_allowed: bool) -> str:
    read = "read" if is_read else "not read"
    return f"{read} by the parser and {'allowed' if is_allowed else 'refused'} by the grammar"


def _bound_to(spec: Spec, arguments: Mapping[str, object]) -> Recognizer | None:
    """Return the grammar for a tool that may be given each of the arguments, or none."""
    properties = {key: schema_of([value]) for key, value in arguments.items()}
    parameters = {"type": "object", "properties": properties}
    tool = {"type": "function", "function": {"name": "qxprobe", "parameters": parameters}}
    request = GrammarRequest([tool], tool_choice=ToolChoice.REQUIRED, thinking=True)
    bound = bind_grammar(spec, request)
    if not isinstance(bound, BoundGrammar):
        return None
    grammar = read_grammar(bound.grammar)
    return Recognizer(grammar) if isinstance(grammar, Grammar) else None


@dataclass(frozen=True, slots=True)
class _Named:
    """What may be called so: a name, an id or a key, and the calls that are."""

    path: str
    kind: SlotKind
    text: str
    is_one: bool
    ends: str

    def call(self) -> Call:
        """Return a call in which something is called so."""
        name = self.text if self.kind is SlotKind.NAME else "qxtool"
        key = self.text if self.kind is SlotKind.KEY else "qxkey"
        return Call(name, {key: 7}, self.text if self.kind is SlotKind.ID else "qxident01")


def names(view: View) -> Iterator[Finding]:
    """Parser and grammar take the same for a name, an id and a key: what the definition says."""
    spec = view.spec
    if spec.tools is None:
        return
    # Inside of JSON a string's own quotes say where a name ends, so a parser reads any.
    reads_any = spec.tools.mode is ToolMode.JSON_NATIVE
    for named in _named(spec.tools):
        message = expected_message(spec, Message(calls=(allowed_call(spec, named.call()),)))
        written = written_input(spec, message, thinking=True)
        if not message.calls or message.calls[0] != named.call() or written is None:
            continue
        is_read = as_read(spec, view.module, written) == as_meant(spec, message)
        is_read = named.is_one if reads_any and is_read else is_read
        is_allowed = view.allows(written.text)
        if set(named.ends) & set(named.text) or spec.named_lines:
            is_allowed = named.is_one  # something else begins there, which may be allowed
        if (is_read, is_allowed) != (named.is_one, named.is_one):
            wanted = "should be" if named.is_one else "shouldn't be"
            text = f"{named.text!r} {wanted} one; it is {_verdict(is_read, is_allowed)}"
            yield named.path, f"{text}: {quoted(written.text)}"


def _named(tools: Tools) -> Iterator[_Named]:
    kinds = {SlotKind.NAME: "tools.call", SlotKind.ID: "tools.call"}
    for kind, path in kinds.items():
        if Slot(kind) in tools.call:
            ends = call_ends(tools, kind)
            for sign in _SIGNS:
                text = f"qx{sign}more78"
                yield _Named(path, kind, text, is_name(text, ends), ends)
    if Slot(SlotKind.KEY) in tools.arguments.item:
        ends = not_in_keys(tools)
        for sign in _SIGNS:
            text = f"qx{sign}key"
            yield _Named("tools.arguments.item", SlotKind.KEY, text, is_key(text, ends), ends)
