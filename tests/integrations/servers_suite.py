"""Every format against all parsers that servers bring along: specs/servers.json, docs/MATRIX.md.

The turns are those that a model writes behind a real generation prompt (rung 1b), without what ends
them, as servers keep that to themselves. Tools are offered wherever the format has calls.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.generated_formats import ROOT, committed_format
from tests.integrations import sglang_suite, vllm_suite
from tests.integrations.environments import environment, versions
from tests.integrations.served_turns import (
    given,
    read_on_all_cores,
    some,
    special_tokens,
    vocabulary,
)
from tests.integrations.turns import Case, cases, template_text
from turnspec.catalog.catalog import Catalog
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.server_results import ServerRecord, ServerResult
from turnspec.verification.comparing import trims_strings

_MARKERS = re.compile(r"<[^<>\s{}]{1,40}>|\[/?[A-Z_]{2,40}\]")
_HERE = Path(__file__).parent
_LONGEST = 200  # characters of an example


def different_formats() -> list[str]:
    """Return a name for each format that isn't the same as another one's, packagers' names last."""
    known: dict[str, str] = {}
    for found in Catalog.around(ROOT):
        known.setdefault(fingerprint(committed_format(found.name).spec), found.name)
    return sorted(known.values())


def run_vllm_parsers(names: Sequence[str]) -> ServerRecord:
    """Try vLLM's parsers on the named formats."""
    python = environment("vllm", vllm_suite.PACKAGES)
    return _run("vllm", python, {"VLLM_LOGGING_LEVEL": "CRITICAL"}, names)


def run_sglang_parsers(names: Sequence[str]) -> ServerRecord:
    """Try SGLang's parsers on the named formats."""
    python = environment("sglang", sglang_suite.PACKAGES)
    return _run("sglang", python, {}, names)


def _run(
    server: str, python: Path, variables: Mapping[str, str], names: Sequence[str]
) -> ServerRecord:
    specs = {name: committed_format(name).spec for name in names}
    forms = [form_of(spec) for spec in specs.values()]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "generator")))
    told = read_on_all_cores(
        [python, "-W", "ignore", _HERE / f"{server}_parsers_run.py"],
        {"vocabulary": str(vocabulary()), "formats": forms},
        {**os.environ, **variables, "PYTHONPATH": paths, "TOKENIZERS_PARALLELISM": "false"},
    )
    pairs = zip(specs.values(), forms, told, strict=True)
    results = {spec.name: result_of(spec, form, found) for spec, form, found in pairs}
    version = versions(python, [server])[server]
    return ServerRecord(server, version, told[0]["parsers"], results)


def form_of(spec: Spec) -> dict[str, Any]:
    """Return a format as data: its turns, its template, and the tokens that its models may have.

    These are its markers, and what else looks like one in the template: some parsers refuse a
    vocabulary without it.
    """
    template = template_text(spec.name)
    asked = some([case for case in cases(spec) if case.rung == "1b"])
    more = vllm_suite.MORE_TOKENS.get(spec.name, ())
    tools = next((case.tools for case in asked if case.tools), [])
    return {
        "name": spec.name,
        "template": template,
        "specials": sorted({*special_tokens(spec), *more, *_MARKERS.findall(template)}),
        "options": vllm_suite.OPTIONS.get(spec.name, {}),
        "cases": [_case(spec, case, tools) for case in asked],
    }


def _case(spec: Spec, case: Case, tools: Sequence[Any]) -> dict[str, Any]:
    found = given(spec, case)
    said = case.wanted
    calls = [[name, json.loads(arguments)] for name, arguments, _ in said.calls]
    return {
        **found,
        "text": found["ended"],
        "tools": found["tools"] or tools,
        "wanted": [said.reasoning, said.content, calls],
        "trims": trims_strings(spec),
    }


def result_of(spec: Spec, form: Mapping[str, Any], found: Any) -> ServerResult:
    """Return what is recorded of a format: the best pair, and those that read as much."""
    pairs = found["pairs"]
    counts = [(pair["whole"], pair["pieces"]) for pair in pairs]
    alike = (pair["names"] for pair, count in zip(pairs, counts, strict=True) if count == counts[0])
    return ServerResult(
        fingerprint(spec),
        len(form["cases"]),
        *counts[0],
        parsers=(
            tuple(tuple(name or "" for name in names) for names in alike) if any(counts[0]) else ()
        ),
        example=tuple(map(_shortened, pairs[0]["example"] or ())),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
