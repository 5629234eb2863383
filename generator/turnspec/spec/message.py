"""An assistant message: what is rendered, written and parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: the function's name, its arguments as an object, and the id it carries."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """What an assistant says in one turn. An empty string means that the part is absent."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
