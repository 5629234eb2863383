"""A generated Python module -> the same parser in TypeScript or JavaScript.

It is printed from that module (`printer/`), so that nothing of it needs a compiler, or Node. Copies
that share an engine are the table of what their format says, beside the whole engine, printed.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from enum import StrEnum
from functools import partial
from typing import Any

from turnspec.codegen import banner
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.printer.comments import block
from turnspec.codegen.printer.layout import braces, laid_out, listed
from turnspec.codegen.printer.names import quoted
from turnspec.codegen.printer.script import declaration
from turnspec.codegen.printer.script import script as printed_script
from turnspec.codegen.printer.shared import SHARED, engine_declaration, engine_script, facts_given
from turnspec.codegen.text_hash import SCRIPT_COMMENT
from turnspec.engine import ENGINE_VERSION

SHARED_ENGINE = "turnspec-engine"
#: The engine of scripts, as the banner of a copy names it.
SCRIPT_ENGINE = "turnspec.engine.typescript"
#: What a parser that shares the engine takes of what that makes.
_MEMBERS = {
    "FORMAT": "The format's name, its header, and its prompts.",
    "Parser": "Reads turns in this format, in pieces of any size.",
    "parse": "Return the message in a text, what the model wrote; or the events of a stream.",
}
_banner = partial(banner.banner, comment=SCRIPT_COMMENT, engine=banner.SCRIPT_SOURCES)
_IMPORTS_ENGINE = re.compile(rf"""from ["']\./{SHARED_ENGINE}\.""")


class Script(StrEnum):
    """A language of scripts, by the ending of its files."""

    TYPESCRIPT = ".ts"
    JAVASCRIPT = ".mjs"
    DECLARATION = ".d.mts"


_COUNTED = "Events and problems count code points: `sliceOf(text, event)` is the text of one."
_USE = """\
    const message = parse(text); // or its pieces
    const parser = new Parser(); // or a stream; `prefill`: the turn's start in the prompt
    for (const piece of stream) for (const event of parser.feed(piece)) show(event);
    for (const event of parser.finish()) show(event);
    const { content, problems } = parser.message;
    for await (const event of parse(asyncStream)) show(event); // the same

Neither throws on what a model writes: `message.problems` tell what deviates, and quote any text
left out elsewhere."""
_USE_WITH_TOOLS = _USE.replace("parse(text)", "parse(text, { tools })").replace(
    "new Parser()", "new Parser({ tools })"
)
#: What begins the sections of a module's docstring that say the rules, and what scripts say of it.
_RULES = "THE FORMAT"
_RULES_TOLD = (
    'The rows are what this parser gives, with texts in Python\'s quotes: "# kind" names the kind\n'
    'of a problem, "# -" says that there is none.'
)
_ENGINE_TOLD = [
    f"turnspec's engine, version {ENGINE_VERSION}: what the parsers beside it have in common.",
    "",
    "A parser is a table of what its format says, by which `load` makes it.",
]


def script_text(module: str, facts: FormatFacts, script: Script, *, shared: bool = False) -> str:
    """Return a generated Python module, and its format's facts, as a script.

    ``shared`` has it import the engine from a file beside it.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    name, spec_hash = banner.named_spec(module)
    command, without = renewing(name, script, shared=shared), banner.named_without(module)
    head = _banner(banner.named_place(module), spec_hash, command=command, without=without)
    told = block(_docstring(module, facts, says_rules=script is not Script.JAVASCRIPT))
    if shared:
        body = _sharing(facts, script)
    elif script is Script.DECLARATION:
        body = declaration(module)
    else:
        body = printed_script(module, is_typed=script is Script.TYPESCRIPT)
    return banner.sealed(head + "\n".join([*told, "", body]))


def script_engine(script: Script) -> str:
    """Return the whole engine as a file, with a banner like that of a parser."""
    head = _banner(SCRIPT_ENGINE, "-", command=renewing("FORMAT", script, shared=True))
    if script is Script.DECLARATION:
        body = engine_declaration()
    else:
        body = engine_script(is_typed=script is Script.TYPESCRIPT)
    return banner.sealed(head + "\n".join([*block(_ENGINE_TOLD), "", body]))


def shares_engine(text: str) -> bool:
    """Tell whether a script imports the engine."""
    return _IMPORTS_ENGINE.search(text) is not None


def _sharing(facts: FormatFacts, script: Script) -> str:
    """Return a parser that shares the engine: what its format says, and what is made of that."""
    is_typed, is_told = script is not Script.JAVASCRIPT, script is Script.DECLARATION
    # The compiler takes the file for that of the ending that it writes.
    engine = f"./{SHARED_ENGINE}.{'js' if script is Script.TYPESCRIPT else 'mjs'}"
    names = [name for name in SHARED if name not in ("load", "Facts", "FormatModule")]
    values = [name for name in names if name in ("Message", "sliceOf", "toDelta")]
    types = [f"type {name}" for name in names if name not in values] if is_typed else []
    exported = sorted([*values, *types], key=lambda name: name.removeprefix("type ").lower())
    load = ["load"] * (not is_told)
    taken = ["type FormatModule", *load, "type TurnParser"] if is_typed else load
    lines = [f'import {{ {", ".join(taken)} }} from "{engine}";', ""]
    lines += [*laid_out(f'export {braces(exported)} from "{engine}";'), ""]
    if not is_told:
        given = _literal(facts_given(facts))
        note = ": FormatModule" * is_typed
        lines += [*laid_out(f"const MODULE{note} = load({given});"), ""]
    for name, told in _MEMBERS.items():
        note = f': FormatModule["{name}"]' * is_typed
        value = f" = MODULE.{name}" * (not is_told)
        lines += [f"/** {told} */", f"export {'declare ' * is_told}const {name}{note}{value};"]
        lines += ["export type Parser = TurnParser;"] * (is_typed and name == "Parser")
    return "\n".join([*lines, ""])


def renewing(names: str, script: Script, *, shared: bool) -> str:
    """Return the command that copies formats anew as scripts."""
    language = "typescript" if script is Script.TYPESCRIPT else "javascript"
    sharing = " --shared-engine" if shared else ""
    return f"turnspec vendor {shlex.quote(names)} --language {language}{sharing} --into ."


def _docstring(module: str, facts: FormatFacts, *, says_rules: bool) -> list[str]:
    """Return the lines of a script's docstring: how it is used, and maybe the rules."""
    use = _USE_WITH_TOOLS if facts.values["HAS_CALLS"] else _USE
    blocks = [f"Parser for turns in the format of {facts.format['name']}.", use, _COUNTED]
    _, begins, rules = (ast.get_docstring(ast.parse(module)) or "").partition(f"\n{_RULES}")
    if says_rules and begins:
        blocks += [_RULES_TOLD, _RULES + rules]
    return "\n\n".join(blocks).split("\n")


def _literal(value: Any) -> str:
    """Return data as the literal of a script."""
    match value:
        case dict():
            return braces([f"{_key(key)}: {_literal(item)}" for key, item in value.items()])
        case list() | tuple():
            return listed(list(map(_literal, value)))
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _key(key: str) -> str:
    plain = key if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else json.dumps(key)
    return '["__proto__"]' if key == "__proto__" else plain
