"""docs/PAIR.md: what each format's pair loses, and what programs read of what it lets through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turnspec.spec.integration_results import ExportState, IntegrationResult, Integrations

_HEAD = """\
<!-- Written by `make integrations SUITES="pair pair-vllm pair-sglang"`. -->

# Pairs

A pair is a format's `response_template` and the structural tag beside it, which
`turnspec export FORMAT --to pair` writes ([export.md](export.md#pair)). Each was tried on turns of
three kinds: written behind each real prompt, random walks over the tag's grammar, and turns whose
arguments hold the format's own marks. What the tag lets through, transformers' parser has to read
as the generated parser does, whole and in pieces; and what is written it has to let through.

*Read* are turns that came back, of all that aren't withheld; *as told* are those of them in which
something came back as the losses say; *withheld* are those that the narrowed tag doesn't let
through, as it wants them written otherwise, or as the template would misread them. vLLM (its parser
`hf`) and SGLang (`response_template`) read a part of the same turns, whole and streamed, and their
plugin's tag was asked for a call that is required. Formats that differ in nothing but their
templates stand here once.
"""
_COLUMNS = "| format | read | as told | withheld | vLLM | SGLang | losses |\n" + "| --- " * 7 + "|"


def pairs_page(records: Integrations) -> str:
    """Return the page's text from the records of pairs."""
    pairs = records["pair"].formats
    losses = list(dict.fromkeys(loss for found in pairs.values() for loss in found.losses))
    numbers = {loss: number for number, loss in enumerate(losses, start=1)}
    rows = (_row(name, found, records, numbers) for name, found in sorted(pairs.items()))
    listed = (f"{number}. {loss}" for loss, number in numbers.items())
    return "\n".join(
        (
            *(_HEAD, *_summary(records), "", _COLUMNS, *rows, "", "Losses:", "", *listed, ""),
            *_failures(records),
        )
    )


def _summary(records: Integrations) -> Iterator[str]:
    for target, record in records.items():
        results = record.formats.values()
        packages = ", ".join(f"{name} {version}" for name, version in record.packages.items())
        read, asked, withheld = (
            sum(getattr(found, word) for found in results)
            for word in ("passed", "checks", "withheld")
        )
        refused = sum(found.state is ExportState.REFUSED for found in results)
        told = f"; {withheld} were withheld" if withheld else ""
        yield (
            f"- `{target}`, with {packages}: {len(results) - refused} formats, {refused} refused. "
            f"Of {asked} turns {read} were read{told}."
        )


def _row(
    name: str, found: IntegrationResult, records: Integrations, numbers: Mapping[str, int]
) -> str:
    served = (_count(records, target, name) for target in ("pair-vllm", "pair-sglang"))
    losses = ", ".join(str(numbers[loss]) for loss in found.losses)
    if found.state is ExportState.REFUSED:
        return f"| {name} | refused | | | | | {losses} |"
    counts = (f"{found.passed} of {found.checks}", found.loosely or "", found.withheld or "")
    return f"| {name} | {' | '.join(map(str, (*counts, *served, losses)))} |"


def _count(records: Integrations, target: str, name: str) -> str:
    found = records[target].formats.get(name) if target in records else None
    return f"{found.passed} of {found.checks}" if found else "-"


def _failures(records: Integrations) -> Iterator[str]:
    """Yield what isn't read, the shortest of each format and program."""
    lines = [
        f"- {name}, `{target}`: ``` {found.example} ```"
        for target, record in records.items()
        for name, found in sorted(record.formats.items())
        if found.example
    ]
    if lines:
        yield from ("Not read, the shortest turn of each:", "", *lines, "")
