"""The texts that a box of the page offers: sample turns, and how models deviate from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turnspec.cases.drawing import built
from turnspec.codegen.format_module import FormatModule
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format
from turnspec.explain.samples import SAMPLE_TOOLS, sample_outputs
from turnspec.spec.model import Spec


@dataclass(frozen=True, slots=True)
class TextToTry:
    """What a model may have written, and the options that it is parsed with."""

    group: str
    title: str
    text: str
    prefill: str | None  # None where the text follows the template's own prompt
    tools: tuple[Mapping[str, Any], ...]


def texts_to_try(spec: Spec, module: FormatModule) -> tuple[TextToTry, ...]:
    """Return the texts that a format's box offers, those that keep to the format first."""
    tools = tuple(SAMPLE_TOOLS)
    found = [
        TextToTry("sample turns", title, text, None, tools) for title, text in sample_outputs(spec)
    ]
    return (*found, *_deviations(Format(spec, module)))


def _deviations(form: Format) -> Iterator[TextToTry]:
    """Yield the deviations that apply to a format; those with several texts are numbered."""
    for name, build in DEVIATIONS.items():
        group, title = name.split(": ")
        found = [
            TextToTry(group, title, case.text, case.options["prefill"], tuple(tools or ()))
            for case in built(build, form)
            for tools in [case.options.get("tools")]
        ]
        distinct = list({json.dumps([text.text, text.prefill]): text for text in found}.values())
        yield from distinct if len(distinct) == 1 else _numbered(distinct)


def _numbered(texts: Iterable[TextToTry]) -> Iterator[TextToTry]:
    for number, text in enumerate(texts, 1):
        title = f"{text.title} ({number})"
        yield TextToTry(text.group, title, text.text, text.prefill, text.tools)
