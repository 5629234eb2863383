"""A printed parser and what it needs of the runtime, as one script."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from itertools import groupby

from turnspec import engine
from turnspec.codegen.printer.module import Module
from turnspec.codegen.printer.names import camel, reached
from turnspec.codegen.printer.short import closed_up, shortened
from turnspec.codegen.printer.untyped import untyped

#: The files of the runtime, in a reader's order.
FILES = ("parser", "options", "results", "json", "literals", "python", "loading")
#: What Python's modules define and scripts have by hand.
BY_HAND = frozenset(
    (
        "check_options",
        *("Parser", "parse", "read_again", "Record", "Message"),
        *("GrowingText", "dump_json", "quote", "load_json"),
        *("find_flaw", "with_repeated_joined", "joined", "literal", "literal_as_json"),
        *("without_warnings", "join_halves", "types_of", "PYTHON_ERRORS", "is_list"),
        *("is_mapping", "apart"),
    )
)
#: What the runtime asks of a printed parser.
ROOTS = ("FORMAT", "read_turn", "Turn", "Input", "rules_for")
#: Types of what a parser gives, as Python's modules name them.
TYPES = ("Problem", "ToolCall", "Event")
#: What users take.
PUBLIC = (
    *("FORMAT", "ContentDelta", "Message", "Parser", "ParserEvent", "ParserOptions", "Pieces"),
    *("Problem", "ProblemKind", "ReasoningDelta", "Tool", "ToolCall", "ToolCallDelta"),
    *("ToolCallEnd", "ToolCallStart", "parse", "sliceOf", "toDelta"),
)
_COMMENT = r"(?: *//.*\n| */\*\*(?:[^*]|\*(?!/))*\*/\n)*"
_DECLARATION = re.compile(
    rf"^{_COMMENT}(?:export )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)",
    re.MULTILINE,
)
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
#: What a script has only if it uses a word, which a member or a class of the module has.
_CONDITION = re.compile(r"//#if (\w+)")
_CONDITIONAL = re.compile(rf"^ *{_CONDITION.pattern}\n((?:.*\n)*?) *//#end\n", re.MULTILINE)
_METHOD = re.compile(r" \{\n(?:    .*\n|\n)*  \}$", re.MULTILINE)
_FUNCTION = re.compile(r" \{\n(?:  .*\n|\n)*\}\Z")
_PRIVATE = re.compile(
    rf"^{_COMMENT}  private (?:[^{{;\n]*;(?: //.*)?|(?:.*\n)+?  \}})\n\n?", re.MULTILINE
)
#: What is not exported is told of in TypeScript.
INNER_DOC = re.compile(r"^ */\*\*(?:[^*]|\*(?!/))*\*/\n(?!export )", re.MULTILINE)
_WITH_DEFAULT = re.compile(r"(\w+)(?:: ([^=,()]+?))? = (\{\}|false)(?=[,)])")


@lru_cache(1024)  # parts of the runtime are asked for once for each parser
def names_in(script: str) -> frozenset[str]:
    """Return the names that a script may use, but those of members."""
    code = re.sub(r"/\*\*[\s\S]*?\*/|(?<=\s)//.*|\"(?:[^\"\\\n]|\\.)*\"", "", script)
    return frozenset(re.findall(r"(?<![\w.])(?:\.\.\.)?(\w+)", code))


def runtime(words: Collection[str] | None = None) -> Mapping[str, str]:
    """Return what the runtime defines, with the comments above it: all, or by a script's words."""
    wanted = frozenset(_CONDITION.findall(_source()))
    return _runtime(wanted if words is None else wanted & frozenset(words))


@cache
def _source() -> str:
    folder = resources.files(engine).joinpath("runtime")
    texts = (folder.joinpath(f"{name}.ts").read_text("utf-8") for name in FILES)
    return "\n".join(_IMPORT.sub("", re.sub(r"\A/\*\*[\s\S]*?\*/\n", "", text)) for text in texts)


@cache
def _runtime(words: frozenset[str]) -> Mapping[str, str]:
    text = _CONDITIONAL.sub(lambda it: it[2] if it[1] in words else "", _source())
    # What has several signatures is one.
    found = [next(same) for _, same in groupby(_DECLARATION.finditer(text), lambda each: each[1])]
    ends = [*(each.start() for each in found[1:]), len(text)]
    pairs = zip(found, ends, strict=True)
    return {each[1]: text[each.start() : end].strip("\n") for each, end in pairs}


def needed(names: Iterable[str], words: Collection[str] | None = None) -> dict[str, str]:
    """Return what of the runtime is needed by what uses some names, and has some words."""
    return _needed(names, runtime(words))


def _needed(names: Iterable[str], parts: Mapping[str, str]) -> dict[str, str]:
    found = reached(names, lambda name: names_in(parts.get(name, "")))
    return {name: text for name, text in parts.items() if name in found}


def reserved_names() -> set[str]:
    """Return the names of the runtime that nothing in Python has."""
    return set(runtime()) - set(map(camel, BY_HAND))


def script(module: str, *, is_typed: bool = True) -> str:
    """Return a compiled parser as a script.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    source = Module(module, BY_HAND, PUBLIC, reserved_names(), is_typed=is_typed)
    printed = source.printed((*ROOTS, *TYPES)).rstrip("\n")
    told = ["// Expressions, which need a class that stands above."] * is_typed
    last = "\n".join([*told, *source.last_lines])
    words = {*source.defined, *re.findall(r"\.(\w+)", printed)}
    parts = needed([*names_in(printed + last), *PUBLIC], words)
    text = "\n\n".join([printed, *texts_of(parts, is_typed=is_typed), last]) + "\n"
    return closed_up(text if is_typed else INNER_DOC.sub("", text))


def texts_of(
    parts: Mapping[str, str], public: Collection[str] = PUBLIC, *, is_typed: bool
) -> Iterator[str]:
    """Yield parts of the runtime as they stand in a script, which exports what is public."""
    for name, part in parts.items():
        text = _made_public(part, name, public)
        if text := text if is_typed else untyped(text):
            yield shortened(text)


def _made_public(text: str, name: str, public: Collection[str]) -> str:
    plain = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    begins = rf"^(?=(?:async |declare )?(?:function|class|const|interface|type) {name}\b)"
    return re.sub(begins, "export ", plain, flags=re.MULTILINE) if name in public else plain


# Declarations are those of the runtime and of the module, as they are laid out; so a body is found
# by where its brace stands.


def declaration(module: str) -> str:
    """Return the declarations of a compiled parser: its public names, without what they do.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    source = Module(module, BY_HAND, PUBLIC)
    told = "/** The format's name, its header, and its prompts. */"
    texts = [source.printed(TYPES).strip(), f"{told}\nexport declare const FORMAT: FormatTexts;"]
    return declared(texts, PUBLIC, source.defined)


def declared(told: list[str], public: Collection[str], words: Collection[str] | None = None) -> str:
    """Return declarations, and those of the runtime that they and public names need."""
    parts = {name: _declared(text) for name, text in runtime(words).items()}
    kept = _needed([*public, *(name for text in told for name in names_in(text))], parts)
    made = (_made_public(text, name, public) for name, text in kept.items())
    return "\n\n".join([*told, *made]) + "\n"


def _declared(text: str) -> str:
    """Return what a part of the runtime is, without what it does."""
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    if re.search(r"^(?:interface|type) ", text, re.MULTILINE):
        return text
    if re.search(r"^class ", text, re.MULTILINE):
        text = _METHOD.sub(";", _PRIVATE.sub("", text)).replace("\n\n}", "\n}")
    else:
        functions = [found.start() for found in re.finditer(r"^function ", text, re.MULTILINE)]
        # What has several signatures has a body behind the last.
        text = text[: functions[-1]] if functions[1:] else _FUNCTION.sub(";", text)
    text = _WITH_DEFAULT.sub(lambda it: f"{it[1]}?: {it[2] or 'boolean'}", text)
    return re.sub(r"^(?=function |class )", "declare ", text.strip("\n"), flags=re.MULTILINE)
