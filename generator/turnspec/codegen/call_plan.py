"""What a module needs to know of its format's calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from turnspec.codegen.argument_plan import has_quoted_strings
from turnspec.codegen.element_plan import ElementPlan
from turnspec.codegen.marker_plan import Marker
from turnspec.spec.model import CodeCall, Encoding, Tools


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a module needs to read calls: a kind, marker sets, and expressions by constant."""

    kind: str  # "native", "json" or "tagged"
    text: tuple[Marker, ...]
    sets: dict[str, tuple[Marker, ...]]  # marker sets beside _TEXT, by constant
    expressions: dict[str, str]  # by constant
    wrap: str = ""  # the marker that has to stand before a call
    bare: bool = False
    in_section: bool = False
    structured: bool = False
    head_slots: frozenset[str] = frozenset()
    tail_slots: frozenset[str] = frozenset()
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    name_is_key: bool = False
    in_array: bool = False  # the calls stand in a JSON array
    wrapped_object: bool = False  # the format itself has calls as APIs have them
    arguments_first: bool = False  # before the name
    type_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    python_values: bool = False
    guarded: bool = False  # a value can have a guard around it
    key_closes: bool = False  # what closes a value has its key
    dialect: str = "json"  # of structured values: "json", "python" or "quoted"
    quote: str = '"'
    quoted_strings: bool = False  # QUOTED, where values inside others are in another dialect
    name_groups: tuple[str, ...] = ("name",)  # one for each way in which a call may begin
    code: CodeCall | None = None
    elements: ElementPlan | None = None  # arrays and objects as elements


def dialect(tools: Tools) -> str:
    """Return how structured values are written: the name of the dialect in the templates.

    Where types differ it is the one that reads them all: Python's reads JSON as well.
    """
    arguments = tools.arguments
    if not arguments.item:
        return arguments.syntax.encoding.value.lower()
    found = set(arguments.values.values())
    if has_quoted_strings(tools):
        return "python"
    kinds = (Encoding.QUOTED, Encoding.PYTHON)
    return next((kind.value.lower() for kind in kinds if kind in found), "json")
