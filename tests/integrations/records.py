"""Writing what other programs made of exports, and what servers' own parsers read."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from tests.generated_formats import NAMES, committed_spec
from turnspec.spec.atomic import write_atomically
from turnspec.spec.files import spec_hash
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.integration_results import IntegrationResult, Integrations, TargetRecord
from turnspec.spec.server_results import ServerRecord, Servers

#: What is said where results of other versions would stand beside each other.
_OTHERS = "{} aren't the packages that the other results are of: run all formats, without NEW"


def formats_without(record: TargetRecord) -> list[str]:
    """Return the formats of which a target has no result, or one of another spec."""
    known = {name: found.spec_hash for name, found in record.formats.items()}
    return [name for name in NAMES if known.get(name) != spec_hash(committed_spec(name))]


def servers_without(record: ServerRecord | None, names: Sequence[str]) -> list[str]:
    """Return those of the named formats of which a server has no result as they are."""
    known = {found.fingerprint for found in record.formats.values()} if record else set()
    return [name for name in names if fingerprint(committed_spec(name)) not in known]


def joined(old: TargetRecord, new: TargetRecord) -> TargetRecord:
    """Return new results with the old ones of formats that are still there.

    These must be of the same packages.
    """
    if old.formats and old.packages != new.packages:
        sys.exit(_OTHERS.format(new.packages))
    kept = {name: found for name, found in old.formats.items() if name in NAMES}
    return replace(new, formats={**kept, **new.formats})


def joined_servers(old: ServerRecord | None, new: ServerRecord) -> ServerRecord:
    """Return a server's new results with the old ones that are still of some format."""
    if old is None:
        return new
    if (old.package, old.version) != (new.package, new.version):
        sys.exit(_OTHERS.format((new.package, new.version)))
    today = {fingerprint(committed_spec(name)) for name in NAMES}
    kept = {name: found for name, found in old.formats.items() if found.fingerprint in today}
    return replace(new, formats={**kept, **new.formats})


def write_servers(path: Path, records: Servers) -> bool:
    """Write servers.json, a line for each format, and return whether it changed."""
    parts = []
    for server, record in sorted(records.items()):
        head = {"package": record.package, "version": record.version, "parsers": record.parsers}
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        formats = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(asdict(found), ensure_ascii=False)}"
            for name, found in sorted(record.formats.items())
        )
        lines.append(f'  "formats": {{\n{formats}\n  }}')
        parts.append(f" {json.dumps(server)}: {{\n" + ",\n".join(lines) + "\n }")
    return write_atomically(path, "{\n" + ",\n".join(parts) + "\n}\n")


def write_integrations(path: Path, records: Integrations) -> bool:
    """Write integrations.json, all in the order of its names, and return whether it changed."""
    data = {target: _record_to_data(records[target]) for target in sorted(records)}
    return write_atomically(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _record_to_data(record: TargetRecord) -> dict[str, object]:
    formats = {name: _result_to_data(record.formats[name]) for name in sorted(record.formats)}
    return {"packages": dict(sorted(record.packages.items())), "formats": formats}


def _result_to_data(result: IntegrationResult) -> dict[str, object]:
    data = {**asdict(result), "losses": list(result.losses)}
    return {key: value for key, value in data.items() if value or key not in _LEFT_OUT}


_FIGURES = ("checks", "passed", "loosely", "cuts", "raised", "bridged", "withheld")
_LEFT_OUT = ("losses", "example", *_FIGURES[2:])
