"""Parsers in memory: a format table and the engine's own classes, or a generated module's text."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from turnspec.codegen.parts import join_parts
from turnspec.codegen.table import format_table
from turnspec.codegen.table_checks import table_problems
from turnspec.engine.format import CompiledFormat, Format
from turnspec.engine.parser import TurnParser, pieces_of
from turnspec.engine.results import Message
from turnspec.engine.text import CallReader, Text
from turnspec.engine.tools import Tools
from turnspec.spec.model import Spec


class FormatModule(Protocol):
    """What can be used to read a format: a generated module, or a format in memory."""

    @property
    def FORMAT(self) -> Format:
        """The format table."""

    @property
    def Parser(self) -> Callable[..., Any]:
        """The streaming parser."""

    @property
    def parse(self) -> Callable[..., Any]:
        """What reads a whole text."""


@dataclass(frozen=True, slots=True)
class LoadedFormat:
    """A format to be used as its generated module would be."""

    FORMAT: Format
    Parser: type[TurnParser]

    def parse(self, text: str | Iterable[tuple[str, bool]], **options: Any) -> Message:
        """Return the message in ``text``, what the model wrote; the options are `Parser`'s.

        The text may also come as pieces, each with a flag: whether it is a special token.
        """
        parser = self.Parser(**options)
        for piece, special in pieces_of(text):
            parser.feed(piece, special)
        parser.finish()
        return parser.message


def load(spec: Spec) -> LoadedFormat:
    """Return a format in memory, from its spec."""
    return load_table(format_table(spec))


def load_table(table: Format) -> LoadedFormat:
    """Return a format in memory, from its table.

    Raises:
        ValueError: the table can't be used; says all reasons.
    """
    if problems := table_problems(table):
        raise ValueError("; ".join(problems))
    join = join_parts(table)

    class Parser(TurnParser):
        format = CompiledFormat(table)

        def _make_calls(self, text: Text, tools: Tools | None, id_prefix: str) -> CallReader | None:
            if join is None:
                return super()._make_calls(text, tools, id_prefix)
            reader: CallReader = join.maker(text, tools, id_prefix)
            return reader

    return LoadedFormat(table, Parser)


def load_module(text: str) -> FormatModule:
    """Import a generated module from its text, as a user would from its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated_parser.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("generated_parser", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    return cast(FormatModule, module)
