"""Spec -> the source of a Python parser module, through the code templates beside this file."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.context import module_context
from turnspec.codegen.plan import plan_module
from turnspec.codegen.source import sample_block
from turnspec.spec.model import Spec
from turnspec.spec.recipe import REGENERATE

_TEMPLATES = Path(__file__).parent / "templates"
#: CPython keeps so many attributes beside the object; with more, each costs a look into a table.
_MOST_ATTRIBUTES = 30


def generate_module(
    spec: Spec, *, spec_path: str, spec_hash: str, sample: str, command: str = REGENERATE
) -> str:
    """Return the source of the parser module for a spec.

    ``spec_path``, ``spec_hash`` and ``command`` go into the banner; ``sample`` is the text of a
    turn, shown in the docstring, or empty.
    """
    context = module_context(plan_module(spec))
    values = {field.name: getattr(context, field.name) for field in dataclasses.fields(context)}
    values |= {
        "banner": banner(spec_path, spec_hash, command=command).rstrip("\n"),
        "sample": sample_block(sample),
    }
    template = _environment().get_template("module.jinja")
    body = template.render(values | {"imports": (), "slots": ()})
    source = template.render(values | {"imports": _imports(body), "slots": _slots(body)})
    return sealed(_formatted(source))


def _formatted(source: str) -> str:
    # Only who generates parsers has black (the extra `build`).
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=100, target_versions={TargetVersion.PY310})
    return black.format_str(source, mode=mode)


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _slots(body: str) -> tuple[str, ...]:
    """Return the parser's attributes if they are so many that slots make it faster."""
    parser = body[body.index("class Parser:") :]
    names = tuple(sorted(set(re.findall(r"self\.(_\w+)(?:: [^=\n]+)? \+?= ", parser))))
    return names if len(names) > _MOST_ATTRIBUTES else ()


def _imports(body: str) -> tuple[str, ...]:
    """Return the import lines for the names that a module's body uses."""
    modules = [name for name in ("ast", "json", "re", "sys") if re.search(rf"\b{name}\.", body)]
    names = [
        name for name in ("Iterable", "Mapping", "Sequence") if re.search(rf"\b{name}\b", body)
    ]
    return (
        *(f"import {name}" for name in modules),
        *(["from collections import Counter"] if "Counter(" in body else ()),
        f"from collections.abc import {', '.join(names)}",
        "from dataclasses import dataclass" + (", replace" if "replace(" in body else ""),
        "from typing import Any, Literal",
    )
