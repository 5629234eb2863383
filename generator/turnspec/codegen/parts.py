"""Which parts of the engine of scripts a format needs, and how they are joined to a parser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from turnspec.codegen.format import Format


@dataclass(frozen=True, slots=True)
class Join:
    """A class of the engine, and those that it is to use, by the names of its parameters."""

    name: str
    uses: Mapping[str, Join] = field(default_factory=dict)

    def names(self) -> Iterator[str]:
        """Yield the names of all classes in it."""
        yield self.name
        for used in self.uses.values():
            yield from used.names()


def join_parts(table: Format) -> Join | None:
    """Return what reads a format's calls; None where it has none."""
    if "calls" not in table:
        return None
    arguments = table["arguments"]
    code = {"code": Join("Code")} if "code" in table else {}
    value = {"value": Join("OtherValue" if "values" in arguments else "Value")}
    if table["calls"]["form"] == "objects":
        return Join("ObjectCalls", {**value, **code})
    nested = {"nested": Join("Elements")} if "elements" in arguments else {}
    readers = {
        "json": Join("JsonArguments", value),
        "values": Join("ValueArguments", value),
        "text": Join("TextArguments", nested),
    }
    return Join("HeadCalls", {"arguments": readers[arguments["form"]], **code})
