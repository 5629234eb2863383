"""What parsers that are generators could lose in mid-stream: copies, freedom, and a clear end.

A parser is copied, dropped, interrupted and used by two threads at once, in the midst of text, of
calls, of values and of what may be a draft in reasoning.
"""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import tracemalloc
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from threading import Barrier, Thread
from types import GeneratorType
from typing import Any

import pytest
from benchmarks.cases import LongText, has_part, long_turn

from tests.generated_formats import (
    EVERY_FORMAT,
    KINDS,
    PARTS,
    committed_format,
    committed_spec,
    installed_module,
    module_source,
)
from tests.parser_checks import Item, assert_in_order, some
from tests.steps import at_step, steps_of
from tests.test_parser_promises import assert_grown, assert_told
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import SAID, THOUGHT, Case
from turnspec.engine.json_texts import load_json
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a turn: what has come before it, what comes, and how it is parsed."""

    before: str
    after: str
    options: dict[str, Any]

    def parser(self, module: FormatModule) -> Any:
        """Return a parser that has come up to here, in pieces."""
        parser = module.Parser(**self.options)
        for at in range(0, len(self.before), 5):
            parser.feed(self.before[at : at + 5])
        return parser


@cache
def places(name: str, most: int) -> Sequence[Place]:
    """Return places in a turn with all parts, whose reasoning may stay, and in deviating turns."""
    return list(_all_places(name, most))


def _all_places(name: str, most: int) -> Iterator[Place]:
    form = committed_format(name)
    turn = form.write(form.message)
    for at in some(range(len(turn) + 1), most):
        yield Place(turn[:at], turn[at:], dict(form.options))
        yield Place(turn[:at], turn[at:], {**form.options, "reasoning": "inline", "echo": True})
    for case in first_deviations(name):
        at = len(case.text) * 3 // 5
        yield Place(case.text[:at], case.text[at:], dict(case.options))


@cache
def first_deviations(name: str) -> Sequence[Case]:
    """Return the first case of each deviation."""
    form = committed_format(name)
    return [case for build in DEVIATIONS.values() for case in islice(build(form), 1)]


def rest_of(parser: Any, place: Place) -> tuple[Any, Any]:
    """Return the events and the message of the rest."""
    events = [event for sign in place.after for event in parser.feed(sign)]
    return events + parser.finish(), parser.message


@pytest.mark.parametrize("name", KINDS)
def test_the_message_only_grows_and_events_tell_of_it(name: str) -> None:
    """Sign by sign; in what may be a draft, too, wherever that begins."""
    module = installed_module(name)
    for place in [*places(name, 2), *drafts(name)]:
        parser = module.Parser(**place.options)
        events, before = parser.feed(""), parser.message
        for sign in place.before + place.after:
            events += parser.feed(sign)
            assert_told(events, parser.message)
            assert_grown(before, parser.message)
            before = parser.message
        events += parser.finish()
        assert_grown(before, parser.message)
        assert_in_order(events, parser.message)


def drafts(name: str) -> Iterator[Place]:
    """Yield content, then reasoning in which there is a call, and what may follow that."""
    form = committed_format(name)
    start, end = form.spec.reasoning.start, form.spec.reasoning.end
    if not (form.calls and start.strip() and end.strip()):
        return
    call = f"{form.tools.section_start}{form.call_text(form.call)}{form.tools.section_end}".strip()
    for after in (call, f"{call} Hm.{end}{SAID}", f"{call}{end}{SAID}"):
        for options in ({}, {"reasoning": "inline"}, {"echo": True}):
            yield Place(f"{SAID}{start}{THOUGHT} ", after, {**form.options, **options})


# Copies


def _pickled(parser: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(parser, protocol))


#: The ways to copy a parser; of these every other one is taken at a place, in turn.
COPYING: tuple[Callable[[Any], Any], ...] = (
    copy.copy,
    copy.deepcopy,
    partial(_pickled, protocol=0),
    partial(_pickled, protocol=5),
)


@pytest.mark.parametrize("name", PARTS)
def test_a_copy_goes_on_as_the_original_does(name: str) -> None:
    module = installed_module(name)
    for number, place in enumerate(places(name, 8)):
        parser = place.parser(module)
        copies = [way(parser) for way in (COPYING if EVERY_FORMAT else COPYING[number % 2 :: 2])]
        assert {type(other) for other in copies} == {module.Parser}
        assert [other.message for other in copies] == [parser.message] * len(copies)
        whole = rest_of(parser, place)
        assert [rest_of(other, place) for other in copies] == [whole] * len(copies), place
        ended = copy.copy(parser)
        assert ended.message == parser.message
        with pytest.raises(ValueError, match=r"feed\(\) after finish\(\)"):
            ended.feed("x")


@pytest.mark.parametrize("name", PARTS)
def test_a_copy_that_goes_on_leaves_the_original_alone(name: str) -> None:
    module = installed_module(name)
    for place in places(name, 8):
        parser, other = place.parser(module), place.parser(module)
        before = parser.message
        rest_of(copy.copy(parser), place)
        assert parser.message == before
        assert rest_of(parser, place) == rest_of(other, place)


@pytest.mark.parametrize("name", KINDS)
def test_special_tokens_are_copied_as_such(name: str) -> None:
    form, module = committed_format(name), installed_module(name)
    end = form.spec.turn.stop[0] if form.spec.turn.stop else "<end>"
    parser = module.Parser(special_tokens=[end], stop=[end], prefill=form.spec.turn.header)
    parser.feed("It rains. ")
    parser.feed(end)
    parser.feed(" More. ")
    parser.feed(end, special=True)
    other = pickle.loads(pickle.dumps(parser))
    assert (other.finish(), other.message) == (parser.finish(), parser.message)


# Memory


@pytest.mark.parametrize("name", KINDS)
def test_a_parser_that_is_dropped_is_freed_at_once(name: str) -> None:
    """No reference cycle waits for the garbage collector, wherever the text breaks off."""
    module = installed_module(name)
    there = places(name, 12)
    for place in there:  # what is made once for all parsers
        place.parser(module)
    with garbage() as found:
        for place in there:
            parser = place.parser(module)
            dropped = [weakref.ref(parser), weakref.ref(vars(parser)["_turn"])]
            del parser
            assert [there() for there in dropped] == [None, None], place
    kinds = {type(it) for it in found}
    assert [kind for kind in kinds if kind.__module__ == vars(module)["__name__"]] == []
    assert GeneratorType not in kinds


@contextmanager
def garbage() -> Iterator[list[object]]:
    """Turn the garbage collector off, and give what it finds in the end: Python's own, too."""
    found: list[object] = []
    gc.freeze()  # so that it looks at nothing that was there before, which takes long
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()


# Interruptions


#: What can be called in mid-stream. A sign may pass through at once, without being read.
CALLS: dict[str, Callable[[Any, Place], object]] = {
    "feed() with a sign": lambda parser, place: parser.feed(place.after[:1]),
    "feed() with a piece": lambda parser, place: parser.feed(place.after[:9]),
    "finish()": lambda parser, _: parser.finish(),
}


#: What another thread may call meanwhile, or the same one after an exception.
USES: dict[str, Callable[[Any], object]] = {
    "feed": lambda parser: parser.feed("x"),
    "finish": lambda parser: parser.finish(),
}


@cache
def last_steps(name: str) -> Sequence[tuple[Place, str, int]]:
    """Return all calls, with how many steps each takes."""
    module, found = installed_module(name), list[tuple[Place, str, int]]()
    for place in places(name, 5):
        for title, call in CALLS.items():
            call(place.parser(module), place)  # what is made once for all parsers
            last = steps_of(module, partial(call, place.parser(module), place))
            found.append((place, title, last))
    return found


def all_steps(name: str, most: int) -> Iterator[tuple[Place, str, int]]:
    """Yield the steps of all calls, but the first two of each: then nothing was done."""
    for place, title, last in last_steps(name):
        for step in some(range(3, last + 1), most):
            yield place, title, step


def with_one_of(
    items: Sequence[Item], name: str, most: int
) -> Iterator[tuple[Item, Place, str, int]]:
    """Yield such steps with one of some items each, in turn; in the long runs with all of them."""
    for number, step in enumerate(all_steps(name, most)):
        for item in items if EVERY_FORMAT else [items[number % len(items)]]:
            yield (item, *step)


def raising(error: type[BaseException]) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def interrupted(
    call: Callable[[], object], module: FormatModule, step: int, error: type[BaseException]
) -> bool:
    """Return whether an exception at a step of a call comes out of it."""
    try:
        with at_step(module, step, raising(error)):
            call()
    except error:
        return True
    return False


@pytest.mark.parametrize("name", PARTS)
def test_after_an_exception_the_message_stays_and_the_next_call_raises(name: str) -> None:
    module = installed_module(name)
    for error, place, title, step in with_one_of((KeyboardInterrupt, MemoryError), name, 6):
        parser = place.parser(module)
        before = parser.message
        if not interrupted(partial(CALLS[title], parser, place), module, step, error):
            assert error is MemoryError  # as Python's own parser says of what is nested too deeply
            continue
        assert_grown(before, parser.message)
        stopped = parser.message
        for use in ("feed", "finish", "feed"):
            with pytest.raises(RuntimeError, match="exception ended"):
                USES[use](parser)
        assert parser.message == stopped


# Threads


@dataclass(slots=True)
class Second:
    """Another thread that uses a parser, and with what error it comes back."""

    parser: Any
    use: str
    error: str = ""

    def run(self) -> None:
        """Use it, and wait until that is done."""
        thread = Thread(target=self._try)
        thread.start()
        thread.join()

    def _try(self) -> None:
        try:
            USES[self.use](self.parser)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", PARTS)
def test_a_second_thread_is_refused_and_changes_nothing(name: str) -> None:
    """Whatever the first one does with the parser at that moment."""
    module = installed_module(name)
    for use, place, title, step in with_one_of(tuple(USES), name, 2):
        parser, alone = place.parser(module), place.parser(module)
        second = Second(parser, use)
        with at_step(module, step, second.run):
            given = CALLS[title](parser, place)
        assert second.error.startswith("RuntimeError: in use by another thread"), (place, title)
        assert given == CALLS[title](alone, place), (place, title, step)
        assert parser.message == alone.message
        assert copy.copy(parser).message == parser.message


@pytest.mark.parametrize("name", PARTS)
def test_parsers_side_by_side_share_nothing_that_changes(name: str) -> None:
    """Each thread has a parser of its own; with what they share they begin at the same moment."""
    module = load_module(module_source(name))
    there = places(name, 4)
    barrier, found, interval = Barrier(4), dict[int, Any](), sys.getswitchinterval()

    def read(number: int) -> None:
        barrier.wait()
        found[number] = [rest_of(place.parser(module), place) for place in there]

    threads = [Thread(target=read, args=(number,)) for number in range(4)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    alone = [rest_of(place.parser(module), place) for place in there]
    assert [found[number] for number in range(4)] == [alone] * 4


@pytest.mark.parametrize("name", KINDS)
def test_reading_changes_nothing_in_the_module(name: str) -> None:
    module = installed_module(name)
    before = data_of(module)
    for place in places(name, 4):
        rest_of(place.parser(module), place)
    assert data_of(module) == before


def data_of(module: FormatModule) -> dict[str, str]:
    """Return what a module and its classes hold as data."""
    holders = {"": vars(module)} | {
        f"{name}.": vars(value) for name, value in vars(module).items() if isinstance(value, type)
    }
    return {
        place + name: repr(value)
        for place, names in holders.items()
        for name, value in names.items()
        if isinstance(value, list | dict | set | frozenset | tuple) and not name.startswith("__")
    }


# How deep, and how much


#: Values that are nested as no stack of calls could be.
NESTED = {"arrays": "[" * 5_000, "objects": '{"a":' * 5_000, "signs": "-" * 5_000}


def nested_turns(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield turns in which a value is nested deeply, with tools that expect it and that don't."""
    spec = committed_format(name).spec
    call = allowed_call(spec, Call("look", {"days": 73}, "id0000001"))
    turn = write_parts(spec, Message("", "", (call,)), Part.START)
    for nested in NESTED.values():
        for schema in ({"type": ["array", "object"]}, {"type": "string"}, {}):
            tool = {"name": "look", "parameters": {"properties": {"days": schema}}}
            yield turn.replace("73", nested), {"tools": [tool], "prefill": spec.turn.header}
        yield turn.replace("73", nested), {"prefill": spec.turn.header}


@pytest.mark.parametrize("name", [name for name in PARTS if committed_spec(name).tools])
def test_a_value_may_be_nested_as_deeply_as_it_likes(name: str) -> None:
    module = installed_module(name)
    for text, options in nested_turns(name):
        for size in (len(text), 997):
            parser = module.Parser(**options)
            with few_frames():
                for at in range(0, len(text), size):
                    parser.feed(text[at : at + size])
                parser.finish()
            [call] = parser.message.tool_calls
            assert parser.message.problems or isinstance(load_json(call.arguments), dict)
            assert not call.complete or load_json(call.arguments)


@contextmanager
def few_frames() -> Iterator[None]:
    """Let no more than a few functions call each other."""
    limit, depth, frame = sys.getrecursionlimit(), 0, inspect.currentframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 60)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


#: Bytes that a parser takes in the midst of a short turn, in the mean; and with each character of a
#: long text in pieces of four. Each of these takes 15 by itself.
_PARSER, _CHARACTER = 10_000, 26


@contextmanager
def counted() -> Iterator[Callable[[], int]]:
    """Give what tells how many bytes were taken since."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield lambda: tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", KINDS)
def test_a_parser_in_mid_stream_takes_little_memory(name: str) -> None:
    module = installed_module(name)
    there = places(name, 6)
    for place in there:  # what is made once for all parsers
        place.parser(module)
    with counted() as taken:
        parsers = [place.parser(module) for place in there]
        assert taken() <= _PARSER * len(parsers)


@pytest.mark.parametrize("name", PARTS)
def test_a_long_text_takes_little_more_memory_than_itself(name: str) -> None:
    module, spec = installed_module(name), committed_spec(name)
    for part in (part for part in LongText if has_part(spec, part)):
        turn = long_turn(spec, part, 40_000)
        options = {"tools": turn.tools, "prefill": spec.turn.header}
        module.parse(turn.whole, **options)
        parser = module.Parser(**options)
        parser.feed(turn.lead)
        with counted() as taken:
            for at in range(0, len(turn.body), 4):
                parser.feed(turn.body[at : at + 4])
            assert taken() <= _CHARACTER * len(turn.body), part
