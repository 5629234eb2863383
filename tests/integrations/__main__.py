"""Runs suites: `make integrations [SUITES=…] [NEW=1] [NAMES=…]`.

Writes specs/integrations.json, specs/pairs.json and specs/servers.json, and docs/EXPORTS.md,
docs/PAIR.md and docs/MATRIX.md from them. With NEW only formats are tried of which there is no
result yet, or one of another spec. With NAMES only these are, and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.generated_formats import ROOT
from tests.integrations.environments import megabytes
from tests.integrations.matrix_page import matrix_page
from tests.integrations.page import exports_page
from tests.integrations.pair_page import pairs_page
from tests.integrations.records import (
    formats_without,
    joined,
    joined_servers,
    servers_without,
    write_integrations,
    write_servers,
)
from tests.integrations.servers_suite import different_formats
from tests.integrations.suites import CHECKS, SERVERS, SUITES
from turnspec.sources.fetch import fetch_templates
from turnspec.spec.atomic import write_atomically
from turnspec.spec.integration_results import (
    ExportState,
    TargetRecord,
    read_integrations,
)
from turnspec.spec.problems import Problem
from turnspec.spec.server_results import read_servers

#: Where results are kept, the page that is written from them, and how.
EXPORTS = (ROOT / "specs" / "integrations.json", ROOT / "docs" / "EXPORTS.md", exports_page)
PAIRS = (ROOT / "specs" / "pairs.json", ROOT / "docs" / "PAIR.md", pairs_page)
SERVER_RESULTS = ROOT / "specs" / "servers.json"
MATRIX = ROOT / "docs" / "MATRIX.md"


def main(arguments: list[str]) -> int:
    """Run the suites that are asked for, or all; 1 if a program fails a check."""
    parser = argparse.ArgumentParser(prog="python -m tests.integrations")
    parser.add_argument("--suites", nargs="*", choices=[*CHECKS, *SUITES, *SERVERS])
    parser.add_argument("--new", action="store_true", help="only formats without a result")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(arguments)
    if problems := fetch_templates(ROOT).problems:  # some programs are given the templates, too
        print("\n".join(map(str, problems)))
        return 1
    failed = False
    for name, check in CHECKS.items():
        if name in (asked.suites or CHECKS):
            faults = check()
            failed |= bool(faults)
            print("\n".join(f"{name}: {fault}" for fault in faults or ["as it should be"]))
    for target in (name for name in asked.suites or SUITES if name in SUITES):
        failed |= _try_target(target, asked.names, is_new=asked.new)
    for server in (name for name in asked.suites or SERVERS if name in SERVERS):
        _try_server(server, asked.names, is_new=asked.new)
    print(f"the environments and programs take {megabytes()} MB, below build/integrations")
    return 1 if failed else 0


def _try_target(target: str, names: Sequence[str], *, is_new: bool) -> bool:
    """Try a target on the named formats, or on all or new ones; return whether a check failed."""
    results, path, page = PAIRS if target.startswith("pair") else EXPORTS
    known = read_integrations(results)
    assert not isinstance(known, Problem), known
    before = known.get(target, TargetRecord()) if is_new else TargetRecord()
    if not (chosen := names or formats_without(before)):
        print(f"{target}: nothing is new")
        return False
    record = SUITES[target](chosen)
    failed = _tell(target, record)
    if not names:
        records = {**known, target: joined(before, record)}
        write_integrations(results, records)
        write_atomically(path, page(dict(sorted(records.items()))))
    return failed


def _try_server(suite: str, names: Sequence[str], *, is_new: bool) -> None:
    """Try a server's own parsers: that they don't read everything is a result, and no failure."""
    known = read_servers(SERVER_RESULTS)
    assert not isinstance(known, Problem), known
    server = suite.removesuffix("-parsers")
    before = known.get(server) if is_new else None
    if not (chosen := names or servers_without(before, different_formats())):
        print(f"{suite}: nothing is new")
        return
    record = SERVERS[suite](chosen)
    for name, found in record.formats.items() if names else ():
        print(f"  {name}: {found.pieces} of {found.turns}, {found.parsers}, {found.example}")
    read = sum(found.reads_all for found in record.formats.values())
    print(f"{suite}: {read} of {len(record.formats)} formats are read whole and in pieces")
    if not names:
        records = {**known, server: joined_servers(before, record)}
        write_servers(SERVER_RESULTS, records)
        write_atomically(MATRIX, matrix_page(records))


def _tell(target: str, record: TargetRecord) -> bool:
    """Print what came of a target, and return whether a check failed."""
    results = record.formats
    states = [result.state for result in results.values()]
    told = ", ".join(f"{states.count(state)} {state}" for state in ExportState)
    failing = {name: found for name, found in results.items() if found.passed < found.checks}
    checks, passed = (
        sum(getattr(found, word) for found in results.values()) for word in ("checks", "passed")
    )
    print(f"{target}: {told}; {passed} of {checks} checks passed")
    for name, found in failing.items():
        print(f"  {name}: {found.checks - found.passed} of {found.checks} fail: {found.example}")
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
