"""A generated Python module -> the same parser in TypeScript or JavaScript.

It is printed from that module (`printer/`). Copies that share an engine have the format's table
and the engine's other form, `engine/typescript/`; what is in `engine/javascript/` the TypeScript
compiler makes of it, so that vendoring needs no Node.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from turnspec import engine
from turnspec.codegen.banner import (
    PRINTED_SOURCES,
    SCRIPT_SOURCES,
    banner,
    named_place,
    named_spec,
    sealed,
)
from turnspec.codegen.format import Format
from turnspec.codegen.parts import Join, join_parts
from turnspec.codegen.printer.comments import block
from turnspec.codegen.printer.script import script as printed_script
from turnspec.codegen.text_hash import SCRIPT_COMMENT
from turnspec.engine import ENGINE_VERSION
from turnspec.spec.visible import visible_json

_TEMPLATES = Path(__file__).parent / "templates"
#: The engine's files, in an order in which each needs but those before it to be loaded.
SCRIPT_PARTS = (
    *("results", "strings", "turn", "markers", "options", "format", "special", "text_markers"),
    *("stream", "text", "json_text", "python_literal", "tools", "calls", "unclosed", "value"),
    *("arguments_value", "other_value", "schemas", "foreign", "heads", "objects", "json_arguments"),
    *("text_arguments", "elements", "value_arguments", "code", "parser", "load"),
)
#: The files whose declarations say what is public.
DECLARATIONS = ("results", "options")
SHARED_ENGINE = "turnspec-engine"
#: The engine of scripts, as the banner of a copy names it.
SCRIPT_ENGINE = "turnspec.engine.typescript"
_LINE_LENGTH = 100
_HEADING = re.compile(r"/\*\*\n?(.*?)\*/\n*", re.DOTALL)
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_IMPORTED = re.compile(r'^import\s[^;]*? from "\./(\w+)\.js";\n', re.MULTILINE)
_IMPORTS_ENGINE = re.compile(rf"""from ["']\./{SHARED_ENGINE}\.""")
#: Where the parts are that a statement joins.
_FILES = {
    "HeadCalls": "heads",
    "ObjectCalls": "objects",
    "JsonArguments": "json_arguments",
    "ValueArguments": "value_arguments",
    "TextArguments": "text_arguments",
    "Elements": "elements",
    "Value": "value",
    "OtherValue": "other_value",
    "Code": "code",
}


class Script(StrEnum):
    """A language of scripts, by the ending of its files."""

    TYPESCRIPT = ".ts"
    JAVASCRIPT = ".mjs"
    DECLARATION = ".d.mts"


_COUNTED = "Events and problems count code points: `sliceOf(text, event)` is the text of one."
_USE = """\
`parse` reads a whole text, `Parser` one that arrives in pieces. Neither ever raises on what a
model writes: what deviates from the format is told in `message.problems`."""


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """A file of the engine: what it says of itself, the files that it needs, and all the rest."""

    heading: tuple[str, ...]
    needs: frozenset[str]
    body: str


@cache
def script_part(name: str, script: Script) -> ScriptPart:
    """Return a file of the engine, taken apart."""
    endings = {
        Script.TYPESCRIPT: "typescript/{}.ts",
        Script.JAVASCRIPT: "javascript/{}.js",
        Script.DECLARATION: "javascript/{}.d.ts",
    }
    path = endings[script].format(name)
    source = resources.files(engine).joinpath(path).read_text("utf-8")
    told = _HEADING.match(source)
    heading = [line.removeprefix(" *").strip() for line in told[1].splitlines()] if told else []
    body = _IMPORT.sub("", source[told.end() :] if told else source)
    needs = frozenset(_IMPORTED.findall(source))
    return ScriptPart(tuple(heading), needs, body.replace("export {};\n", "").strip("\n"))


def script_text(module: str, table: Format, script: Script, *, shared: bool = False) -> str:
    """Return a generated Python module, and its format's table, as a script.

    ``shared`` has it import the engine from a file beside it.
    """
    name, spec_hash = named_spec(module)
    command = renewing(name, script, shared=shared)
    sources = SCRIPT_SOURCES if shared else PRINTED_SOURCES
    head = _banner(named_place(module), spec_hash, command, sources).rstrip("\n")
    if script is not Script.DECLARATION and not shared:
        told = block([*_docstring(module, table), "", _COUNTED])
        body = printed_script(module, is_typed=script is Script.TYPESCRIPT)
        return sealed("\n".join([head, *told, "", body]))
    parts = DECLARATIONS if script is Script.DECLARATION else ()
    template = environment().get_template(
        "declaration.jinja" if script is Script.DECLARATION else "script.jinja"
    )
    text = template.render(
        banner=head,
        lines=_docstring(module, table),
        table=_literal(table),
        parts=[script_part(name, script) for name in parts],
        typed=script is Script.TYPESCRIPT,
        engine=_engine_file(script) if shared else "",
    )
    return sealed(text)


def script_engine(script: Script) -> str:
    """Return the whole engine as a file, with a banner like that of a parser."""
    parts = DECLARATIONS if script is Script.DECLARATION else SCRIPT_PARTS
    command = renewing("FORMAT", script, shared=True)
    template = environment().get_template("script_engine.jinja")
    text = template.render(
        parts=[script_part(name, script) for name in parts],
        version=ENGINE_VERSION,
        declares=script is Script.DECLARATION,
    )
    return sealed(_banner(SCRIPT_ENGINE, "-", command) + text)


def shares_engine(text: str) -> bool:
    """Tell whether a script imports the engine."""
    return _IMPORTS_ENGINE.search(text) is not None


def _engine_file(script: Script) -> str:
    # The compiler takes the file for that of the ending that it writes.
    return f"./{SHARED_ENGINE}.{'js' if script is Script.TYPESCRIPT else 'mjs'}"


def needed_script_parts(table: Format, script: Script) -> tuple[str, ...]:
    """Return the names of the engine's files that a format needs, in their order."""
    join = join_parts(table)
    needed = {"parser", "format", "options", *(_FILES[name] for name in _names(join))}
    waiting = list(needed)
    while waiting:
        new = script_part(waiting.pop(), script).needs - needed
        needed |= new
        waiting += new
    return tuple(part for part in SCRIPT_PARTS if part in needed)


def _names(join: Join | None) -> Iterator[str]:
    return join.names() if join else iter(())


def renewing(names: str, script: Script, *, shared: bool) -> str:
    """Return the command that copies formats anew as scripts."""
    language = "typescript" if script is Script.TYPESCRIPT else "javascript"
    sharing = " --shared-engine" if shared else ""
    return f"turnspec vendor {shlex.quote(names)} --language {language}{sharing} --into ."


def _docstring(module: str, table: Format) -> list[str]:
    """Return the lines of a module's docstring; what one says of Python is no script's."""
    told = ast.get_docstring(ast.parse(module)) or ""
    if not told.startswith("Parser for"):
        told = f"Parser for turns in the format of {table['name']}.\n\n{_USE}"
    return [line.replace("``", "`").replace("*/", "* /") for line in told.split("\n")]


def _banner(
    place: str, spec_hash: str, command: str, sources: tuple[str, ...] = SCRIPT_SOURCES
) -> str:
    """Return the banner of a script."""
    return banner(place, spec_hash, command=command, comment=SCRIPT_COMMENT, engine=sources)


def _literal(value: Any, indent: str = "") -> str:
    """Return data as the literal of a script, on one line where it fits."""
    if not isinstance(value, dict | list | tuple):
        return visible_json(json.dumps(value, ensure_ascii=False))
    inner = indent + "  "
    brackets = "{}" if isinstance(value, dict) else "[]"
    pairs = _pairs(value)
    line = ", ".join(before + _literal(item) for before, item in pairs)
    space = " " if isinstance(value, dict) and value else ""
    line = f"{brackets[0]}{space}{line}{space}{brackets[1]}"
    if len(indent) + len(line) < _LINE_LENGTH - 30 and not (isinstance(value, dict) and not indent):
        return line
    lines = (f"{inner}{before}{_literal(item, inner)},\n" for before, item in pairs)
    return f"{brackets[0]}\n{''.join(lines)}{indent}{brackets[1]}"


def _pairs(value: dict[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [("", item) for item in value]
    return [(f"{_key(key)}: ", item) for key, item in value.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else json.dumps(key)


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
