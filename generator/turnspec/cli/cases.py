"""`turnspec cases`: cases of a format for suites that test parsers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from turnspec.cases.drawing import DrawnCase, differences, draw_cases
from turnspec.cases.forms import FORMS, OWN_MODELS, Suite, canitoolcall_family
from turnspec.cases.tokens import Vocabulary
from turnspec.catalog.known import KnownFormat
from turnspec.cli.common import FOLDER, HUB_OFFLINE, ROOT, TOKENIZER
from turnspec.cli.console import finish, json_text, or_fault, print_notice, put_json, say_written
from turnspec.cli.formats import catalog_of, find, format_names, spec_of
from turnspec.codegen.loading import load_module
from turnspec.deviations.turns import Format
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.problems import Problem


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@click.option("-n", "count", type=click.IntRange(1), default=100)
@click.option("--seed", type=int, default=0, help="Another one: other cases.")
@click.option("--form", type=click.Choice([*FORMS]), default="turnspec")
@click.option("--family", help="What the suite calls the format (default: its name).")
@click.option("--model", help="The model's id on the hub (default: as the index says).")
@click.option("--into", type=FOLDER, help="The folder of a suite to write into (default: print).")
@TOKENIZER
@HUB_OFFLINE
@ROOT
def cases(
    fmt: str,
    count: int,
    seed: int,
    form: str,
    family: str | None,
    model: str | None,
    into: Path | None,
    tokenizer: Vocabulary | None,
    root: Path | None,
) -> None:
    """Write cases of a format for parsers: turns, and the messages that were written there.

    Half of them keep to the format, half deviate from it as models do. Each is a line of JSON, in
    our own form or in that of a suite. A parser of turnspec reads all of them so, which is checked.

    \b
    Example:
      turnspec cases qwen3-coder -n 500 > cases.jsonl
      turnspec cases qwen3-coder --form canitoolcall --into fixtures
    """  # noqa: D301
    known = find(fmt, catalog_of(root))
    made = Format(spec_of(known), load_module(or_fault(known.module())))
    suite = _suite(known, made, family, model, seed)
    cut = tokenizer.cut if tokenizer else None
    drawn = draw_cases(made, count, seed, partial(FORMS[form].fit, suite), cut)
    if len(drawn) < count:
        print_notice(f"{known.name} gives {len(drawn)} cases in this form")
    lines = [FORMS[form].line(suite, number, case) for number, case in enumerate(drawn, 1)]
    _give(into, suite, form, lines)
    finish([problem for case in drawn for problem in _problems(made, case)])


def _suite(
    known: KnownFormat, form: Format, family: str | None, model: str | None, seed: int
) -> Suite:
    entry = known.entry
    repository, commit = (entry.repository, entry.commit) if entry else ("", "")
    model = model or repository or f"{OWN_MODELS}{known.name}"
    commit = commit or form.spec.template.sha256[:40]
    return Suite(form, family or known.name, model, commit, seed)


def _give(into: Path | None, suite: Suite, form: str, lines: list[dict[str, Any]]) -> None:
    """Print the lines, or write them where the suite looks for them."""
    if into is None:
        for line in lines:
            put_json(line)
        return
    folder = into / suite.family
    texts = {folder / "turnspec.jsonl": "".join(f"{json_text(line)}\n" for line in lines)}
    if form == "canitoolcall":
        texts[folder / "family.json"] = json_text(canitoolcall_family(suite), 2) + "\n"
    write_all_atomically(texts)
    say_written(texts)


def _problems(form: Format, drawn: DrawnCase) -> list[Problem]:
    return [
        Problem(f"our parser reads {drawn.case.text!r} otherwise: {what}")
        for what in differences(form.module, drawn.case, drawn.pieces)
    ]
