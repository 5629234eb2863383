"""`turnspec report-problem`: what an issue about a template or an output needs to say."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from turnspec.catalog.finding import template_path
from turnspec.cli import common
from turnspec.cli.console import Fault, Misuse, json_text, or_fault, print_notice, put
from turnspec.cli.extras import needs
from turnspec.cli.formats import catalog_of, find, format_names, spec_of
from turnspec.cli.versions import surroundings, versions
from turnspec.codegen.banner import is_generated, is_unedited
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.pipeline.folder import analyze_into
from turnspec.rendering.limits import Limits
from turnspec.review.shown import fenced
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.input_files import file_text
from turnspec.spec.model import Spec
from turnspec.spec.verdict import judge
from turnspec.verification.shrinking import smallest_part, smallest_text


@click.command(name="report-problem")
@click.argument("source", metavar="[FORMAT]", required=False, shell_complete=format_names)
@click.option("--turn", type=common.filename, help="A file with what a model wrote (- for stdin).")
@common.TOOLS
@common.THINKING
@common.PREFILL
@common.ROOT
@common.TIME_LIMIT
def report_problem(
    source: str | None,
    turn: str | None,
    tools: common.FileText | None,
    thinking: bool | None,
    prefill: str | None,
    root: Path | None,
    limits: Limits,
) -> None:
    """Print what an issue needs to say, as Markdown: versions, the format, a minimal case.

    FORMAT is a name or an alias, a template that isn't read (a .jinja file, a model folder, a GGUF
    file), or a generated module. With --turn its parser reads what a model wrote, which is made
    smaller as long as the same problems are told. Nothing is sent anywhere. What the report holds
    of your texts is shown first, on standard error.

    \b
    Example:
      turnspec report-problem my-model.jinja
      turnspec report-problem qwen3-coder --turn output.txt > problem.md
    """  # noqa: D301
    if turn is not None and source is None:
        raise Misuse("--turn needs the format, too: turnspec report-problem FORMAT --turn FILE")
    lines = [f"- {name} {number}" for name, number in {**versions(), **surroundings()}.items()]
    if source is not None:
        told, text = _subject(source, root, limits)
        lines += ["", "### Format", "", *(f"- {line}" for line in told)]
        if turn is not None and not text:
            raise Fault(f"{source}: there is no parser to read --turn with")
        if turn is not None:
            given = common.tool_definitions(tools)
            options = {"tools": given, "enable_thinking": thinking, "prefill": prefill}
            lines += ["", *_case(load_module(text), turn, options)]
    put("\n".join(["### Versions", "", *lines, ""]))


def _subject(source: str, root: Path | None, limits: Limits) -> tuple[list[str], str]:
    """Return lines that say what a format is, and its parser's text, "" if it has none."""
    catalog = catalog_of(root)
    if source.endswith(".py"):
        return _of_module(Path(source))
    place = template_path(source, catalog, common.fetching())
    if isinstance(place, Path):
        return _of_template(place, limits)
    known = find(source, catalog)
    facts = [known.name, str(known.judgement()), f"template: {known.sha256}"]
    return [*facts, f"fingerprint: {fingerprint(spec_of(known))}"], or_fault(known.module())


def _of_module(path: Path) -> tuple[list[str], str]:
    text = file_text(path)
    if not is_generated(text):
        raise Misuse(f"{path}: turnspec didn't generate it")
    print_notice(f"the report holds the first lines of {path}")
    banner = [line.removeprefix("# ") for line in text.splitlines()[:9] if line.startswith("# ")]
    return [*banner, "unedited" if is_unedited(text) else "edited"], text


@needs("build")
def _of_template(path: Path, limits: Limits) -> tuple[list[str], str]:
    """Return what becomes of templates; neither their texts nor their files' names are told."""
    done = analyze_into([path], None, limits=limits)
    lines = [f"error: {replace(problem, file='template')}" for problem in done.problems]
    files = [file for build in done.builds for file in build.files.items()]
    for spec in (load_spec(text, name) for name, text in files if name.endswith(SPEC_SUFFIX)):
        if isinstance(spec, Spec):
            lines += [f"template: {spec.template.sha256}", f"fingerprint: {fingerprint(spec)}"]
    for result in filter(None, (build.result for build in done.builds)):
        found = judge(result, result.spec_hash)
        lines += [str(found), *(line for short in found.shortfalls for line in short.lines())]
    print_notice("the report holds your template's hash, and what is told of it, not its text")
    return lines, next((text for name, text in files if name.endswith(".py")), "")


def _case(module: FormatModule, turn: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the smallest output found that shows the same problems, and what is read of it."""
    given, least = {name: value for name, value in options.items() if value is not None}, turn
    kinds, _ = _reading(module, turn, given)

    def same(text: str, **others: object) -> bool:
        return _reading(module, text, {**given, **others})[0] == kinds

    if kinds:
        end = time.monotonic() + 10  # seconds
        if "tools" in given:
            given["tools"] = smallest_part(given["tools"], lambda some: same(turn, tools=some), end)
        least = smallest_text(turn, same, end)
    print_notice(f"the report holds this of your output: {json_text(least)}")
    if given:
        print_notice(f"and these options: {json_text(given)}")
    yield f"### Output ({len(least)} of {len(turn)} characters{'' if kinds else '; no problems'})"
    yield from ("", *fenced("json", [json.dumps(least)]))
    yield from fenced("json", [json.dumps(given, indent=2)] if given else [])
    read = _reading(module, least, given)[1]
    yield from ("It is read as:", "", *fenced("json", [json.dumps(read, indent=2)]))


def _reading(
    module: FormatModule, text: str, options: Mapping[str, Any]
) -> tuple[list[str], object]:
    """Return the kinds of the problems that a parser tells of a text, and all that it reads."""
    try:
        message = module.parse(text, **options)
    except Exception as error:  # which none should raise: that is a problem, too
        return [type(error).__name__], f"{type(error).__name__}: {error}"
    kinds = sorted({told.kind for told in message.problems})
    problems = [f"at {told.offset}: {told.kind}: {told.message}" for told in message.problems]
    return kinds, {"message": message.to_dict(), "problems": problems}
