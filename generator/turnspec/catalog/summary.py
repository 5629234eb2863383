"""What there is to say of a known format in a line."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.known import KnownFormat
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import JsonType, Spec
from turnspec.spec.problems import Problem

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

    def data(self) -> dict[str, object]:
        """Return it as plain data."""
        return asdict(self)


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
    for name, spec in specs.items():
        same = tuple(other for other in prints if prints[other] == prints[name] and other != name)
        found.append(_summary(catalog.formats[name], spec, prints[name], same))
    return found, problems


def _summary(known: KnownFormat, spec: Spec, digest: str, same: tuple[str, ...]) -> FormatSummary:
    return FormatSummary(
        name=known.name,
        aliases=known.aliases,
        template=spec.template.file,
        sha256=spec.template.sha256,
        reasoning=spec.reasoning.mode.value,
        content=spec.content.mode.value,
        calls=spec.tools.mode.value if spec.tools else NO_CALLS,
        strings=string_encoding(spec),
        verified=known.judgement().is_verified,
        place="turnspec" if known.installed else "here",
        fingerprint=digest,
        same=same,
    )


def string_encoding(spec: Spec) -> str:
    """Return how strings in calls are written, which is where formats differ most."""
    if spec.tools is None:
        return NO_CALLS
    arguments = spec.tools.arguments
    return arguments.values.get(JsonType.STRING, arguments.syntax.encoding).value
