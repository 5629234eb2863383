"""A printed parser and what it needs of the runtime, as one script."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby

from turnspec import engine
from turnspec.codegen.printer.module import Module
from turnspec.codegen.printer.names import camel
from turnspec.codegen.printer.untyped import untyped

#: The files of the runtime, in a reader's order.
FILES = ("parser", "options", "results", "tools", "json", "literals", "python", "loading")
#: What Python's modules define and scripts have by hand.
BY_HAND = frozenset(
    (
        "check_options",
        *("Parser", "parse", "read_again", "IN_USE", "Record", "Problem", "ToolCall", "Message"),
        *("TextDelta", "ReasoningDelta", "ContentDelta", "ToolCallStart", "ToolCallDelta"),
        *("ToolCallEnd", "Event", "GrowingText", "dump_json", "quote", "load_json"),
        *("find_flaw", "with_repeated_joined", "joined", "literal"),
        *("literal_as_json", "without_warnings", "join_halves"),
        *("types_of", "PYTHON_ERRORS", "parameters_by_name", "is_list"),
        *("is_mapping", "object_in", "list_in", "schema_options", "apart", "grown"),
    )
)
#: What the runtime asks of a printed parser.
ROOTS = ("FORMAT", "read_turn", "Turn", "Input", "rules_for", "ProblemKind")
#: What users take.
PUBLIC = (
    *("FORMAT", "ContentDelta", "Message", "Parser", "ParserEvent", "ParserOptions", "Pieces"),
    *("Problem", "ProblemKind", "ReasoningDelta", "Tool", "ToolCall", "ToolCallDelta"),
    *("ToolCallEnd", "ToolCallStart", "parse", "sliceOf", "toDelta"),
)
_DECLARATION = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)", re.MULTILINE
)
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a file of the runtime defines, with the comments above it."""

    name: str
    text: str

    @property
    def words(self) -> set[str]:
        """The names that it may use."""
        return names_in(self.text)


def names_in(script: str) -> set[str]:
    """Return the names that a script may use, but those of members."""
    code = re.sub(r"/\*\*[\s\S]*?\*/|(?<=\s)//.*|\"(?:[^\"\\\n]|\\.)*\"", "", script)
    return set(re.findall(r"(?<![\w.])(?:\.\.\.)?(\w+)", code))


@cache
def runtime() -> tuple[Declaration, ...]:
    """Return what the runtime defines."""
    files = resources.files(engine)
    texts = (files.joinpath(f"runtime/{name}.ts").read_text("utf-8") for name in FILES)
    return tuple(found for text in texts for found in _declarations(text))


def _declarations(text: str) -> Iterator[Declaration]:
    text = _IMPORT.sub("", re.sub(r"\A/\*\*[\s\S]*?\*/\n", "", text))
    found = list(_DECLARATION.finditer(text))
    # What has several signatures is one.
    found = [next(same) for _, same in groupby(found, key=lambda each: each[1])]
    starts = [_with_comments(text, each.start()) for each in found]
    for each, start, end in zip(found, starts, [*starts[1:], len(text)], strict=True):
        yield Declaration(each[1], text[start:end].strip("\n"))


def _with_comments(text: str, at: int) -> int:
    """Return where the comments begin that stand right above a place."""
    lines = text[:at].split("\n")
    while len(lines) > 1 and re.match(r"(//| \*|/\*\*)", lines[-2]):
        del lines[-2]
    return len("\n".join(lines))


def needed(printed: str, roots: Iterable[str] = PUBLIC) -> list[Declaration]:
    """Return what of the runtime a printed parser needs."""
    words = names_in(printed) | set(roots)
    kept: set[str] = set()
    while new := {each.name for each in runtime() if each.name in words} - kept:
        kept |= new
        for each in runtime():
            if each.name in new:
                words |= each.words
    return [each for each in runtime() if each.name in kept]


def reserved_names() -> set[str]:
    """Return the names of the runtime that nothing in Python has."""
    return {each.name for each in runtime()} - set(map(camel, BY_HAND))


def script(module: str, *, is_typed: bool = True) -> str:
    """Return a compiled parser as a script.

    Raises:
        NotInSubset: the printer doesn't know something of it.
    """
    source = Module(module, BY_HAND, PUBLIC, reserved_names(), is_typed=is_typed)
    printed = source.printed(ROOTS).rstrip("\n")
    last = "\n".join(["// Expressions, which need a class that stands above.", *source.last_lines])
    parts = [made_public(each.text, each.name) for each in needed(printed + last)]
    if not is_typed:
        parts = list(filter(None, map(untyped, parts)))
    return "\n\n".join([printed, *parts, last]) + "\n"


def made_public(text: str, name: str, public: Collection[str] = PUBLIC) -> str:
    """Return a declaration of the runtime that is exported just if it is public."""
    plain = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    if name not in public:
        return plain
    return re.sub(
        rf"^(?=(?:async |declare )?(?:function|class|const|interface|type) {name}\b)",
        "export ",
        plain,
        flags=re.MULTILINE,
    )
