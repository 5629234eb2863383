"""Each comparison of the analysis as the smallest pair of renderings that shows it.

The analysis compares many renderings at once and keeps no pairs. Here each comparison is made once
more on two that differ in one thing alone, in the dialect and under the setting that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from turnspec.analysis.findings import Finding
from turnspec.analysis.probes import CONTENT, IDS, KEYS, NAMES, REASONING, VALUES, probe_call
from turnspec.analysis.text import whole_prefix, whole_suffix
from turnspec.rendering import conversation
from turnspec.rendering.conversation import USER_TEXT, Chat, result_message, user_message
from turnspec.rendering.worker import Rendering
from turnspec.review.facts import Area, Facts, spec_facts
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import JsonType
from turnspec.verification.turns import never_renders_calls


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two renderings: what was rendered, and the text, or None and the error."""

    given: str
    text: str | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two renderings, and the texts at their beginning and end that they have in common."""

    left: Side
    right: Side
    before: str
    after: str

    @property
    def is_there(self) -> bool:
        """Whether the two are different texts."""
        return None not in (self.left.text, self.right.text) and self.left.text != self.right.text

    @property
    def place(self) -> tuple[str, str]:
        """Where the two differ: what stands before it, and after."""
        return self.before, self.after

    @property
    def parts(self) -> tuple[str, str]:
        """What differs, of the left and of the right."""
        end = len(self.after)
        texts = (self.left.text or "", self.right.text or "")
        first, second = (text[len(self.before) : len(text) - end] for text in texts)
        return first, second


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison: its name, what it asks, the renderings, what was taken, and what was noted."""

    name: str
    question: str
    differences: tuple[Difference, ...]
    taken: Mapping[str, str]  # facts of the spec, by name
    findings: tuple[Finding, ...]  # the analysis' own notes


_Pairs = Callable[[Chat, Spec], Iterator[Difference]]


class _Needs(Enum):
    """What a format has to have for a comparison to say anything."""

    NOTHING = auto()
    CALLS = auto()
    TAGGED_ARGUMENTS = auto()


@dataclass(frozen=True, slots=True)
class _Kind:
    question: str
    pairs: _Pairs
    facts: tuple[str, ...]
    needs: _Needs = _Needs.CALLS


def compare(spec: Spec, chat: Chat, findings: tuple[Finding, ...]) -> tuple[Comparison, ...]:
    """Return all comparisons of a template in their order; ``chat`` speaks in its dialect."""
    using = chat.using(spec.thinking.enabled.variables)
    facts = spec_facts(spec) | _given_as(spec)
    there = _what_is_there(spec)
    found = []
    for name, kind in _KINDS.items():
        if kind.needs not in there:
            continue
        # Some steps of the analysis are taken twice, and note the same.
        noted = tuple(dict.fromkeys(note for note in findings if note.comparison == name))
        differences = tuple(kind.pairs(using, spec))
        if differences or noted:
            taken = _taken(facts, kind.facts)
            if name == "T1" and spec.tools and _Needs.CALLS not in there:
                taken = {"nothing: calls are known from the overlay alone": ""}
            found.append(Comparison(name, kind.question, differences, taken, noted))
    return tuple(found)


def _what_is_there(spec: Spec) -> set[_Needs]:
    """Return what is rendered; calls that only an overlay knows are not."""
    if spec.tools is None or never_renders_calls(spec):
        return {_Needs.NOTHING}
    if not spec.tools.arguments.item:
        return {_Needs.NOTHING, _Needs.CALLS}
    return set(_Needs)


def _given_as(spec: Spec) -> Facts:
    """Return in one fact whether arguments are an object or stand one by one."""
    if spec.tools is None:
        return {}
    arguments = spec.tools.arguments
    form = "tags, one by one" if arguments.item else f"one object, {arguments.syntax.encoding}"
    return {(Area.ARGUMENTS, "given as"): form}


def _taken(facts: Facts, wanted: tuple[str, ...]) -> dict[str, str]:
    """Return the facts of these names; a name may stand for all that begin with it."""
    areas = (Area.MODE, Area.MARKER, Area.TURN_END, Area.THINKING, Area.ARGUMENTS)
    found: dict[str, str] = {}
    for name in wanted:
        for (area, fact), text in facts.items():
            if area in areas and (fact == name or (name[-1] == "*" and fact.startswith(name[:-1]))):
                label = f"{fact} mode" if area is Area.MODE and " " not in fact else fact
                found[label] = text
    return found


def _difference(given: tuple[str, str], left: Rendering, right: Rendering) -> Difference:
    sides = Side(given[0], left.text, left.error), Side(given[1], right.text, right.error)
    if left.text is None or right.text is None or left.text == right.text:
        return Difference(*sides, "", "")
    before = whole_prefix([left.text, right.text])
    after = whole_suffix([left.text[len(before) :], right.text[len(before) :]])
    return Difference(*sides, before, after)


def _first_that_differs(found: Iterator[Difference]) -> Iterator[Difference]:
    """Keep the first pair whose texts differ, or the first of all."""
    pairs = list(found)
    yield next((pair for pair in pairs if pair.is_there), pairs[0])


def _turns(chat: Chat, given: tuple[str, str], left: Message, right: Message) -> Difference:
    return _difference(given, chat.turn(left), chat.turn(right))


def _reasoning(chat: Chat, spec: Spec) -> Iterator[Difference]:
    calls = (probe_call(0),) if spec.tools else ()
    bases = [Message(CONTENT), Message(calls=calls), Message(CONTENT, calls=calls)]
    given = "no reasoning", "reasoning"
    yield from _first_that_differs(
        _turns(chat, given, base, replace(base, reasoning=REASONING)) for base in bases
    )


def _switch(chat: Chat, spec: Spec) -> Iterator[Difference]:
    thinking = spec.thinking
    on, off_variables = thinking.enabled.variables, thinking.disabled.variables
    if on != off_variables:
        given = f"prompt with {_values(on)}", f"prompt with {_values(off_variables)}"
        off = chat.using(off_variables)
        yield _difference(given, chat.prompt(), off.prompt())
    else:
        given = "no generation prompt", "a generation prompt"
        yield _difference(given, chat.prompt(add_generation_prompt=False), chat.prompt())


def _values(variables: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in variables.items()) or "no variable set"


def _scope(chat: Chat, spec: Spec) -> Iterator[Difference]:
    if not spec.reasoning.field:
        return
    last = chat.assistant_message(Message("lastqa"))
    call, asked = probe_call(0), user_message(conversation.NEXT_USER_TEXT)

    def after(past: Message) -> Rendering:
        between = result_message(call) if past.calls else asked
        messages = [user_message(USER_TEXT), chat.assistant_message(past), between, last]
        rendering = chat.render(messages)
        if rendering.text is None:
            return rendering
        return Rendering(rendering.text.partition(USER_TEXT)[2])

    given = "before the last user's message: no reasoning", "reasoning"
    yield _difference(given, after(Message(CONTENT)), after(Message(CONTENT, REASONING)))
    if spec.tools is not None:
        given = "since the last user's message: no reasoning", "reasoning"
        past = Message(calls=(call,))
        yield _difference(given, after(past), after(replace(past, reasoning=REASONING)))


def _content(chat: Chat, spec: Spec) -> Iterator[Difference]:
    given = "the prompt that asks for a turn", "a turn of content"
    yield _difference(given, chat.prompt(), chat.turn(Message(CONTENT)))


def _presence(chat: Chat, spec: Spec) -> Iterator[Difference]:
    given = "content", "content and a call"
    calls = (probe_call(0),)
    pairs = [(Message(CONTENT), Message(CONTENT, calls=calls)), (Message(), Message(calls=calls))]
    yield from _first_that_differs(_turns(chat, given, *pair) for pair in pairs)


def _given_calls(one: str, calls: tuple[Call, ...], other: str, others: tuple[Call, ...]) -> _Pairs:
    def pairs(chat: Chat, spec: Spec) -> Iterator[Difference]:
        yield _calls(chat, (one, other), calls, others)

    return pairs


def _given_arguments(
    one: str, arguments: Mapping[str, object], other: str, others: Mapping[str, object]
) -> _Pairs:
    left, right = (Call(NAMES[0], given, IDS[0]) for given in (arguments, others))
    return _given_calls(one, (left,), other, (right,))


def _calls(
    chat: Chat, given: tuple[str, str], left: tuple[Call, ...], right: tuple[Call, ...]
) -> Difference:
    """Compare turns of calls, with content where there is no call without."""
    bare = _turns(chat, given, Message(calls=left), Message(calls=right))
    if None not in (bare.left.text, bare.right.text):
        return bare
    return _turns(chat, given, Message(CONTENT, calls=left), Message(CONTENT, calls=right))


#: A value of each type beside strings.
_TYPED: Mapping[JsonType, object] = {
    JsonType.INTEGER: 7,
    JsonType.NUMBER: 1.5,
    JsonType.BOOLEAN: True,
    JsonType.NULL: None,
    JsonType.ARRAY: [1, "x"],
    JsonType.OBJECT: {"x": 1},
}


def _types(chat: Chat, spec: Spec) -> Iterator[Difference]:
    """A string's value against one of each other type."""
    text = (Call(NAMES[0], {KEYS[0]: VALUES[0]}, IDS[0]),)
    for kind, value in _TYPED.items():
        typed = (Call(NAMES[0], {KEYS[0]: value}, IDS[0]),)
        yield _calls(chat, ("a string", f"{kind} {value!r}"), text, typed)


_CALL = probe_call(0)
_RENAMED = replace(_CALL, name=NAMES[1])
_ONE = {KEYS[0]: VALUES[0]}
_TWO = {KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]}

_THINKING_FACTS = (
    *("prompt by default", "enabled by", "prompt when enabled"),
    *("disabled by", "prompt when disabled", '"*'),
)

_KINDS: Mapping[str, _Kind] = {
    "R1": _Kind(
        "how is reasoning shown?",
        _reasoning,
        ("reasoning", "reasoning start", "reasoning end", "reasoning is read from"),
        needs=_Needs.NOTHING,
    ),
    "R2": _Kind(
        "what does the generation prompt say of reasoning?",
        _switch,
        _THINKING_FACTS,
        needs=_Needs.NOTHING,
    ),
    "R3": _Kind(
        "is earlier reasoning kept?", _scope, ("reasoning is shown for",), needs=_Needs.NOTHING
    ),
    "R4": _Kind(
        "is reasoning stripped from messages?",
        lambda chat, spec: iter(()),  # what the analysis noted is all there is
        ("reasoning start", "reasoning end"),
        needs=_Needs.NOTHING,
    ),
    "C1": _Kind(
        "what stands around content?",
        _content,
        ("content", "header", "content start", "content end", "after content", "stop string*"),
        needs=_Needs.NOTHING,
    ),
    "T1": _Kind(
        "how are calls shown?",
        _presence,
        ("tools", "between content and calls", "calls start", "calls end", "after calls"),
        needs=_Needs.NOTHING,
    ),
    "T2": _Kind(
        "what stands between two calls?",
        _given_calls("one call", (_CALL,), "two calls", (_CALL, probe_call(1))),
        ("between calls", "after the first call", "end of a single call"),
    ),
    "T3": _Kind(
        "where is the name?",
        _given_calls(f"a call of {NAMES[0]}", (_CALL,), f"of {NAMES[1]}", (_RENAMED,)),
        ("call", "key of the name"),
    ),
    "T4": _Kind(
        "where are the arguments?",
        _given_arguments("one argument", _ONE, "another key and value", {KEYS[1]: VALUES[1]}),
        ("given as", "key of the arguments"),
    ),
    "A1": _Kind(
        "where is an argument's name?",
        _given_arguments("an argument", _ONE, "of another name", {KEYS[1]: VALUES[0]}),
        ("argument",),
        needs=_Needs.TAGGED_ARGUMENTS,
    ),
    "A2": _Kind(
        "how is a value of each type written?",
        _types,
        (
            *(f"{kind} as" for kind in JsonType),
            *("type word of*", "guard", "member*", "element*", "syntax*"),
        ),
    ),
    "T5": _Kind(
        "what stands between two arguments?",
        _given_arguments("one argument", _ONE, "two arguments", _TWO),
        ("between arguments",),
        needs=_Needs.TAGGED_ARGUMENTS,
    ),
    "T6": _Kind(
        "what stands around all arguments?",
        _given_arguments("no arguments", {}, "one argument", _ONE),
        ("arguments start", "arguments end", "no arguments", "call without arguments"),
    ),
    "T7": _Kind(
        "where is the id?",
        _given_calls(
            f"the id {IDS[0]}", (_CALL,), f"the id {IDS[1]}", (replace(_CALL, id=IDS[1]),)
        ),
        ("call id", "call index", "key of the id"),
    ),
}
