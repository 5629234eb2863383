"""Every format's `response_template` in transformers' own parser: rungs 1, 1b and 2."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tests.generated_formats import committed_format
from tests.integrations.environments import environment, versions
from tests.integrations.turns import Case, cases
from turnspec.export.exporting import ExportOptions, Loss, Refusal
from turnspec.export.response_arguments import SENTINELS
from turnspec.export.response_template import NAMES_IN_IDS, response_template
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.verification.comparing import has_ids, trims_strings

PACKAGES = ["transformers==5.23.0", "jinja2"]
_RUN = Path(__file__).with_name("response_template_run.py")
_LONGEST = 400  # characters of an example


class Reading(Enum):
    """How a turn came back."""

    EXACT = "exact"
    LOOSE = "loose"  # but for what the losses say
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Asked:
    """A format's template, what it loosens, and the turns that it is tried on."""

    spec: Spec
    template: Mapping[str, Any]
    losses: tuple[Loss, ...]
    cases: Sequence[Case]


def run_response_template(names: Sequence[str]) -> TargetRecord:
    """Read the turns of the named formats."""
    python = environment("transformers", [PACKAGES])
    results: dict[str, IntegrationResult] = {}
    asked: dict[str, Asked] = {}
    for name in names:
        spec = committed_format(name).spec
        found = response_template(spec, ExportOptions())
        if isinstance(found, Refusal):
            refused = (str(found),)
            results[name] = IntegrationResult(spec_hash(spec), ExportState.REFUSED, losses=refused)
        else:
            asked[name] = Asked(spec, *found, cases(spec))
    given = [{"template": a.template, "cases": list(map(_given, a.cases))} for a in asked.values()]
    done = subprocess.run(
        [python, _RUN], input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True
    )
    for (name, one), read in zip(asked.items(), json.loads(done.stdout), strict=True):
        results[name] = _result(one, read)
    return TargetRecord(versions(python, ["transformers"]), results)


def _given(case: Case) -> dict[str, Any]:
    return {"prefix": case.prefill, "text": case.text, "tools": case.tools}


def _result(asked: Asked, read: Sequence[Mapping[str, Any]]) -> IntegrationResult:
    readings: list[Reading] = []
    failures: list[str] = []
    for case, found in zip(asked.cases, read, strict=True):
        reading = reading_of(asked, case, found["message"])
        if reading is Reading.WRONG:
            wrote = f"behind {case.prefill!r} wrote {case.text!r}"
            failures.append(f"rung {case.rung}: got {found['message']}: {wrote}; {case.wanted}")
        elif not found["same"]:
            failures.append(f"rung 2: in pieces {case.text!r} is read otherwise than whole")
            reading = Reading.WRONG
        readings.append(reading)
    return IntegrationResult(
        spec_hash(asked.spec),
        ExportState.LOOSENED if asked.losses else ExportState.EXPORTED,
        checks=len(readings),
        passed=len(readings) - len(failures),
        loosely=readings.count(Reading.LOOSE),
        cuts=sum(found["cuts"] for found in read),
        raised=sum(found["raised"] for found in read),
        losses=tuple(map(str, asked.losses)),
        example=min(failures, key=len, default="")[:_LONGEST],
    )


def reading_of(asked: Asked, case: Case, message: Any) -> Reading:
    """Compare a message, or what was raised instead, with what was written."""
    wanted, spec = case.wanted, asked.spec
    if isinstance(message, str):
        return Reading.LOOSE if _is_told_to_raise(asked, case, message) else Reading.WRONG
    texts = (message.get("content", ""), message.get("thinking", ""))
    calls = message.get("tool_calls", [])
    if texts != (wanted.content, wanted.reasoning) or len(calls) != len(wanted.calls):
        return Reading.WRONG
    readings = {Reading.EXACT}
    for call, (name, text, identifier) in zip(calls, wanted.calls, strict=True):
        shown = call.get("id", "") if has_ids(spec) else ""
        named = call["function"]["name"]
        is_in_id = NAMES_IN_IDS in asked.losses and name in named
        if not (named == name or is_in_id) or shown != identifier:
            return Reading.WRONG
        readings.add(Reading.EXACT if named == name else Reading.LOOSE)
        readings.add(_arguments(asked, json.loads(text), call["function"]["arguments"]))
    return max(readings, key=list(Reading).index)


def _is_told_to_raise(asked: Asked, case: Case, error: str) -> bool:
    """Tell whether the losses say that transformers raises at a character of the turn."""
    named = {loss.what for loss in asked.losses}
    holds_one = any(character in case.text for character in "\x01\x02")
    return SENTINELS in named and holds_one and error.startswith("ValueError")


def _arguments(asked: Asked, wanted: dict[str, Any], got: Any) -> Reading:
    if not isinstance(got, dict) or [*sorted(got)] != [*sorted(wanted)]:
        return Reading.WRONG
    trims = trims_strings(asked.spec)
    readings = {Reading.EXACT}
    for key, value in wanted.items():
        found = got[key].strip() if trims and isinstance(got[key], str) else got[key]
        if _plain(found) != _plain(value):
            readings.add(Reading.LOOSE if _is_loose(asked, value, found) else Reading.WRONG)
    return max(readings, key=list(Reading).index)


def _plain(value: Any) -> str:
    """Return a value as text in which 1.0 is 1, as it is to JSON."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_plain(value[key])}' for key in sorted(value))}}}"
    return json.dumps(value)


def _is_loose(asked: Asked, wanted: Any, got: Any) -> bool:
    """Tell whether a value came back as the losses say: as text, with its escapes."""
    named = {loss.what for loss in asked.losses}
    if isinstance(wanted, list | dict):
        stays_text = {"arrays and objects", "keys inside objects", "null", "escapes in strings"}
        return bool(named & stays_text) and (isinstance(got, str) or "escapes in strings" in named)
    return isinstance(wanted, str) and isinstance(got, str) and "escapes in strings" in named
