"""What there is to say of a known format in a line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from turnspec.catalog.catalog import Catalog
from turnspec.spec.calls import Piece, Tools
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.words import JsonType, ReasoningMode, SlotKind

NO_CALLS = "NONE"


@dataclass(frozen=True, slots=True)
class FormatSummary:
    """A format: its names, its template, how it writes, and whether it is verified.

    ``strings`` is the encoding of a string argument; ``same`` are the known formats with the same
    fingerprint; ``place`` says whether it is the repository's or came with turnspec.
    """

    name: str
    aliases: tuple[str, ...]
    template: str
    sha256: str
    reasoning: str
    content: str
    calls: str
    strings: str
    verified: bool
    place: str
    fingerprint: str
    same: tuple[str, ...] = ()


def summaries(catalog: Catalog) -> tuple[list[FormatSummary], list[Problem]]:
    """Return all known formats by name, and what is wrong with specs that can't be read."""
    specs: dict[str, Spec] = {}
    problems: list[Problem] = []
    for known in catalog:
        spec = known.spec()
        if isinstance(spec, Spec):
            specs[known.name] = spec
        else:
            problems += spec
    prints = {name: fingerprint(spec) for name, spec in specs.items()}
    found = []
    for name, spec in sorted(specs.items()):
        same = tuple(other for other in prints if prints[other] == prints[name] and other != name)
        known = catalog.formats[name]
        found.append(
            FormatSummary(
                name=name,
                aliases=known.aliases,
                template=spec.template.file,
                sha256=spec.template.sha256,
                reasoning=spec.reasoning.mode.value,
                content=spec.content.mode.value,
                calls=spec.tools.mode.value if spec.tools else NO_CALLS,
                strings=string_encoding(spec),
                verified=known.judgement().is_verified,
                place="turnspec" if known.installed else "here",
                fingerprint=prints[name],
                same=same,
            )
        )
    return found, problems


def marks(spec: Spec) -> dict[str, str]:
    """Return what stands around reasoning and in calls, slots in capitals, and what ends a turn."""
    reasoning = f"{spec.reasoning.start}…{spec.reasoning.end}"
    return {
        "reasoning": reasoning if spec.reasoning.mode is not ReasoningMode.NONE else "",
        "calls": _call_marks(spec.tools) if spec.tools else "",
        "end": " or ".join(stop_strings(spec)),
    }


def _call_marks(tools: Tools) -> str:
    arguments = tools.arguments
    item = f"{arguments.start}{_written(arguments.item)}{arguments.end}"
    call = _written(tools.call).replace(SlotKind.ARGUMENTS, item if arguments.item else "{…}")
    return f"{tools.section_start}{call}{tools.section_end}"


def _written(pieces: Iterable[Piece]) -> str:
    return "".join(piece.kind or piece.text for piece in pieces)


def string_encoding(spec: Spec) -> str:
    """Return how strings in calls are written, which is where formats differ most."""
    if spec.tools is None:
        return NO_CALLS
    arguments = spec.tools.arguments
    return arguments.values.get(JsonType.STRING, arguments.syntax.encoding).value
