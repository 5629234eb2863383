"""The Jinja environment in which chat templates run.

It offers what Hugging Face's tokenizers offer (trimmed blocks, loop controls, ``tojson`` without
HTML escaping, ``raise_exception``, ``strftime_now``, ``{% generation %}``) and what llama.cpp's
engine allows beside it: lists that can be appended to, generators given to ``tojson``, a filter
that reads JSON, and the variables ``functions`` and ``datetime``. Time stands still in it, so that
a rendering never depends on the day.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from types import GeneratorType
from typing import Any

from jinja2 import Template, TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from turnspec.rendering.branches import BranchRecorder

#: The moment at which every template is rendered.
PINNED_TIME = datetime.datetime(2026, 1, 15, 12, 0, 0)

#: The variable that has what is to stand around what the model wrote.
GENERATION_MARKS = "turnspec_generation_marks"

#: The longest rendering that is still taken, in characters.
OUTPUT_LIMIT = 2_000_000


class OutputTooLong(Exception):
    """A template rendered more than `OUTPUT_LIMIT` characters."""


class GenerationTag(Extension):
    """Accept ``{% generation %}…{% endgeneration %}`` and render what stands inside.

    Where the variable `GENERATION_MARKS` has two texts, they stand around it.
    """

    tags = {"generation"}  # noqa: RUF012 (declared so by jinja2)

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the block into its body."""
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        first, last = (
            nodes.Output(
                [self.call_method("mark", [nodes.ContextReference(), nodes.Const(number)])]
            )
            for number in (0, 1)
        )
        return nodes.Scope([first, *body, last]).set_lineno(lineno)

    def mark(self, context: Context, number: int) -> str:
        """Return what stands before (0) or behind (1) a block."""
        return str(context.get(GENERATION_MARKS, ("", ""))[number])


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    if isinstance(value, GeneratorType):
        value = list(value)
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: object) -> None:
    raise TemplateError(str(message))


def _strftime_now(pattern: str) -> str:
    return PINNED_TIME.strftime(pattern)


class ChatEnvironment(SandboxedEnvironment):
    """A sandboxed environment; ``taken`` are the branches that its templates rendered."""

    code_generator_class = BranchRecorder
    taken: set[int]


def create_environment() -> ChatEnvironment:
    """Return a fresh sandboxed environment for chat templates."""
    environment = ChatEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols", GenerationTag],
        optimized=False,  # as `BranchRecorder` wants it
    )
    environment.taken = set()
    environment.filters |= {"tojson": _to_json, "from_json": json.loads, "fromjson": json.loads}
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def render_template(template: Template, variables: Mapping[str, object]) -> str:
    """Render a compiled template, at most `OUTPUT_LIMIT` characters of it.

    Raises:
        OutputTooLong: there is more.
        Exception: whatever the template itself raises.
    """
    context = {
        "functions": _to_json(variables.get("tools") or [], indent=4),
        "datetime": PINNED_TIME.strftime("%Y-%m-%d"),
        **variables,
    }
    return "".join(_limited(template.generate(context)))


def _limited(pieces: Iterable[str]) -> Iterable[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > OUTPUT_LIMIT:
            raise OutputTooLong(f"rendered more than {OUTPUT_LIMIT} characters")
        yield piece
