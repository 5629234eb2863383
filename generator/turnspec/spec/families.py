"""Specs in the order in which a person looks for them: by family, what is the same together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec


def by_family(
    specs: Iterable[Spec], families: Mapping[str, str]
) -> list[tuple[str, list[list[Spec]]]]:
    """Return families by name, each with its specs, those that are the same format in one list.

    ``families`` has the family of a spec by its name; specs that have none come first, under "".
    """
    found: dict[str, dict[str, list[Spec]]] = {}
    for spec in sorted(specs, key=lambda spec: spec.name):
        formats = found.setdefault(families.get(spec.name, ""), {})
        formats.setdefault(fingerprint(spec), []).append(spec)
    ordered = sorted(found.items(), key=lambda item: item[0].casefold())
    return [(family, list(formats.values())) for family, formats in ordered]
