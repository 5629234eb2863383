"""Hugging Face's `response_template`: the JSON by which transformers and others read turns.

It cuts a turn into regions by regular expressions, and reads what is in each as text, JSON or tags.
What it says of its keys is in transformers' documentation of response parsing; this was written for
version 5.23, whose template format has the version 1.
"""

from __future__ import annotations

import json
from typing import Any

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.expressions import either, escaped, spaced
from turnspec.spec.model import Literal, ReasoningMode, Spec, ToolMode, Tools

FILE = "response_template.json"
KEY = "response_template"
CONFIG_FILE = "tokenizer_config.json"


def export_response_template(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return the template as a file, or the tokenizer's file with the template in it."""
    template = response_template(spec, options)
    if isinstance(template, Refusal):
        return template
    config = options.tokenizer_config
    file, data = (FILE, template) if config is None else (CONFIG_FILE, {**config, KEY: template})
    # Laid out as transformers writes its own files.
    return Exported({file: json.dumps(data, indent=2, ensure_ascii=False) + "\n"})


def response_template(spec: Spec, options: ExportOptions) -> dict[str, Any] | Refusal:
    """Return the template as data."""
    fields: dict[str, Any] = {}
    if spec.reasoning.mode is not ReasoningMode.NONE:
        if not spec.reasoning.start.strip() or not spec.reasoning.end.strip():
            return Refusal("reasoning", "it has no mark of its own on both sides")
        fields[options.reasoning_field] = {
            "open_pattern": spaced(spec.reasoning.start),
            "close_pattern": spaced(spec.reasoning.end),
            "repeats": True,
            "join": "\n",
        }
    if spec.tools is not None:
        calls = _calls(spec.tools)
        if isinstance(calls, Refusal):
            return calls
        fields["tool_calls"] = calls
    stops = either(map(escaped, spec.turn.stop))
    close = {"close_pattern": rf"\s*{stops}.*"} if spec.turn.stop else {}
    fields["content"] = {**close, "repeats": True, "join": "\n"}
    return {"version": 1, "start_anchor": spec.turn.header, "fields": fields}


def _calls(tools: Tools) -> dict[str, Any] | Refusal:
    first, last = tools.call[0], tools.call[-1]
    if tools.mode is not ToolMode.JSON_NATIVE or not tools.fields.name:
        return Refusal("tool calls", "only those that are JSON objects can be exported yet")
    if not isinstance(first, Literal) or not isinstance(last, Literal):
        return Refusal("tool calls", "they have no marks around them")
    start, end = first.text.partition("{")[0], last.text.rpartition("}")[2]
    if not start.strip() or not end.strip():
        return Refusal("tool calls", "they have no marks around each")
    path = {"name": tools.fields.name, "arguments": tools.fields.arguments}
    function = {key: f"{{content.{'.'.join(keys)}}}" for key, keys in path.items()}
    return {
        "open_pattern": spaced(start),
        "close_pattern": spaced(end),
        "content": "json",
        "repeats": True,
        "transform": {"type": "function", "function": function},
    }
