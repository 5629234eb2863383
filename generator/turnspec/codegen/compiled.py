"""Facts -> the source of a parser: the engine of `turnspec.engine`, compiled."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from types import CodeType, ModuleType
from typing import Any, cast

from turnspec import engine
from turnspec.codegen.compiler.folding import folded
from turnspec.codegen.compiler.joining import joined, replaced, without_empty_sections
from turnspec.codegen.compiler.parameters import without_unread_parameters
from turnspec.codegen.compiler.reaching import reached
from turnspec.codegen.compiler.tidying import tidied, without_other_names
from turnspec.codegen.compiler.values import Facts
from turnspec.codegen.facts import FormatFacts, roles_in
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.layout import LINE_LENGTH, laid_out
from turnspec.codegen.tables import marker_statements, role_statement, table_statements
from turnspec.engine import facts as engine_facts
from turnspec.engine.roles import Role, Rule

#: The engine's files in a reader's order: what is the format's, and what every parser has alike.
OWN = (
    *("roles", "parser", "text", "mentions", "objects", "calls", "json_arguments"),
    *("value_arguments", "text_arguments", "elements", "code", "other_syntax"),
    *("mention_text", "whole_arguments", "turn_state", "turn", "rules"),
)
COMMON = (
    *("options", "again", "results", "streams", "open_call", "json_values", "other_values"),
    *("values", "types", "other_calls", "literals", "json_texts", "input", "markers", "special"),
    "tools",
)
#: What begins the common part.
BEGINS_COMMON = "# What follows is the same in every parser of this kind."
PUBLIC = (
    *("FORMAT", "ContentDelta", "Event", "Message", "Parser", "Problem", "ReasoningDelta"),
    *("ToolCall", "ToolCallDelta", "ToolCallEnd", "ToolCallStart", "parse"),
)
#: What users take of what they get, and what a shared engine takes of a parser.
_ATTRIBUTES = (
    *(".feed", ".finish", ".message", ".finish_reason", ".to_dict", ".to_delta"),
    *(".type", ".value", ".has_python_escapes"),
)
#: Methods that do nothing but give a value.
_PURE = frozenset({"_made", "slot"})


#: What is told of each rule that fits: see `turnspec.engine.facts`.
Observer = Callable[[str, Rule, int, int, int], object]


def run_engine(facts: FormatFacts, observer: Observer | None = None) -> FormatModule:
    """Return the engine as it is, run with a format's facts as variables."""
    module = ModuleType("turnspec.format_in_memory")
    vars(module).update(fact_values(facts))
    if observer:
        vars(module).update({"IS_TRACED": True, "OBSERVER": observer})
    exec(_engine_code()[1], vars(module))
    return cast(FormatModule, module)


def fact_values(facts: FormatFacts) -> dict[str, Any]:
    """Return all that the engine asks of a format, by its names: constants, texts, tables."""
    names = {name: value for name, value in vars(engine_facts).items() if name.isupper()}
    exec(_engine_code()[0], names)
    names |= facts.values
    tables = (*marker_statements(facts), *table_statements(facts, with_data=True))
    exec("\n".join(tables), names)
    return names


def engine_source() -> str:
    """Return the engine as it is, with its facts as annotated names."""
    head, bodies = _engine()
    known = Facts({"IS_TRACED": False}, {})
    text = resources.files(engine).joinpath("facts.py").read_text("utf-8")
    facts = [ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.AnnAssign)]
    roles, *rest = (folded(body, known) for body in bodies)
    return "\n\n".join([head, roles, "\n".join(facts), *rest])


@cache
def _engine_code() -> tuple[CodeType, CodeType]:
    """Return the engine in two parts: what tables are made of, and what reads with them."""
    head, bodies = _engine()
    roles = compile("\n\n".join([head, bodies[0]]), "<engine: roles>", "exec")
    rest = "\n\n".join(["from __future__ import annotations", *bodies[1:]])
    return roles, compile(rest, "<engine>", "exec")


def compiled_source(facts: FormatFacts) -> str:
    """Return the statements of a module, from its imports on."""
    head, bodies = _engine()
    known, class_facts = _known(facts), _known_of_class(facts)
    own = [folded(bodies[at], known) for at in _own_files(class_facts)]
    own[0] = replaced(own[0], "Role", role_statement(facts))
    markers, tables = "\n".join(marker_statements(facts)), "\n".join(table_statements(facts))
    common = _common_source(class_facts)
    head = _with_public_names(head, known)
    text = "\n\n".join([head, markers, own[0], tables, *own[1:]])
    public = {"__all__", *public_names(known), *_ATTRIBUTES}
    own_text = reached(text, public, _PURE, common)
    while (shorter := without_unread_parameters(own_text, common)) != own_text:
        own_text = reached(shorter, public, _PURE, common)
    own_text = laid_out(without_other_names(without_empty_sections(tidied(own_text))))
    own_text = _kinds_that_are_told(_types_last(own_text), common)
    return f"{own_text}\n\n{BEGINS_COMMON}\n\n\n{common}"


def _kinds_that_are_told(own: str, common: str) -> str:
    """Leave out of the types of problems what nothing in the module says that one is."""
    types = re.compile(r"    (Of\w+) = Literal\[(.*)\]\n")
    rest, found = types.sub("", own) + common, {}
    for name, kinds in types.findall(own):
        if told := ", ".join(kind for kind in kinds.split(", ") if kind in rest):
            found[name] = told
    lines = "".join(f"    {name} = Literal[{told}]\n" for name, told in found.items())
    kind = f"    ProblemKind = Literal[{', '.join(found.values())}]"
    if len(kind) > LINE_LENGTH:
        kind = f"{lines}    ProblemKind = {' | '.join(found)}"
    return re.sub(r"    ProblemKind = .*", lambda _: kind, types.sub("", own))


def _types_last(own: str) -> str:
    """Move the names of types, which a reader seldom needs, behind what is the format's."""
    block = re.compile(r"(if TYPE_CHECKING:\n(?:    .*\n)+)\n((?:    .*\n)+)")
    found = block.search(own)
    if not found:
        return own
    begun, rest = own[: found.start()] + found[1], own[found.end() :]
    return f"{begun}{rest}\n\n# Names of types.\n\nif TYPE_CHECKING:\n{found[2]}"


#: The facts by which the common parts of parsers with calls differ.
_CLASS_FACTS = (
    *("HAS_REASONING", "HAS_CALLS", "CALLS_ARE_OBJECTS", "ARGUMENTS", "HAS_ELEMENTS", "HAS_CODE"),
    *("HAS_OTHER_VALUES", "HAS_RAW_STRINGS", "HAS_JSON_STRINGS", "HAS_PYTHON_VALUES"),
    *("READS_TAGS", "HAS_SPECIAL_TOKENS", "IS_TRACED", "ARGUMENTS_IN_STRING"),
)


def _known_of_class(facts: FormatFacts) -> Facts:
    """Return what is known of all formats of a class. What calls can have, all with calls have."""
    if not facts.values["HAS_CALLS"]:
        return _known(facts)
    values = {name: facts.values[name] for name in _CLASS_FACTS}
    values |= {"HAS_OPTIONAL_TEXTS": True, "HAS_FOLLOWERS": True}
    values |= {"HAS_SEAMS": True, "MAY_READ_AGAIN": True, "HAS_DRAFTS": values["HAS_REASONING"]}
    values |= {"CONTENT_IS_LAST": False}  # where it is, the state says so
    # Few have raw strings or Python's values, and no reasoning: they share the text of the others.
    is_rare = values["HAS_RAW_STRINGS"] or not values["HAS_JSON_STRINGS"]
    if values["ARGUMENTS"] == "values" and is_rare:
        values["HAS_REASONING"] = True
    tables = {**dict.fromkeys(facts.unused, False), "TYPE_WORDS": bool(facts.data["TYPE_WORDS"])}
    return Facts(values, tables, _unused_classes(values))


@cache
def _common_source(facts: Facts) -> str:
    """Return the part that all parsers of a class have alike."""
    head, bodies = _engine()
    own = _own_files(facts)
    first = (len(OWN), len(OWN) + 1)  # what has no heading, so that no section is empty
    common = [*first, *(at for at in range(len(bodies)) if at not in (*own, *first))]
    parts = [folded(bodies[at], facts) for at in [*own, *common]]
    parts.insert(len(own), f"{BEGINS_COMMON}\n")
    text = "\n\n".join([_with_public_names(head, facts), *parts])
    text = reached(text, {"__all__", *public_names(facts), *_ATTRIBUTES}, _PURE)
    before, _, after = text.partition(BEGINS_COMMON)
    after = without_unread_parameters(after, before)
    return laid_out(without_empty_sections(tidied(after)))


def _own_files(facts: Facts) -> list[int]:
    """Return the places of the files that are the format's own in all parsers of a class."""
    names, behind = [*OWN], OWN.index("other_syntax") + 1
    if not facts.values["READS_TAGS"]:  # not all of them read calls in other syntaxes
        names.insert(behind, "other_calls")
        if facts.values.get("ARGUMENTS") != "text":
            names.insert(behind + 1, "literals")
    if not facts.values["HAS_CALLS"]:
        names.remove("turn_state")
        names.remove("turn")
    elif facts.values["ARGUMENTS"] != "values":
        names.remove("turn")
        if facts.values["ARGUMENTS"] == "json":
            names.remove("whole_arguments")
    return [[*OWN, *COMMON].index(name) for name in names]


#: What a common part can do that is that of any parsers.
_SHARED_FACTS = (
    *("HAS_OPTIONAL_TEXTS", "HAS_FOLLOWERS", "HAS_SPECIAL_TOKENS", "HAS_CALLS", "HAS_REASONING"),
    *("HAS_RAW_STRINGS", "HAS_JSON_STRINGS", "HAS_PYTHON_VALUES", "HAS_OTHER_VALUES"),
    "READS_TAGS",
)


def shared_source() -> str:
    """Return all that any parsers have in common, as a source of its own."""
    head, bodies = _engine()
    values = {**dict.fromkeys(_SHARED_FACTS, True), "IS_TRACED": False, "ARGUMENTS": "json"}
    parts = [head, *(folded(body, Facts(values, {})) for body in bodies[len(OWN) :])]
    names = {name for part in bodies for name in re.findall(r"\w+", part)}
    return laid_out(reached("\n\n".join(parts), names | {f".{name}" for name in names}))


def public_names(facts: Facts) -> list[str]:
    """Return the names that a parser makes public."""
    return [name for name in PUBLIC if name not in facts.never]


@cache
def _engine() -> tuple[str, Sequence[str]]:
    files = resources.files(engine)
    texts = [files.joinpath(f"{name}.py").read_text("utf-8") for name in (*OWN, *COMMON)]
    return joined(texts, engine.__name__)


def _with_public_names(head: str, facts: Facts) -> str:
    """Return the imports, and what is public, in lines that stay as they are."""
    quoted = " ".join(f'"{name}",' for name in public_names(facts))
    lines = textwrap.wrap(quoted, LINE_LENGTH - len("__all__ += []"))
    shown = [f"__all__ {'+' * bool(at)}= [{line.rstrip(',')}]" for at, line in enumerate(lines)]
    return "\n".join([head, *shown, ""])


def _known(facts: FormatFacts) -> Facts:
    roles = roles_in(facts)
    never = {f"Role.{role.name}" for role in Role if role.value not in roles}
    held = {**facts.tables, **facts.data, **facts.markers}
    tables = {name: bool(found) for name, found in held.items()}
    return Facts(facts.values, tables, never | _unused_classes(facts.values))


def _unused_classes(values: Mapping[str, object]) -> frozenset[str]:
    """Return the classes of which no parser with some facts makes any: of events, and tokens."""
    calls = () if values["HAS_CALLS"] else ("ToolCallStart", "ToolCallDelta", "ToolCallEnd")
    tokens = () if values["HAS_SPECIAL_TOKENS"] else ("SpecialTokens",)
    return frozenset(calls + tokens + (() if values["HAS_REASONING"] else ("ReasoningDelta",)))
