"""What `turnspec live` does: the tiny model for each format, or a model of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog, installed_formats
from turnspec.catalog.known import KnownFormat
from turnspec.catalog.templates import template_source
from turnspec.cli import console, live_output
from turnspec.cli.formats import find
from turnspec.deviations.turns import Format
from turnspec.live import real_vocabulary, user_model
from turnspec.live.real_vocabulary import RealVocabulary, read_vocabularies
from turnspec.live.record import keep_record, live_record, read_format
from turnspec.live.runs import FormatRuns, Outcome, run_format
from turnspec.live.user_model import Session, UserTurn, Wish, start_session
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.cache import cache_folder
from turnspec.sources.download import obtain
from turnspec.sources.index import read_index
from turnspec.spec.live_results import dump_live


def run_formats(
    catalog: Catalog,
    names: tuple[str, ...],
    seeds: int,
    *,
    real: bool,
    record: bool,
    offline: bool,
    as_json: bool,
) -> None:
    """Run formats on the tiny model, or on vocabularies of real ones, and print the figures."""
    known = [find(name, catalog) for name in names] if names else catalog.own()
    formats = _formats(known)
    vocabularies = _vocabularies(formats, offline=offline) if real else {}
    chosen = [fmt for fmt in formats if not real or fmt.spec.name in vocabularies]
    if real and not chosen:
        raise console.Fault("no vocabulary holds the markers of these formats")
    runs = _runs(known, chosen, seeds, vocabularies, offline=offline)
    if as_json:
        console.put(dump_live(live_record(runs, seeds)))
    else:
        table = live_output.live_table(runs, failing_only=not names)
        console.show(live_output.real_table(runs) if real else table)
        if names:
            live_output.print_marker_tokens(runs)
        live_output.print_failures(runs, all_of_them=bool(names))
    problems = [problem for run in runs for problem in run.problems]
    if record and catalog.project is not None and not problems:
        problems += keep_record(catalog.project, live_record(runs, seeds))
    console.finish(problems, failed=any(run.count(Outcome.FAILED) for run in runs))


def _runs(
    known: Sequence[KnownFormat],
    formats: Sequence[Format],
    seeds: int,
    vocabularies: Mapping[str, RealVocabulary],
    *,
    offline: bool,
) -> list[FormatRuns]:
    # A template that isn't there is no failure: the table says what the prompt was from.
    found = (template_source(fmt, fetch=not offline, console=console.ERR) for fmt in known)
    templates = {source.name: source for source in found if isinstance(source, TemplateSource)}
    runs = []
    with console.progress_bar("running", len(formats)) as advance, RenderWorker() as worker:
        for fmt in formats:
            done = run_format(
                *(fmt.spec, fmt.module, templates.get(fmt.spec.name)),
                worker=worker,
                seeds=seeds,
                folder=cache_folder() / "tiny-models",
                vocabulary=vocabularies.get(fmt.spec.name),
            )
            runs.append(done)
            advance()
    return runs


def _vocabularies(formats: Sequence[Format], *, offline: bool) -> dict[str, RealVocabulary]:
    """Return the real vocabulary of each format that has one, by the format's name."""
    project, source = installed_formats(), real_vocabulary.vocabulary_source()
    origin = read_index(project.root)[0].origins.get(source.origin) if project else None
    if origin is None:
        told = f"templates/index.yaml names no {source.origin}, where vocabularies are from"
        raise console.Fault(told)
    archive = console.or_fault(obtain(origin, offline=offline, console=console.ERR))
    known = console.or_fault(read_vocabularies(archive, origin, cache_folder() / "vocabularies"))
    pairs = ((fmt.spec.name, real_vocabulary.vocabulary_of(fmt.spec, known)) for fmt in formats)
    return {name: vocabulary for name, vocabulary in pairs if vocabulary is not None}


def _formats(known: Sequence[KnownFormat]) -> list[Format]:
    found = [read_format(fmt) for fmt in known]
    console.finish([problem for fmt in found if isinstance(fmt, list) for problem in fmt])
    return [fmt for fmt in found if isinstance(fmt, Format)]


def run_model(path: Path, wish: Wish, seeds: int, catalog: Catalog, *, as_json: bool) -> None:
    """Run a model of the user's, and print its turns and the verdict."""
    template = console.or_fault(user_model.read_model_template(path, with_tools=bool(wish.tools)))
    with RenderWorker() as worker:
        fmt = user_model.find_format(template, catalog)
        session = fmt if isinstance(fmt, list) else start_session(path, fmt, wish, worker)
    if isinstance(session, list):
        console.finish(session, failed=True)
        return
    with session:
        turns = _turns(session, seeds, as_json=as_json)
    kept = sum(not faults and not turn.cut for turn, faults in turns)
    cut = sum(not faults and turn.cut for turn, faults in turns)
    if as_json:
        data = [user_model.turn_data(turn, faults) for turn, faults in turns]
        found = {"format": session.fmt.spec.name, "kept": kept, "cut": cut, "turns": data}
        console.put_json(found, indent=2)
    elif wish.free:
        behind = f"; {cut} cut off" if cut else ""
        console.say(f"kept to its format in {kept} of {len(turns)} turns{behind}", "bold")
    console.finish((), failed=not wish.free and kept + cut < len(turns))


def _turns(session: Session, seeds: int, *, as_json: bool) -> list[tuple[UserTurn, list[str]]]:
    """Have the model write a turn for each seed, and show them."""
    if not as_json:
        live_output.print_session(session)
    done = []
    for seed in range(seeds):
        turn = console.or_fault(session.turn(seed))
        if as_json:
            list(turn)
        else:
            live_output.print_events(turn)
        faults = turn.faults(session.wish.tools)
        if not as_json:
            live_output.print_verdict(turn, faults)
        done.append((turn, faults))
    return done
