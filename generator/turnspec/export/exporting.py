"""What an export is: its options, its files, what it loosens, and why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.model import Spec


class ReasoningField(StrEnum):
    """The key under which a target gives reasoning: programs differ in what they take."""

    THINKING = "thinking"  # vLLM and SGLang take only this
    REASONING_CONTENT = "reasoning_content"  # what transformers advises


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What an exporter may need beside the spec; each takes what concerns it.

    Attributes:
        reasoning_field: the key for reasoning, where a target leaves it open.
        tokenizer_config: a model's tokenizer_config.json, into which the export goes.
        request: the tools and the choice among them, for targets that are bound to tools.
        token_ids: a vocabulary's own tokens, for targets that write these as such.
        module: the source of the format's generated parser, for targets that hold it.
        asked: what turnspec's commands call the format: by default its name.
    """

    reasoning_field: ReasoningField = ReasoningField.THINKING
    tokenizer_config: Mapping[str, Any] | None = None
    request: GrammarRequest = field(default_factory=GrammarRequest)
    token_ids: Mapping[str, int] = field(default_factory=dict)
    module: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of a format that a target says less exactly: what, and why."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of an export, text by file name, and what of the format they loosen."""

    files: Mapping[str, str]
    losses: tuple[Loss, ...] = ()


class Refusal(Loss):
    """Why a target can't carry a format at all: what it can't say, and why."""

    __slots__ = ()


def bound_or_refusal(spec: Spec, request: GrammarRequest, what: str = "") -> BoundGrammar | Refusal:
    """Return the grammar for a request, or why there is none; ``what`` is to be bound to tools."""
    if what and not request.tools and request.response_schema is None:
        return Refusal("tools", f"{what} is bound to tools, so give --tools FILE")
    bound = bind_grammar(spec, request)
    return Refusal("the request", "; ".join(map(str, bound))) if isinstance(bound, list) else bound


Exporter = Callable[[Spec, ExportOptions], Exported | Refusal]


@dataclass(frozen=True, slots=True)
class Target:
    """A program that reads exports: its name on the command line, what it is, and its exporter.

    ``start`` is the line that has the program use one, with places for the format's ``{name}``, how
    it was ``{asked}`` for, the ``{folder}`` that the files are in, and the plugin's ``{file}``.
    """

    name: str
    about: str
    export: Exporter
    start: str
