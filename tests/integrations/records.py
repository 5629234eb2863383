"""Writing what other programs made of exports, and what servers' own parsers read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from turnspec.spec.atomic import write_atomically
from turnspec.spec.integration_results import IntegrationResult, Integrations, TargetRecord
from turnspec.spec.server_results import Servers


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
