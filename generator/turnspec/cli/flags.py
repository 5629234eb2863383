"""`turnspec flags`: which of a server's own parsers reads a format, and how to start the server."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog, installed_formats
from turnspec.cli.common import HUB_OFFLINE, JSON, ROOT, TIME_LIMIT
from turnspec.cli.console import Fault, or_fault, put_json, say
from turnspec.cli.formats import catalog_of, find, format_names, spec_at, tell_unverified
from turnspec.export.targets import start_line
from turnspec.pipeline.project import INTEGRATIONS, SERVERS
from turnspec.rendering.limits import Limits
from turnspec.sources.hub_place import HubModel
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.integration_results import ExportState, IntegrationResult, read_integrations
from turnspec.spec.model import Spec
from turnspec.spec.server_results import ServerRecord, ServerResult, read_servers


@dataclass(frozen=True, slots=True)
class _Server:
    """How a server is started, what its options for parsers are, and the plugin that it takes."""

    start: str
    target: str
    tools: str = ""
    reasoning: str = ""
    alone: str = "without a parser"


_TOOLS, _REASONING = " --tool-call-parser {}", " --reasoning-parser {}"
_SERVERS = {
    "vllm": _Server("vllm serve MODEL", "vllm", f" --enable-auto-tool-choice{_TOOLS}", _REASONING),
    "sglang": _Server("sglang serve --model-path MODEL", "sglang", _TOOLS, _REASONING),
    "llama.cpp": _Server(
        "llama-server --jinja -m MODEL.gguf",
        "llama-cpp-python",
        alone="the parser that it makes of the template",
    ),
}


@dataclass(frozen=True, slots=True)
class _Advice:
    """What is known of a server and a format; ``result`` and ``plugin`` where that was recorded."""

    server: str
    record: ServerRecord
    result: ServerResult | None
    plugin: IntegrationResult | None
    export: tuple[str, ...]
    model: str
    analysed: bool  # whether the format is new, so that an analysis comes first
    earlier: bool  # whether it was recorded of an earlier spec of the format

    @property
    def command(self) -> str:
        """The line that starts the server with the best of its own parsers."""
        server = _SERVERS[self.server]
        tools, reasoning = (*(self.result.parsers[0] if self.result else ()), "", "")[:2]
        line = _named(server.start, self.model)
        line += server.tools.format(tools) if tools else ""
        return line + (server.reasoning.format(reasoning) if reasoning else "")

    @property
    def own(self) -> bool:
        """Whether the server's own parsers read every turn."""
        return self.result is not None and self.result.reads_all

    def data(self) -> dict[str, object]:
        """Return it as plain data."""
        found, plugin = self.result, self.plugin
        told: dict[str, object] = {"server": self.server, "package": self.record.package}
        told |= {"version": self.record.version, "own": self.own, "recorded": found is not None}
        told["earlier"] = self.earlier
        if found is not None:
            told |= {"turns": found.turns, "whole": found.whole, "pieces": found.pieces}
            told["parsers"] = [
                {"tools": t or None, "reasoning": r or None} for t, r in found.parsers
            ]
            told["fails"] = dict(zip(("text", "read"), found.example, strict=False)) or None
        if found is not None and found.parsers:
            told["command"] = self.command
        counts = {"checks": plugin.checks, "passed": plugin.passed} if plugin else {}
        return {**told, "plugin": {"commands": list(self.export), **counts}}


@click.command()
@click.argument("model", shell_complete=format_names)
@JSON
@HUB_OFFLINE
@ROOT
@TIME_LIMIT
def flags(model: str, as_json: bool, root: Path | None, limits: Limits) -> None:
    """Say with which options servers read a model's turns: vLLM, SGLang, llama.cpp.

    MODEL is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a template (a
    .jinja file, a model folder, a GGUF file), or the path of a spec. All parsers that a server
    brings along were run on the format's turns, as a whole and in pieces; the best is told, with
    the shortest turn that it doesn't read. Where it doesn't read all, a plugin of turnspec's does.

    \b
    Example:
      turnspec flags qwen3-coder
      turnspec flags Qwen/Qwen3-0.6B --json
    """  # noqa: D301
    catalog = catalog_of(root)
    spec = spec_at(model, catalog, limits)
    if model.endswith(SPEC_SUFFIX):
        tell_unverified(find(model, catalog))
    advice = list(_advice(spec, catalog, model))
    if as_json:
        put_json({"format": spec.name, "servers": [found.data() for found in advice]}, indent=2)
        return
    say(spec.name)
    for found in advice:
        _print(found)


def _advice(spec: Spec, catalog: Catalog, asked: str) -> Iterator[_Advice]:
    """Yield what was recorded, in the repository around or with turnspec itself."""
    for project in (catalog.project, installed_formats()):
        if project is not None and (project.root / SERVERS).is_file():
            break
    else:
        raise Fault(
            "no servers.json: nothing is recorded here; in a checkout run: make integrations"
        )
    records = or_fault(read_servers(project.root / SERVERS))
    exports = or_fault(read_integrations(project.root / INTEGRATIONS))
    digest, name, known = fingerprint(spec), HubModel.read(asked), catalog.formats.get(spec.name)
    same = known is not None and known.sha256 == spec.template.sha256
    place = name.repository if name else asked
    exported, (*analyse, export) = _exported(spec, catalog, asked)
    for server, way in _SERVERS.items():
        record = records.get(server)
        if record is None:
            continue
        target = exports.get(way.target)
        plugin = target.formats.get(exported.name) if target else None
        start = _named(start_line(exported, way.target, Path()), place)
        lines = tuple(f"{line} --into ." for line in (*analyse, f"{export} --to {way.target}"))
        result = record.of(spec.name if same else "", digest)
        earlier = result is not None and result.fingerprint != digest
        told = (*lines, start), place, bool(analyse), earlier
        yield _Advice(server, record, result, plugin, *told)


def _exported(spec: Spec, catalog: Catalog, asked: str) -> tuple[Spec, tuple[str, ...]]:
    """Return a spec by the name that an export has, and what exports it, analysed if it is new."""
    export = (f"turnspec export {shlex.quote(asked)}",)
    known = catalog.formats.get(spec.name)
    is_known = known is not None and known.sha256 == spec.template.sha256
    if is_known or asked.endswith(SPEC_SUFFIX):
        return spec, export
    # It brings the analysis along, which a known format doesn't need.
    from turnspec.catalog.identify import Identity, Kind, as_overlaid

    alike = catalog.by_fingerprint().get(fingerprint(spec))
    names = as_overlaid(Identity(asked, "", Kind.NEW, spec=spec), catalog).names
    if alike or names:
        return replace(spec, name=alike[0][0] if alike else names[0]), export
    analyse = f"turnspec analyze {shlex.quote(asked)}"
    return spec, (analyse, f"turnspec export {shlex.quote(spec.name + SPEC_SUFFIX)}")


def _named(line: str, model: str) -> str:
    """Return a line with the model that was asked for, where it is one that the line can name."""
    if model.endswith(".gguf"):
        return line.replace("MODEL.gguf", shlex.quote(model))
    is_model = "/" in model and not Path(model).is_file()
    return re.sub(r"\bMODEL\b(?!\.)", shlex.quote(model), line) if is_model else line


def _print(found: _Advice) -> None:
    record, result, plugin = found.record, found.result, found.plugin
    say(f"\n{found.server} ({record.package} {record.version})", "bold")
    if result is None:
        say("  nothing is recorded of this format", "yellow")
    elif not result.parsers:
        say(f"  none of its parsers reads any of {result.turns} turns", "red")
    else:
        names = " + ".join(filter(None, result.parsers[0])) or _SERVERS[found.server].alone
        told = f"  {names}: {result.pieces} of {result.turns} turns come back, whole and in pieces"
        more = f" ({result.whole} whole)" if result.whole > result.pieces else ""
        say(told + more, "green" if result.reads_all else "red")
        if len(result.parsers) > 1:
            also = ", ".join("+".join(filter(None, pair)) for pair in result.parsers[1:])
            say(f"  as much: {also}", "dim")
        say(f"    {found.command}")
    if found.earlier:
        say("  recorded of an earlier spec of it", "yellow")
    if result is not None and result.example:
        say(f"  wrong, the shortest: {result.example[0]!r}")
        say(f"    {result.example[1]}")
    if found.own:
        return
    if plugin is not None and plugin.state is not ExportState.REFUSED:
        say(f"  the plugin reads {plugin.passed} of {plugin.checks} turns:")
    else:
        say(f"  a plugin reads it{', if the analysis is verified' * found.analysed}:")
    for line in found.export:
        say(f"    {line}")
