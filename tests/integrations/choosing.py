"""Which of a server's own parsers reads a format: all are tried on its turns, none is named here.

Runs where the server's package is installed. Each reading is done in a child process, which is
killed if it takes too long; a parser that crashed or hung is told so, and the next one goes on.
"""

from __future__ import annotations

import difflib
import gc
import json
import os
import re
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

Names = tuple[str | None, str | None]  # of a tool parser and a reasoning parser
#: Reads a case by some parsers: as a whole (0), or by so many tokens.
Read = Callable[[Names, dict[str, Any], int], Any]

SECONDS = 15  # for one reading; the machine may have other things to do
SIZES = (0, 1, 5)
_PROBES = 4  # turns on which each parser is tried, half of them on those that read none
_FINALISTS = 5  # pairs of parsers that are tried on all turns
_READINGS = 2  # reasoning parsers with which each tool parser is tried


def choose(
    form: dict[str, Any], tools: Sequence[str], reasoning: Sequence[str], read: Read
) -> dict[str, Any]:
    """Return what came of a format's cases, the best pairs first, and how many parsers there are.

    Each case has what is ``wanted``; where none has calls, or reasoning, no parser of that kind is
    tried. Of parsers that read as much, the one comes first whose name is more like the format's.
    """
    cases = form["cases"]
    calling = [case for case in cases if case["wanted"][2]]
    others = [case for case in cases if not case["wanted"][2]]
    reasons = [case for case in cases if case["wanted"][0]]

    def best(probed: dict[Names, int]) -> list[Names]:
        return sorted(probed, key=lambda names: (-probed[names], -_alike(names, form["name"])))

    pairs: list[Names] = [(None, None)]
    if reasons:
        pairs += [(None, name) for name in reasoning]
    probed = _probe(pairs, _spread(others, reasons) or cases, read)
    pairs = best(probed)
    if calling:
        heads = [names for names in pairs if probed[names]][:_READINGS] or pairs[:1]
        pairs = [(name, head[1]) for head in heads for name in tools]
        if reasons:  # a server may read a turn as a whole where both names are one parser's
            pairs += [(name, name) for name in tools if name in reasoning]
        probed = _probe(list(dict.fromkeys(pairs)), _spread(calling, reasons), read)
        pairs = best(probed)
    pairs = [names for names in pairs if probed[names]][:_FINALISTS] or pairs[:1]
    finalists = [_judged(names, cases, read) for names in pairs]
    finalists.sort(key=lambda found: (-found["pieces"], -found["whole"]))
    return {"pairs": finalists, "parsers": len(tools) + len(reasoning)}


def _alike(names: Names, name: str) -> int:
    """Return how many letters on end the names of parsers have of a format's name."""
    known = [re.sub(r"\W|_", "", text or "") for text in (*names, name)]
    matcher = difflib.SequenceMatcher(None, b=known.pop())
    total = 0
    for text in known:
        matcher.set_seq1(text)
        total += matcher.find_longest_match().size
    return total


def _spread(cases: Sequence[Any], first: Sequence[Any]) -> list[Any]:
    """Return some cases, short ones and long ones, every other one with reasoning if there are."""
    ordered = sorted(cases, key=lambda case: len(case["text"]))
    kinds = [[c for c in ordered if c in first], [c for c in ordered if c not in first]]
    kinds = [kind for kind in kinds if kind]
    share = _PROBES // max(len(kinds), 1)
    spread = [kind[:: -(-len(kind) // share)] for kind in kinds]
    return [case for group in zip_longest(*spread) for case in group if case is not None]


def _probe(pairs: Sequence[Names], probes: Sequence[Any], read: Read) -> dict[Names, int]:
    """Return how many probes each pair reads."""
    found = dict.fromkeys(pairs, 0)
    for part in (probes[: _PROBES // 2], probes[_PROBES // 2 :]):
        tried = [names for names in pairs if found[names] or part[:1] == probes[:1]]
        told = apart([partial(read, names, case, 0) for names in tried for case in part])
        for names in tried:
            found[names] += sum(not difference(case, next(told)) for case in part)
    return found


def _judged(names: Names, cases: Sequence[Any], read: Read) -> dict[str, Any]:
    told = apart([partial(read, names, case, size) for case in cases for size in SIZES])
    ways = ("whole", *(f"in pieces of {size}" for size in SIZES[1:]))
    return {"names": names, **judged(cases, ways, told)}


def judged(cases: Sequence[Any], ways: Sequence[str], told: Iterator[Any]) -> dict[str, Any]:
    """Return how many cases came back, given what each became in each way, the whole first.

    The example is the shortest text that didn't, and what became of it.
    """
    whole = pieces = 0
    failures = []
    for case in cases:
        faults = [(way, difference(case, next(told))) for way in ways]
        whole += not faults[0][1]
        if wrong := next((f"{way}: {fault}" for way, fault in faults if fault), ""):
            failures.append((case["text"], wrong))
        pieces += not wrong
    example = min(failures, key=lambda found: len(found[0]), default=None)
    return {"whole": whole, "pieces": pieces, "example": example}


def difference(case: dict[str, Any], told: Any) -> str:
    """Return what was read otherwise than meant, "" if nothing was.

    White space at the ends of texts, and the style of JSON, are no difference.
    """
    if isinstance(told, str):
        return told
    reasoning, content, calls = told
    got = [reasoning.strip(), content.strip(), [_call(case["trims"], *call) for call in calls]]
    words = ("reasoning", "content", "calls")
    pairs = zip(words, case["wanted"], got, strict=True)
    unequal = [f"{word} {_short(said)}" for word, meant, said in pairs if meant != said]
    return "; ".join(unequal)


def _call(trims: bool, name: str, arguments: str) -> list[Any]:
    try:
        found = json.loads(arguments)
    except (TypeError, ValueError):
        return [name, f"not JSON: {arguments}"]
    if trims and isinstance(found, dict):
        found = {k: v.strip() if isinstance(v, str) else v for k, v in found.items()}
    return [name, found]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:160]}…"


def apart(jobs: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Yield what each job returns, as JSON has it; a string says what went wrong."""
    done = 0
    gc.freeze()  # what a child's collection would touch is copied
    while done < len(jobs):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _work(jobs[done:], writer)
        os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as answers:
            for told in _answers(answers, len(jobs) - done):
                done += 1
                yield told
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _work(jobs: Sequence[Callable[[], Any]], writer: int) -> None:
    """Do the jobs in a child process, which ends here."""
    try:
        for job in jobs:
            try:
                told = job()
            except Exception as error:  # whatever it raises is what we are to know
                told = f"raises {type(error).__name__}: {error}"[:200]
            line = json.dumps(told).encode() + b"\n"
            while line:
                line = line[os.write(writer, line) :]
    finally:
        os._exit(0)


def _answers(answers: Any, count: int) -> Iterator[Any]:
    """Yield the answers of a child; the last one says why there is none where it stopped."""
    waiting = b""
    for _ in range(count):
        while b"\n" not in waiting:
            if not select.select([answers], [], [], SECONDS)[0]:
                yield f"takes more than {SECONDS} s"
                return
            if not (data := answers.read(1 << 16)):
                yield "ends the process"
                return
            waiting += data
        line, _, waiting = waiting.partition(b"\n")
        yield json.loads(line)
