"""`turnspec identify`: what a template is, or the format of a name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import find_format, template_path
from turnspec.catalog.identify import Identity, Kind, identify_templates
from turnspec.catalog.readers import Reader, read_outputs, readers
from turnspec.catalog.summary import marks
from turnspec.cli import console
from turnspec.cli.common import HUB_OFFLINE, JSON, ROOT, TIME_LIMIT, fetching, filename
from turnspec.cli.formats import catalog_of, format_names, tell_unverified
from turnspec.rendering.limits import Limits
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.visible import visible

#: How many formats are printed.
_MOST = 8


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a source is: in words, and as data; ``names`` are the formats, ``spec`` the first's."""

    source: str  # as it was asked for
    label: str  # also says where in that a template is
    words: str
    kind: str
    names: tuple[str, ...] = ()
    sha256: str = ""
    spec: object = None  # None, or problems, where there is none

    def data(self) -> dict[str, object]:
        """Return it as plain data."""
        told = {"source": self.label, "kind": self.kind, "formats": list(self.names)}
        return {**told, "sha256": self.sha256 or None, **self.marks()}

    def marks(self) -> dict[str, str]:
        """Return what marks the format's reasoning, calls and end, "" where it has none."""
        return marks(self.spec) if isinstance(self.spec, Spec) else {}


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", shell_complete=format_names)
@click.option(
    "--turn",
    type=filename,
    help="A file with what a model wrote (- for standard input), or a log: a JSON string a line.",
)
@JSON
@HUB_OFFLINE
@ROOT
@TIME_LIMIT
def identify(
    sources: tuple[str, ...], turn: str | None, as_json: bool, root: Path | None, limits: Limits
) -> None:
    """Say which known format a model, a template or an output has.

    SOURCE is a template (a .jinja file, a model folder, a GGUF file), a model on the hub
    (ORG/MODEL[@REVISION], which is asked if the model isn't known), a name, or the SHA-256 of a
    template. A template is known by its very text, or because it writes the same format as a known
    one (which is found by analysing it), or it is new. A name is matched by its words, which is a
    guess. With --turn the parsers of all formats are tried on what a model wrote. Exit code 1 if
    something is new or can't be read, 2 if nothing goes by a name.

    \b
    Example:
      turnspec identify model.gguf
      turnspec identify SomeOrg/BrandNew-7B
      turnspec identify --turn output.txt
    """  # noqa: D301
    if bool(sources) is (turn is not None):
        raise console.Misuse("give a SOURCE or --turn FILE")
    catalog = catalog_of(root)
    if turn is not None:
        _tell_readers(read_outputs(turn), catalog, as_json=as_json)
        return
    answers: list[_Answer] = []
    problems: list[Problem] = []
    for source in sources:
        found, troubles = _answers(source, catalog, limits)
        answers += found
        problems += troubles
    if as_json:
        console.put_told({"sources": [answer.data() for answer in answers]}, problems)
    else:
        _print(answers)
    unknown = bool(problems) and not any(problem.file for problem in problems)
    new = any(answer.kind == Kind.NEW for answer in answers)
    console.finish(problems, failed=new, code=2 if unknown else 1)


def _answers(source: str, catalog: Catalog, limits: Limits) -> tuple[list[_Answer], list[Problem]]:
    fetch = fetching()
    place = template_path(source, catalog, fetch)
    if isinstance(place, Path):
        identities, problems = identify_templates(place, catalog, limits)
        return [_of_template(source, identity, catalog) for identity in identities], problems
    found = find_format(source, catalog, fetch)
    if isinstance(found, Problem):
        return [], [found]
    name, spec = found.format.asked, found.format.spec()
    if found.format.spec_file and not isinstance(spec, Spec):
        return [], spec
    tell_unverified(found.format)
    guess, *others = found.notice.splitlines() or [""]
    for line in others:
        console.print_notice(line)
    words = f"the spec of {found.format.name}" if found.format.spec_file else name
    words += f",{guess.partition(f' is taken for {name}')[2]}" if guess else ""
    return [_Answer(source, source, words, found.how, (name,), found.format.sha256, spec)], []


def _of_template(source: str, found: Identity, catalog: Catalog) -> _Answer:
    others = found.names[1:]
    also = f" (and of {', '.join(others)})" if others else ""
    match found.kind:
        case Kind.KNOWN:
            words = f"the template of {found.names[0]}{also}"
        case Kind.SAME_FORMAT:
            words = f"another template, which writes the format of {found.in_words}{also}"
        case Kind.NEW:
            near = f"; {found.near}" if found.near else ""
            words = f"new: {_modes(found.spec)}{near}"
    spec = found.spec or catalog.formats[found.names[0]].spec()
    return _Answer(source, found.label, words, found.kind, found.names, found.sha256, spec)


def _modes(spec: Spec | None) -> str:
    assert spec is not None, "what is new was analysed"
    tools = spec.tools.mode if spec.tools else "none found"
    return f"reasoning {spec.reasoning.mode}, calls {tools}"


def _print(answers: Sequence[_Answer]) -> None:
    for answer in answers:
        console.say(f"{answer.label}: {answer.words}")
        for part, text in answer.marks().items():
            console.say(f"  {part}: {visible(text.strip()) or 'none'}")
        if isinstance(answer.spec, Spec) and not answer.spec.thinking.expects(None):
            given = console.json_text(dict(answer.spec.thinking.enabled.variables))
            who = f"the template by {given}, the parser by enable_thinking"
            console.say(f"  thinking: off unless both are told: {who}")
    names = list(dict.fromkeys(answer.names[0] for answer in answers if answer.names))
    new = dict.fromkeys(answer.source for answer in answers if answer.kind == Kind.NEW)
    if names:
        console.print_error(f"to copy its parser: turnspec vendor {' '.join(names)} --into DIR")
    if new:
        console.print_error(f"to write a parser: turnspec analyze {shlex.join(new)} --into DIR")


def _tell_readers(outputs: Sequence[str], catalog: Catalog, *, as_json: bool) -> None:
    """Print which formats read some outputs, the best first.

    That none reads all without problems, and more of it than as text, is a problem.
    """
    found: list[Reader] = []
    with console.progress_bar("reading", None) as advance:
        for reader in readers(outputs, catalog):
            found.append(reader)
            advance()
    found.sort(key=lambda reader: reader.rank)
    best = max([1, *(reader.recognized for reader in found)])
    told = [r for r in found if not r.problems and 2 * r.recognized >= best]
    none = "no parser reads it without problems and finds the marks of its format in it"
    problems = [] if told else [Problem(none)]
    if as_json:
        data = {"outputs": len(outputs), "readers": [asdict(reader) for reader in found]}
        console.put_told(data, problems)
    else:
        others = [r for r in found if r.problems and r.recognized + r.calls]
        _print_readers(told or others, len(outputs))
    console.finish(problems)


def _print_readers(shown: Sequence[Reader], total: int) -> None:
    for reader in shown[:_MOST]:
        console.say(f"{reader.names[0]}: {_words(reader, total)}")
        if others := reader.names[1:]:
            console.say(f"  the same format: {', '.join(others)}")
    if (more := len(shown) - _MOST) > 0:
        console.print_notice(f"{more} more formats read nearly as much; --json has all")
    if shown:
        console.print_error(f"to copy a parser: turnspec vendor {shown[0].names[0]} --into DIR")


def _words(reader: Reader, total: int) -> str:
    """Return what a format makes of the outputs: of several in how many."""
    parts = {"reasoning": reader.reasoning, "content": reader.content, "calls": reader.calls}
    found = [f"{part} in {count}" if total > 1 else part for part, count in parts.items() if count]
    if not reader.problems:
        return ", ".join(found) or "an empty turn"
    of = f"problems in {reader.problems} of {total}" if total > 1 else "problems"
    return ", ".join([*found, f"{of} ({reader.example})"])
