"""What suites of programs that serve models share: their turns, and what a reading has to give."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.integrations.environments import FOLDER
from tests.integrations.turns import Case
from turnspec.sources.cache import cache_folder
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.transcripts.run import all_cores
from turnspec.verification.comparing import Said, trims_strings

_VOCABULARY = "vendor/llama.cpp/models/ggml-vocab-gpt-2.gguf"
#: As much is told of what failed.
LONGEST = 400
_CASES = 22


def vocabulary() -> Path:
    """Return a real vocabulary, out of the archive that the reference templates are from."""
    path = FOLDER / Path(_VOCABULARY).name
    if not path.is_file():
        (archive,) = cache_folder().glob("llama_cpp_python-*.tar.gz")
        with tarfile.open(archive) as opened:
            member = next(item for item in opened if item.name.endswith(_VOCABULARY))
            file = opened.extractfile(member)
            assert file is not None
            path.write_bytes(file.read())
    return path


def special_tokens(spec: Spec) -> list[str]:
    """Return the markers that are tokens of their own in the vocabulary of the format's models.

    Those that hold another one are several tokens.
    """
    marks = (spec.reasoning.start.strip(), spec.reasoning.end.strip())
    found = {*spec.grammar.preserved_tokens, *stop_strings(spec), *marks} - {""}
    return sorted(text for text in found if not any(o in text for o in found - {text}))


def some(asked: Sequence[Case]) -> list[Case]:
    """Return as many cases as can be read in some minutes, from the beginning to the end."""
    return list(asked[:: -(-len(asked) // _CASES)])


def given(spec: Spec, case: Case) -> dict[str, Any]:
    """Return a case as data, with the variables by which its template was told to think or not."""
    text = case.text.rstrip()
    stop = next((stop for stop in stop_strings(spec) if text.endswith(stop)), "")
    return {
        "prefill": case.prefill,
        "text": case.text,
        "ended": text.removesuffix(stop) if stop else case.text,
        "tools": case.tools,
        "variables": dict(spec.thinking.state(case.thinking).variables),
    }


def read_on_all_cores(
    command: Sequence[str | Path], question: Mapping[str, Any], variables: Mapping[str, str]
) -> list[Any]:
    """Run a command on its share of a question's ``formats`` in a process for each core.

    Returns what came of each format, in their order.
    """
    forms = question["formats"]
    count = min(all_cores(), len(forms))

    def read(number: int) -> list[Any]:
        asked = json.dumps({**question, "formats": forms[number::count]})
        done = subprocess.run(
            command, input=asked, stdout=subprocess.PIPE, text=True, check=True, env=variables
        )
        found: list[Any] = json.loads(done.stdout)
        return found

    together: list[Any] = [None] * len(forms)
    with ThreadPoolExecutor(count) as pool:
        for number, found in enumerate(pool.map(read, range(count))):
            together[number::count] = found
    return together


def outcomes(
    spec: Spec, asked: Sequence[Case], read: Any, *, lenient: bool = False
) -> Iterator[str]:
    """Yield for each case and way to read it what is wrong, "" if nothing is.

    If ``lenient``, white space at the ends of content and reasoning may be any.
    """
    if isinstance(read, str):
        yield from (read for _ in asked)
        return
    for case, messages in zip(asked, read["messages"], strict=True):
        for message in messages:
            got = message if isinstance(message, str) else _said(spec, *message)
            wanted = _without_ids(case.wanted)
            if lenient and isinstance(got, Said):
                got, wanted = _stripped(got), _stripped(wanted)
            yield "" if got == wanted else f"wrote {case.text!r}, wanted {wanted}, got {got}"


def _without_ids(said: Said) -> Said:
    return Said(said.content, said.reasoning, tuple((*call[:2], "") for call in said.calls))


def _stripped(said: Said) -> Said:
    return Said(said.content.strip(), said.reasoning.strip(), said.calls)


def _said(spec: Spec, reasoning: str, content: str, calls: Sequence[Sequence[str]]) -> Said:
    """Return what a message of vLLM says."""
    trims, shown = trims_strings(spec), []
    for name, arguments in calls:
        try:
            loaded = json.loads(arguments)
        except ValueError:
            shown.append((name, arguments, ""))
            continue
        if trims and isinstance(loaded, dict):
            loaded = {k: v.strip() if isinstance(v, str) else v for k, v in loaded.items()}
        shown.append((name, json.dumps(loaded, sort_keys=True, ensure_ascii=False), ""))
    return Said(content, reasoning, tuple(shown))


def print_comparison(
    program: str,
    own: Mapping[str, Sequence[str | None]],
    specs: Mapping[str, Spec],
    asked: Mapping[str, Sequence[Case]],
    read: Mapping[str, Any],
) -> None:
    """Print, as rows of a table, what a program's own parsers and ours made of the same turns."""
    names = [name for name in read if "own" in read[name]]
    rows = [f"| format | {program}'s parsers | theirs | ours | their µs | ours | what theirs do |"]
    for name in names:
        ways = [read[name][way] for way in ("own", "real")]
        told = [list(outcomes(specs[name], asked[name], way, lenient=True)) for way in ways]
        counts = [f"{found.count('')}/{len(found)}" for found in told]
        times = ["-" if isinstance(w, str) else f"{w['seconds'] * 1e6:.0f}" for w in ways]
        example = min(filter(None, told[0]), key=len, default="")[:LONGEST]
        parsers = " + ".join(filter(None, own[name]))
        rows.append(f"| `{name}` | {parsers} | {' | '.join([*counts, *times, example])} |")
    if names:
        print("\n".join(rows))
