"""Declarations of a printed parser: its public names, without what they do.

They are those of the runtime and of the module, as they are laid out; so a body is found by where
its brace stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from turnspec.codegen.printer.module import Module
from turnspec.codegen.printer.script import (
    BY_HAND,
    PUBLIC,
    Declaration,
    made_public,
    names_in,
    runtime,
)
from turnspec.codegen.printer.shared import LOAD_TOLD, SHARED, engine_interface, engine_types

_METHOD = re.compile(r" \{\n(?:    .*\n|\n)*  \}$", re.MULTILINE)
_FUNCTION = re.compile(r" \{\n(?:  .*\n|\n)*\}\Z")
_COMMENT = r"(?: *//.*\n| */\*\*(?:[^*]|\*(?!/))*\*/\n)*"
_PRIVATE = re.compile(rf"^{_COMMENT}  private (?:[^{{;\n]*;|(?:.*\n)+?  \}})\n\n?", re.MULTILINE)
_WITH_DEFAULT = re.compile(r"(\w+)(?:: ([^=,()]+?))? = (\{\}|false)(?=[,)])")


def declaration(module: str) -> str:
    """Return the declarations of a compiled parser.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    kinds = Module(module, BY_HAND, PUBLIC).printed(("ProblemKind",))
    told = "/** The format's name, its header, and its prompts. */"
    return _joined([kinds.strip(), f"{told}\nexport declare const FORMAT: FormatTexts;"], PUBLIC)


def engine_declaration() -> str:
    """Return the declarations of the engine that scripts share."""
    load = f"{LOAD_TOLD}\nexport declare function load(facts: Facts): FormatModule;"
    return _joined([engine_types().strip(), engine_interface(), load], SHARED)


def _joined(texts: list[str], public: Collection[str]) -> str:
    words, kept = set(public).union(*map(names_in, texts)), dict[str, str]()
    while new := [each for each in runtime() if each.name in words and each.name not in kept]:
        for each in new:
            kept[each.name] = made_public(_declared(each), each.name, public)
            words |= names_in(kept[each.name])
    return (
        "\n\n".join([*texts, *(kept[each.name] for each in runtime() if each.name in kept)]) + "\n"
    )


def _declared(part: Declaration) -> str:
    """Return what a part of the runtime is, without what it does."""
    text = re.sub(r"^export ", "", part.text, flags=re.MULTILINE)
    if re.search(r"^(?:interface|type) ", text, re.MULTILINE):
        return text
    if re.search(r"^class ", text, re.MULTILINE):
        text = _METHOD.sub(";", _PRIVATE.sub("", text)).replace("\n\n}", "\n}")
    else:
        functions = [found.start() for found in re.finditer(r"^function ", text, re.MULTILINE)]
        # What has several signatures has a body behind the last.
        text = text[: functions[-1]] if functions[1:] else _FUNCTION.sub(";", text)
    text = _WITH_DEFAULT.sub(_optional, text)
    return re.sub(r"^(?=function |class )", "declare ", text.strip("\n"), flags=re.MULTILINE)


def _optional(found: re.Match[str]) -> str:
    return f"{found[1]}?: {found[2] or 'boolean'}"
