"""The index of all specs: specs/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby

from turnspec.spec.engine_results import EngineResult
from turnspec.spec.families import by_family
from turnspec.spec.files import SPEC_SUFFIX, spec_hash
from turnspec.spec.fingerprint import same_formats
from turnspec.spec.integration_results import ExportState, Integrations
from turnspec.spec.live_results import LIVE_RUNG, LiveResult
from turnspec.spec.model import Limit, Spec
from turnspec.spec.overlay import Overlay
from turnspec.spec.recipe import USUAL, Recipe
from turnspec.spec.results import PARTS, RUNGS, RungResult, TemplateResult
from turnspec.spec.verdict import Shortfall, judge, rung_title
from turnspec.spec.visible import shortened
from turnspec.spec.words import CallIdPosition, Condition

_INTRODUCTION = """\
<!-- Written by turnspec; regenerate with: {command} -->

# Specs

One spec per chat template: how it writes an assistant turn.
{manual} explains how to read one. The last columns are
the rungs of the verification: 0, what the spec predicts is what the template renders; 1, rendered
turns come back through the parser; 1b, so do the spec's own turns after the template's generation
prompt; 2, so does every way of cutting the text; 3, random walks over the grammar, for any tools
and for real ones, are read as they were meant, and the grammar allows the spec's turns; sanity, the
parts of the spec fit each other and the template. A format is verified when all of these passed.
Branches are those of the template that concern answers: how many of them some rendering took, of
how many; `verification.json` says in words what only further tries took, and what nothing did.
Then come what three grammar engines say: how many texts they judged alike, and how many random
turns of grammars bound to tools and answers the parser read as the schemas want it; and rung 4
(`turnspec live`): what llama.cpp writes with a tiny model of random weights after the real prompt,
under the format's grammar, streams through the parser; and of how many of the targets of
`turnspec export` that were tried the program itself reads all of the format's turns. A number
counts checks that all passed, `n/m` says that n of m did, `none` that nothing was checked, and -
that nobody tried. The last column says how many of a spec's keys come from an overlay, because no
rendering shows them; what it says of calls or of reasoning is checked against itself alone, by
rungs 1b, 2, 3 and 4.
"""
_COLUMNS = ("Name", "Template", "Reasoning", "Content", "Tools", "Call id", "Limits")
_RUNGS = (*RUNGS, LIVE_RUNG)
_NOTHING = "-"
_AS_ABOVE = ("as above", "", "", "", "")  # of the columns that say what the format is
_LONGEST_EXAMPLE = 300
_SHORTEST_RANGE = 3  # code points
_CONDITIONS = {condition: condition.replace("_", " ") for condition in Condition}
_BACKTICKS = re.compile(r"`+")
_MARKDOWN = re.compile(r"([\\`*\[\]<>|]|(?<!\w)_|_(?!\w))")  # an underscore in a word is safe


def index_table(
    specs: Sequence[Spec],
    results: Mapping[str, TemplateResult],
    overlays: Sequence[Overlay] = (),
    live: Mapping[str, LiveResult] | None = None,
    engines: Mapping[str, EngineResult] | None = None,
    accepted: Mapping[str, Mapping[str, str]] | None = None,
    integrations: Integrations | None = None,
    *,
    families: Mapping[str, str] | None = None,
    recipe: Recipe = USUAL,
) -> str:
    """Return the text of specs/README.md.

    ``results`` are by template name, those of live runs and of engines too, ``integrations`` by
    target first; a result for another spec than the one at hand doesn't count. ``accepted`` has the
    failures that are accepted; ``families`` has the family that a format is shown under, by its
    name; ``recipe`` says how the page is made.
    """
    ordered = sorted(specs, key=lambda spec: spec.name)
    found = ((spec, _current(spec, results, live or {})) for spec in ordered)
    current = {spec.name: result for spec, result in found if result is not None}
    sections = [
        _introduction(recipe),
        _totals(ordered, current),
        _table(ordered, current, engines or {}, integrations or {}, families or {}),
        _same_formats(ordered),
        _failures(current, accepted or {}),
        _overlays(overlays),
    ]
    return "\n".join(section for section in sections if section)


def _introduction(recipe: Recipe) -> str:
    manual = recipe.schema.removeprefix("../") or "spec/schema.json"
    package = "" if recipe.schema else " of the turnspec package"
    return _INTRODUCTION.format(command=recipe.command, manual=f"`{manual}`{package}")


def _same_formats(specs: Sequence[Spec]) -> str:
    """Return which specs say the same of how a turn is written, by their fingerprints."""
    groups = same_formats(specs)
    if not groups:
        return ""
    distinct = len(specs) - sum(len(group) - 1 for group in groups)
    head = f"{_counted(distinct, 'distinct format')} among {_counted(len(specs), 'template')}.\n"
    told = "These write and read the same turns; a parser of one is a parser of the others:\n"
    lines = (f"- {', '.join(f'[{n}]({n}{SPEC_SUFFIX})' for n in group)}\n" for group in groups)
    return f"## The same format\n\n{head}{told}\n" + "".join(lines)


def _current(
    spec: Spec, results: Mapping[str, TemplateResult], live: Mapping[str, LiveResult]
) -> TemplateResult | None:
    """Return what was found of a spec as it is now, all rungs together."""
    digest = spec_hash(spec)
    result, ran = results.get(spec.name), live.get(spec.name)
    if result is not None and result.spec_hash != digest:
        result = None
    if ran is None or ran.spec_hash != digest:
        return result
    result = result or TemplateResult(digest, "", spec.turn.order)
    return replace(result, rungs={**result.rungs, LIVE_RUNG: ran.rung})


def _totals(specs: Sequence[Spec], results: Mapping[str, TemplateResult]) -> str:
    known = ((spec, results.get(spec.name)) for spec in specs)
    parts = [result.parts if result else spec.turn.order for spec, result in known]
    shown = ", ".join(f"{sum(part in has for has in parts)} {part}" for part in PARTS)
    ran = {
        name: [result.rungs[name] for result in results.values() if name in result.rungs]
        for name in _RUNGS
    }
    passed = ", ".join(
        f"{rung_title(name)}: {sum(rung.is_passed for rung in rungs)} of {len(rungs)}"
        for name, rungs in ran.items()
    )
    verified = sum(judge(found, found.spec_hash).is_verified for found in results.values())
    counted = f"{_counted(len(specs), 'template')}, {verified} verified; rendered: {shown}."
    return f"{counted}\n\nPassed: {passed}.\n"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _table(
    specs: Sequence[Spec],
    results: Mapping[str, TemplateResult],
    engines: Mapping[str, EngineResult],
    integrations: Integrations,
    families: Mapping[str, str],
) -> str:
    marks = ("Branches", "Engines: texts", "Engines: turns", LIVE_RUNG, "Exports")
    head = (*_COLUMNS, *RUNGS, *marks, "Overlay")
    lines: list[tuple[str, ...]] = [head, tuple("---" for _ in head)]
    for family, formats in by_family(specs, families):
        if family:
            lines.append((f"**{_prose(family)}**", *("" for _ in head[1:])))
        for same in formats:
            rows = [
                _row(spec, results.get(spec.name), engines.get(spec.name), integrations)
                for spec in same
            ]
            above = ((*row[:2], *_AS_ABOVE, *row[len(_COLUMNS) :]) for row in rows[1:])
            lines += [rows[0], *above]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(
    spec: Spec,
    result: TemplateResult | None,
    engines: EngineResult | None,
    integrations: Integrations,
) -> tuple[str, ...]:
    tools = spec.tools
    has_id = tools is not None and tools.call_id is not CallIdPosition.NONE
    rungs = result.rungs if result else {}
    found = result.coverage if result else None
    return (
        f"[{_prose(spec.name)}]({spec.name}{SPEC_SUFFIX})",
        _code(spec.template.file).replace("|", r"\|"),
        _prose(spec.reasoning.mode),
        _prose(spec.content.mode),
        _prose(tools.mode) if tools else _NOTHING,
        _prose(tools.call_id) if tools and has_id else _NOTHING,
        _limits(spec.limits),
        *(_mark(rungs.get(name)) for name in RUNGS),
        f"{found.rendered}/{found.branches}" if found else _NOTHING,
        *_engine_marks(spec, engines),
        _mark(rungs.get(LIVE_RUNG)),
        _export_mark(spec, integrations),
        str(len(spec.overlay)),
    )


def _engine_marks(spec: Spec, found: EngineResult | None) -> tuple[str, str]:
    """Return how many texts all engines agree on, and how many random turns are read and valid."""
    if found is None or found.spec_hash != spec_hash(spec):
        return _NOTHING, _NOTHING
    pairs = ((found.agreed, found.strings), (found.valid, found.turns))
    texts, turns = (str(n) if n == of else f"{n}/{of}" for n, of in pairs)
    return texts, turns


def _export_mark(spec: Spec, integrations: Integrations) -> str:
    """Return of how many targets that were tried the program reads all of a format's turns."""
    digest = spec_hash(spec)
    found = [
        result
        for record in integrations.values()
        if (result := record.formats.get(spec.name)) is not None and result.spec_hash == digest
    ]
    good = sum(r.state is not ExportState.REFUSED and r.passed == r.checks for r in found)
    return f"{good}/{len(found)}" if found else _NOTHING


def _mark(rung: RungResult | None) -> str:
    if rung is None:
        return _NOTHING
    if not rung.total:
        return "none"
    return f"{rung.passed}/{rung.total}" if rung.failed else str(rung.passed)


def _limits(limits: Iterable[Limit]) -> str:
    """Return limits in a few words; those that differ only in their subject share a phrase."""
    phrases: dict[tuple[str, str], list[str]] = {}
    for limit in limits:
        when = "" if limit.when is Condition.ALWAYS else f" {_CONDITIONS[limit.when]}"
        subjects = phrases.setdefault((limit.verdict, when), [])
        subject = limit.subject.removeprefix("argument.").replace("_", " ")
        if limit.characters:
            subject += f" ({_characters(limit.characters)})"
        if subject not in subjects:
            subjects.append(subject)
    texts = [f"{verdict} {', '.join(names)}{when}" for (verdict, when), names in phrases.items()]
    return _prose("; ".join(texts)) or _NOTHING


def _characters(characters: str) -> str:
    """Return characters by their code points, three and more in a row as a range."""
    codes = enumerate(sorted(set(map(ord, characters))))
    # Of codes in a row each is as far from its place as the one before.
    runs = groupby(codes, key=lambda pair: pair[1] - pair[0])
    rows = [[f"U+{code:04X}" for _, code in run] for _, run in runs]
    shown = (row if len(row) < _SHORTEST_RANGE else [f"{row[0]} to {row[-1]}"] for row in rows)
    return ", ".join(chain(*shown))


def _failures(
    results: Mapping[str, TemplateResult], accepted: Mapping[str, Mapping[str, str]]
) -> str:
    lines = [
        f"- [{_prose(name)}]({name}{SPEC_SUFFIX}), {_shortfall(shortfall)}"
        for name, result in results.items()
        for shortfall in _shortfalls(result, accepted.get(name, {}))
    ]
    return "## Not passed\n\n" + "".join(lines) if lines else ""


def _shortfalls(result: TemplateResult, accepted: Mapping[str, str]) -> Iterator[Shortfall]:
    """Yield the rungs that were climbed and aren't passed, rung 4 among them."""
    climbed = (Shortfall(rung, result.rungs[rung]) for rung in _RUNGS if rung in result.rungs)
    for found in climbed:
        if not found.result.is_passed and (found.rung != LIVE_RUNG or found.result.failed):
            yield replace(found, accepted=accepted.get(found.rung, ""))


def _overlays(overlays: Sequence[Overlay]) -> str:
    """Return what overlays say, for those who review them: each key with its reason and source."""
    if not overlays:
        return ""
    keys = _counted(sum(len(overlay.keys) for overlay in overlays), "key")
    head = f"{keys} in {_counted(len(overlays), 'overlay')} (templates/overlays).\n"
    return f"## Overlays\n\n{head}\n" + "".join(map(_overlay, overlays))


def _overlay(overlay: Overlay) -> str:
    lines = [f"- {_code(overlay.template)}\n"]
    for key in overlay.keys:
        quote = f" The template says {_code(_one_line(key.quote))}." if key.quote else ""
        reason = f"{_prose(_one_line(key.reason))} Source: {_prose(_one_line(key.source))}."
        lines.append(f"  - {_code(key.key)}: {reason}{quote}\n")
    return "".join(lines)


def _shortfall(found: Shortfall) -> str:
    """Return a rung that isn't passed, with its example below."""
    accepted = f"; accepted: {_prose(_one_line(found.accepted))}" if found.accepted else ""
    text = f"{rung_title(found.rung)}: {_prose(_one_line(str(found.result)))}{accepted}\n"
    example = found.result.example.items() if found.result.example else []
    return text + "".join(f"  - {name}: {_code(_one_line(said))}\n" for name, said in example)


def _one_line(text: str) -> str:
    line = "".join(character if character.isprintable() else " " for character in text)
    return shortened(line, _LONGEST_EXAMPLE)


def _prose(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _code(text: str) -> str:
    """Return a Markdown code span, which needs a longer fence than any run of backticks in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
