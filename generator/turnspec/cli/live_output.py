"""What `turnspec live` prints: figures of all formats, or the turns of one model as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from turnspec.cli.console import print_error, say
from turnspec.live.real_vocabulary import marker_tokens
from turnspec.live.record import failure_line
from turnspec.live.runs import FormatRuns, LiveTurn, Outcome
from turnspec.live.user_model import Session, UserTurn

_PART_STYLES = {"reasoning": "italic cyan", "content": "", "call": "yellow", "prompt": "dim"}


def live_table(runs: Sequence[FormatRuns], *, failing_only: bool) -> Table:
    """Return the figures of each format, and of all together."""
    table = Table(title="live turns, on a tiny model of random weights", title_justify="left")
    table.add_column("format", overflow="fold")
    for column in ("turns", "calls", "parsed", "cut", "failed"):
        table.add_column(column, justify="right")
    table.add_column("prompt")
    all_turns = [turn for run in runs for turn in run.turns]
    from_template = sum(run.prompt == "template" for run in runs)
    rendered = f"{from_template} of {len(runs)} rendered"
    table.add_row("all", *_figures(all_turns), rendered, style="bold", end_section=True)
    for run in runs:
        if run.count(Outcome.FAILED) or run.problems or not failing_only:
            table.add_row(run.spec.name, *_figures(run.turns), run.prompt)
    return table


def real_table(runs: Sequence[FormatRuns]) -> Table:
    """Return the figures of formats on real vocabularies, and how many markers are tokens there.

    ``told`` are turns that were also read in the vocabulary's tokens, with the special ones told,
    ``quoted`` those that were read in ordinary tokens, as a text that quotes calls.
    """
    title = "live turns, on tiny models of random weights over real vocabularies"
    table = Table(title=title, title_justify="left")
    for column in ("format", "vocabulary"):
        table.add_column(column, overflow="fold")
    for column in ("tokens", "turns", "calls", "parsed", "cut", "failed", "told", "quoted"):
        table.add_column(column, justify="right")
    all_turns = [turn for run in runs for turn in run.turns]
    table.add_row("all", "", "", *_real_figures(all_turns), style="bold", end_section=True)
    for run in runs:
        if run.vocabulary is not None:
            known, lacking = marker_tokens(run.spec, run.vocabulary)
            tokens = f"{len(known)} of {len(known) + len(lacking)}"
            figures = _real_figures(run.turns)
            table.add_row(run.spec.name, run.vocabulary.name, tokens, *figures)
    return table


def print_marker_tokens(runs: Sequence[FormatRuns]) -> None:
    """Print for each format which of its markers are special tokens of the vocabulary."""
    for run in runs:
        if run.vocabulary is not None:
            known, lacking = marker_tokens(run.spec, run.vocabulary)
            has = f"special tokens {' '.join(known)}" if known else "no special token"
            others = f"; in ordinary tokens {' '.join(lacking)}" if lacking else ""
            say(f"{run.spec.name} on {run.vocabulary.name}: {has}{others}")


def _real_figures(turns: Sequence[LiveTurn]) -> tuple[str, ...]:
    told, quoted = sum(turn.told for turn in turns), sum(turn.quoted for turn in turns)
    return (*_figures(turns), str(told), str(quoted))


def _figures(turns: Sequence[LiveTurn]) -> tuple[str, ...]:
    counts = {outcome: sum(turn.outcome is outcome for turn in turns) for outcome in Outcome}
    failed = str(counts[Outcome.FAILED])
    return (
        str(len(turns)),
        str(sum(turn.calls for turn in turns)),
        str(counts[Outcome.PARSED]),
        str(counts[Outcome.CUT]),
        f"[red]{failed}[/red]" if counts[Outcome.FAILED] else failed,
    )


def print_failures(runs: Sequence[FormatRuns], *, all_of_them: bool) -> None:
    """Print what went wrong, the first turn of each format or all of them."""
    for run in runs:
        failed = [turn for turn in run.turns if turn.outcome is Outcome.FAILED]
        for turn in failed if all_of_them else failed[:1]:
            print_error(f"{run.spec.name}: {failure_line(turn)}")


def print_session(session: Session) -> None:
    """Print what the format was found by, and the prompt."""
    spec = session.fmt.spec
    found = "specs" if session.fmt.committed else "analysed just now"
    say(f"format: {spec.name} ({found})", "bold")
    bound = session.bound
    words = " or ".join(map(repr, bound.trigger_words))
    how = f"waits for {words}" if bound.lazy else "from the first token on"
    how = "none" if session.wish.free else how
    say(f"grammar: {how}", "bold")
    print_part(session.prompt.text, "prompt")
    say()


def print_events(events: Iterable[Any]) -> None:
    """Print a turn as its events come: reasoning, content and calls in their colours."""
    last = ""
    for event in events:
        part = "call" if event.type.startswith("tool_call") else event.type
        if last and part != last:
            say()
        last = part
        match event.type:
            case "tool_call_start":
                print_part(f"{event.name} ", part)
            case "tool_call_delta":
                print_part(event.arguments, part)
            case "tool_call_end":
                say()
                last = ""
            case _:
                print_part(event.text, part)
    if last:
        say()


def print_part(text: str, part: str) -> None:
    """Print a piece of a turn in the colour of its part."""
    say(text, _PART_STYLES[part], end="")


def print_verdict(turn: UserTurn, faults: Sequence[str]) -> None:
    """Print what came of a turn, in a line and one for each fault."""
    calls = len(turn.streamed.message.tool_calls)
    counted = f"{turn.writer.count} tokens, {calls} call{'' if calls == 1 else 's'}"
    if faults:
        text, style = "left its format", "bold red"
    elif turn.cut:
        text, style = "cut off by the limit of tokens (--max-tokens)", "bold yellow"
    else:
        text, style = "kept to its format", "bold green"
    say(f"seed {turn.seed}: {text} ({counted})", style)
    for fault in faults:
        print_error(f"  {fault}")
