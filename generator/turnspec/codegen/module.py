"""Spec -> the source of a Python parser module: its format table, and the engine's parts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.compiled import compiled_module
from turnspec.codegen.facts import facts_of, is_compiled
from turnspec.codegen.parts import Join, import_lines, join_parts, needed_parts, part_text
from turnspec.codegen.table import format_table
from turnspec.engine import ENGINE_VERSION
from turnspec.engine.format import Format
from turnspec.spec.model import Spec
from turnspec.spec.recipe import REGENERATE

_TEMPLATES = Path(__file__).parent / "templates"
_LINE_LENGTH = 100
#: What a module is used by.
_PUBLIC = (
    *("FORMAT", "ContentDelta", "Event", "Format", "Message", "Parser", "Problem"),
    *("ReasoningDelta", "ToolCall", "ToolCallDelta", "ToolCallEnd", "ToolCallStart", "parse"),
)


def generate_module(
    spec: Spec,
    *,
    spec_path: str,
    spec_hash: str,
    samples: Sequence[str] = (),
    command: str = REGENERATE,
) -> str:
    """Return the source of the parser module for a spec.

    ``spec_path``, ``spec_hash`` and ``command`` go into the banner, ``samples`` are turns to be
    shown.
    """
    table = format_table(spec)
    if is_compiled(table):
        head = banner(spec_path, spec_hash, command=command)
        return sealed(head + compiled_module(facts_of(table), samples, list(_notes(spec))))
    shown = [_block(sample) for sample in samples]
    notes = [_filled(note) for note in _notes(spec)]
    lines = [line for block in [*shown, *notes] for line in block.split("\n")]
    source = (
        environment()
        .get_template("module.jinja")
        .render(
            banner=banner(spec_path, spec_hash, command=command).rstrip("\n"),
            name=_visible(spec.name),
            samples=shown,
            notes=notes,
            long_lines=any(map(_is_too_long, lines)),
            table=table_source(table),
            **_engine(table),
        )
    )
    return sealed(source)


def _engine(table: Format) -> dict[str, object]:
    """Return the values of the template that say what follows the table."""
    join = join_parts(table)
    parts = [part_text(name) for name in needed_parts(table)]
    imports = [node for part in parts for node in part.imports]
    return {
        "engine_version": ENGINE_VERSION,
        "imports": import_lines(imports, with_partial=bool(join and join.uses_partial)),
        "parts": parts,
        "joined": joined_source(join),
    }


def joined_source(join: Join | None) -> str:
    """Return the statements that join the parts to ``Parser`` and ``parse``."""
    made = f"{join.name}(text, tools, id_prefix, {join.parameters})" if join else ""
    source = environment().get_template("joined.jinja").render(made=made)
    return _formatted(source).rstrip("\n")


def table_source(table: Format) -> str:
    """Return the statements that give a module its format table, and its public names."""
    source = _formatted(f"__all__ = {list(_PUBLIC)}\n\nFORMAT: Format = {table!r}\n")
    return "\n".join(map(_with_excuse, source.rstrip("\n").split("\n")))


def _with_excuse(line: str) -> str:
    """Return a line of a table; a long string can't be broken, and linters are told so."""
    return f"{line}  # noqa: E501" if _is_too_long(line) else line


def _is_too_long(line: str) -> bool:
    """Say whether a linter objects to a line's length: to that of a single word it doesn't."""
    return len(line) > _LINE_LENGTH and len(line.split()) > 1


@lru_cache(maxsize=512)  # black takes long, and one format is often written again
def _formatted(source: str) -> str:
    # Only who generates parsers has black (the extra `build`).
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=_LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(source, mode=mode)


def _notes(spec: Spec) -> Iterator[str]:
    """Yield what a user has to know beside the table: a word that switches thinking."""
    thinking = spec.thinking
    for enable, verb in ((False, "disables"), (True, "enables")):
        state = thinking.state(enable)
        if state.variables or state == thinking.default:
            continue
        for word in thinking.words:
            if word.prompt == state.prompt:
                roles = " or ".join(word.roles)
                said = f"the text of a {roles} message ends with {_visible(word.word)!r}"
                yield f"The prompt {verb} thinking if {said}."
                break


def _filled(note: str) -> str:
    """Return a note in lines; words stay whole, as one may be quoted from a template."""
    return textwrap.fill(note, _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)


def _block(text: str) -> str:
    """Return a turn as an indented block for a docstring."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    return "\n".join(f"    {_visible(line)}".rstrip() for line in lines)


def _visible(text: str) -> str:
    """Return text fit for the inside of a docstring, on one line."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return visible.replace("\\", "\\\\").replace('"""', "'''")


@cache  # it keeps the templates that it has compiled
def environment() -> Environment:
    """Return the environment of the templates that lay modules out."""
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
