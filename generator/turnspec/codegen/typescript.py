"""A generated Python module -> the same parser in TypeScript or JavaScript.

It is printed from that module (`printer/`), so that nothing of it needs a compiler, or Node. Copies
that share an engine are the table of what their format says, beside the whole engine, printed.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from turnspec.codegen.banner import SCRIPT_SOURCES, banner, named_place, named_spec, sealed
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.printer.comments import block
from turnspec.codegen.printer.declared import declaration, engine_declaration
from turnspec.codegen.printer.script import script as printed_script
from turnspec.codegen.printer.shared import SHARED, engine_script, facts_given
from turnspec.codegen.text_hash import SCRIPT_COMMENT
from turnspec.engine import ENGINE_VERSION
from turnspec.spec.visible import visible_json

SHARED_ENGINE = "turnspec-engine"
#: The engine of scripts, as the banner of a copy names it.
SCRIPT_ENGINE = "turnspec.engine.typescript"
_LINE_LENGTH = 100
_IMPORTS_ENGINE = re.compile(rf"""from ["']\./{SHARED_ENGINE}\.""")


class Script(StrEnum):
    """A language of scripts, by the ending of its files."""

    TYPESCRIPT = ".ts"
    JAVASCRIPT = ".mjs"
    DECLARATION = ".d.mts"


_COUNTED = "Events and problems count code points: `sliceOf(text, event)` is the text of one."
_USE = """\
`parse` reads a whole text, `Parser` one that arrives in pieces. Neither ever raises on what a
model writes: what deviates from the format is told in `message.problems`."""
_ENGINE_TOLD = (
    f"turnspec's engine, version {ENGINE_VERSION}: what the parsers beside it have in common.",
    "",
    "A parser is a table of what its format says, by which `load` makes it.",
)


def script_text(module: str, facts: FormatFacts, script: Script, *, shared: bool = False) -> str:
    """Return a generated Python module, and its format's facts, as a script.

    ``shared`` has it import the engine from a file beside it.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    name, spec_hash = named_spec(module)
    head = _banner(named_place(module), spec_hash, renewing(name, script, shared=shared))
    told = block([*_docstring(module, facts), "", _COUNTED])
    if shared:
        body = _sharing(facts, script)
    elif script is Script.DECLARATION:
        body = declaration(module)
    else:
        body = printed_script(module, is_typed=script is Script.TYPESCRIPT)
    return sealed("\n".join([head, *told, "", body]))


def script_engine(script: Script) -> str:
    """Return the whole engine as a file, with a banner like that of a parser."""
    head = _banner(SCRIPT_ENGINE, "-", renewing("FORMAT", script, shared=True))
    if script is Script.DECLARATION:
        body = engine_declaration()
    else:
        body = engine_script(is_typed=script is Script.TYPESCRIPT)
    return sealed("\n".join([head, *block(list(_ENGINE_TOLD)), "", body]))


def shares_engine(text: str) -> bool:
    """Tell whether a script imports the engine."""
    return _IMPORTS_ENGINE.search(text) is not None


def _sharing(facts: FormatFacts, script: Script) -> str:
    """Return a parser that shares the engine: what its format says, and what is made of that."""
    # The compiler takes the file for that of the ending that it writes.
    engine = f"./{SHARED_ENGINE}.{'js' if script is Script.TYPESCRIPT else 'mjs'}"
    public = [name for name in SHARED if name not in ("load", "Facts", "FormatModule")]
    values = [name for name in public if name in ("Message", "sliceOf", "toDelta")]
    if script is Script.JAVASCRIPT:
        names = ", ".join(values)
        return "\n".join(
            [
                f'import {{ load }} from "{engine}";\n',
                f'export {{ {names} }} from "{engine}";\n',
                f"export const {{ FORMAT, Parser, parse }} = load({_facts(facts)});\n",
            ]
        )
    types = [f"type {name}" for name in public if name not in values]
    exported = "".join(f"  {name},\n" for name in sorted([*types, *values], key=_by_name))
    lines = [f'export {{\n{exported}}} from "{engine}";\n']
    if script is Script.DECLARATION:
        lines.insert(0, f'import type {{ FormatModule, TurnParser }} from "{engine}";\n')
        declared = "export declare const"
        made = ["", "", ""]
    else:
        lines.insert(0, f'import {{ type FormatModule, load, type TurnParser }} from "{engine}";\n')
        lines.append(f"const MODULE: FormatModule = load({_facts(facts)});\n")
        declared = "export const"
        made = [f" = MODULE.{name}" for name in ("FORMAT", "Parser", "parse")]
    return "\n".join(
        [
            *lines,
            f'{declared} FORMAT: FormatModule["FORMAT"]{made[0]};\n',
            "/** Reads turns in this format, in pieces of any size. */",
            f'{declared} Parser: FormatModule["Parser"]{made[1]};',
            "export type Parser = TurnParser;\n",
            "/** Return the message in a text, what the model wrote; or the events of a stream. */",
            f'{declared} parse: FormatModule["parse"]{made[2]};\n',
        ]
    )


def _by_name(text: str) -> str:
    return text.removeprefix("type ").lower()


def _facts(facts: FormatFacts) -> str:
    return _literal(facts_given(facts))


def renewing(names: str, script: Script, *, shared: bool) -> str:
    """Return the command that copies formats anew as scripts."""
    language = "typescript" if script is Script.TYPESCRIPT else "javascript"
    sharing = " --shared-engine" if shared else ""
    return f"turnspec vendor {shlex.quote(names)} --language {language}{sharing} --into ."


def _docstring(module: str, facts: FormatFacts) -> list[str]:
    """Return the lines of a module's docstring; what one says of Python is no script's."""
    told = ast.get_docstring(ast.parse(module)) or ""
    if not told.startswith("Parser for"):
        told = f"Parser for turns in the format of {facts.format['name']}.\n\n{_USE}"
    return [line.replace("``", "`").replace("*/", "* /") for line in told.split("\n")]


def _banner(place: str, spec_hash: str, command: str) -> str:
    """Return the banner of a script."""
    told = banner(place, spec_hash, command=command, comment=SCRIPT_COMMENT, engine=SCRIPT_SOURCES)
    return told.rstrip("\n")


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
    if len(indent) + len(line) < _LINE_LENGTH - 15 and not (isinstance(value, dict) and not indent):
        return line
    lines = (f"{inner}{before}{_literal(item, inner)},\n" for before, item in pairs)
    return f"{brackets[0]}\n{''.join(lines)}{indent}{brackets[1]}"


def _pairs(value: dict[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [("", item) for item in value]
    return [(f"{_key(key)}: ", item) for key, item in value.items()]


def _key(key: str) -> str:
    plain = key if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else json.dumps(key)
    return '["__proto__"]' if key == "__proto__" else plain
