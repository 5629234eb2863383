"""Conversations that both this project and transformers render, in each template's own form."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.generated_formats import EVERY_FORMAT, covering
from turnspec.chat import NAMED_FORMATS, ChatError, ChatTemplate, Polyfill
from turnspec.chat.form import MessageForm
from turnspec.rendering.worker import Rendering, RenderWorker
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "CAPABILITIES.md"
NOW = datetime.datetime(2026, 1, 15, 12, 0, 0)

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tell the weather.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where?"},
                "days": {"type": "integer", "description": "For how many days?"},
            },
            "required": ["city"],
        },
    },
}
TIME = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Tell the time.",
        "parameters": {
            "type": "object",
            "properties": {"zone": {"type": "string", "description": "Where?"}},
            "required": ["zone"],
        },
    },
}


def call(name: str, arguments: object, number: str) -> dict[str, object]:
    """Return a tool call as chat APIs have it."""
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = {"role": "system", "content": "Be brief & <kind>."}
USER = {"role": "user", "content": "What's the weather in Paris?"}
ANSWER = {"role": "assistant", "content": "It rains."}
THOUGHTFUL = {**ANSWER, "reasoning_content": "They ask for the weather."}
THANKS = {"role": "user", "content": "Thanks! And é in 東京?"}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [call("get_weather", '{"city": "Paris", "days": 2}', "abcdef123")],
}
CALLING_TWO = {
    "role": "assistant",
    "content": "I will look.",
    "tool_calls": [
        call("get_weather", '{"city": "Paris"}', "abcdef123"),
        call("get_time", {"zone": "Europe/Paris"}, "ghijkl456"),
    ],
}
RAIN = {"role": "tool", "tool_call_id": "abcdef123", "content": "rain"}
NOON = {"role": "tool", "tool_call_id": "ghijkl456", "content": "noon"}
PARTS = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}

#: Arguments of `ChatTemplate.render` by the case's name.
CASES: Mapping[str, Mapping[str, Any]] = {
    "question": {"messages": [USER]},
    "talk": {"messages": [SYSTEM, USER, ANSWER, THANKS]},
    "finished": {"messages": [SYSTEM, USER, ANSWER], "add_generation_prompt": False},
    "reasoning": {"messages": [USER, THOUGHTFUL, THANKS]},
    "reasoned": {"messages": [USER, THOUGHTFUL], "add_generation_prompt": False},
    "without thinking": {"messages": [SYSTEM, USER], "thinking": False},
    "parts": {"messages": [PARTS]},
    "tools": {"messages": [SYSTEM, USER], "tools": [WEATHER, TIME]},
    "call": {"messages": [USER, CALLING, RAIN], "tools": [WEATHER, TIME]},
    "calls": {
        "messages": [SYSTEM, USER, CALLING_TWO, RAIN, NOON, ANSWER, THANKS],
        "tools": [WEATHER, TIME],
    },
}


class RecordingWorker(RenderWorker):
    """A worker that keeps what it was asked to render."""

    def __init__(self) -> None:
        """Start as a worker does."""
        super().__init__()
        self.asked: list[tuple[str, Mapping[str, object]]] = []

    def render(self, source: str, variables: Mapping[str, object]) -> Rendering:
        """Render, and keep what."""
        self.asked.append((source, variables))
        return super().render(source, variables)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of one template: what the template was given, and our text or error.

    ``plain`` is what it would be given by someone who knows nothing of its form: the messages as
    chat APIs have them, with arguments as an object.
    """

    template: str
    name: str
    source: str
    variables: Mapping[str, object]
    plain: Mapping[str, object]
    form: MessageForm
    text: str | None
    error: str
    polyfills: tuple[Polyfill, ...]


def template_names() -> list[str]:
    """Return the names of all committed specs, and of the formats of our own."""
    return [*sorted(path.stem for path in (ROOT / "specs").glob("*.yaml")), *NAMED_FORMATS]


_TEXTS = ("thinking", "channel", "increments")


def ways_of_templates() -> dict[str, set[tuple[str, str]]]:
    """Return in what ways templates take conversations, as docs/CAPABILITIES.md says it of each.

    What is a text of its own in most of them is left out, and the count of increments.
    """
    _, _, text = PAGE.read_text(encoding="utf-8").partition("## The templates\n")
    head, _, *rows = [row for row in text.splitlines() if row.startswith("|")]
    kinds = _cells(head)[1:]
    return {
        row[0].lstrip("[").partition("]")[0]: _ways(kinds, row[1:]) for row in map(_cells, rows)
    }


def _ways(kinds: Sequence[str], cells: Sequence[str]) -> set[tuple[str, str]]:
    """Return the ways of a row; what stands in for something is told for each."""
    told = [(kind, cell) for kind, cell in zip(kinds, cells, strict=True) if kind not in _TEXTS]
    return {(kind, way) for kind, cell in told for way in cell.split(", ")}


def a_few_templates() -> list[str]:
    """Return a few that take conversations in all ways there are, and the formats of our own."""
    return sorted({*covering(ways_of_templates()), *NAMED_FORMATS})


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def tried_templates() -> list[str]:
    """Return the names of the templates that tests take: a few, in the long runs all."""
    return template_names() if EVERY_FORMAT else a_few_templates()


class OpenTemplates:
    """Templates that are opened once, and rendered in one process that keeps what it is asked."""

    def __init__(self, worker: RecordingWorker) -> None:
        """Open nothing yet."""
        self.worker = worker
        self._open: dict[str, ChatTemplate] = {}

    def __getitem__(self, name: str) -> ChatTemplate:
        """Return a reference template, or one of the named formats."""
        if name not in self._open:
            if name in NAMED_FORMATS:
                self._open[name] = ChatTemplate.named(name, self.worker)
            else:
                spec = read_spec(ROOT / "specs" / f"{name}.yaml")
                assert isinstance(spec, Spec), spec
                folders = (ROOT / "templates", ROOT / "templates/fetched")
                places = (folder / spec.template.file for folder in folders)
                text = next(filter(Path.is_file, places)).read_text("utf-8")
                self._open[name] = ChatTemplate.of_spec(spec, text, worker=self.worker)
            assert self._open[name].form  # what probes the template isn't to be recorded
        self.worker.asked.clear()
        return self._open[name]


def rendered_cases(templates: OpenTemplates, names: Sequence[str]) -> Iterator[Case]:
    """Yield all cases of some templates, with what each template was given for them."""
    for template in names:
        for name, given in CASES.items():
            chat = templates[template]
            text, error = None, ""
            polyfills: tuple[Polyfill, ...] = ()
            try:
                prompt = chat.render(**given, now=NOW)
                text, polyfills = prompt.text, prompt.polyfills
            except ChatError as found:
                error = str(found)
            source, variables = templates.worker.asked[0]
            plain = {**variables, "messages": _plain(given["messages"])}
            plain |= {"tools": given["tools"]} if "tools" in given else {}
            yield Case(template, name, source, variables, plain, chat.form, text, error, polyfills)


def _plain(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return messages with each call's arguments as an object."""
    return [
        (
            {**message, "tool_calls": [_with_object(call) for call in message["tool_calls"]]}
            if "tool_calls" in message
            else message
        )
        for message in messages
    ]


def _with_object(call: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = call["function"]["arguments"]
    loaded = json.loads(arguments) if isinstance(arguments, str) else arguments
    return {**call, "function": {**call["function"], "arguments": loaded}}
