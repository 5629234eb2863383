"""Nothing in a parser that can't run, and no name that nothing uses; here of a few formats."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from benchmarks.module_coverage import LESS, Covered, covered, grouped
from benchmarks.module_limits import RUN_SHARE_OF_LESS
from benchmarks.names import unused_names
from benchmarks.statements import Traced

from tests.generated_formats import CODES, PARTS, module_source
from turnspec.codegen.compiler.edits import walked


@pytest.mark.parametrize("name", PARTS)
def test_what_a_parser_holds_can_run_and_its_names_are_used(name: str) -> None:
    found = covered(name, LESS, enough=RUN_SHARE_OF_LESS)
    never = "\n".join(f"{each.place}: {each.text}" for each in found.never)
    assert found.share >= RUN_SHARE_OF_LESS, f"{found.share:.1%} runs; never run:\n{never}"
    assert found.unused == []


@pytest.mark.parametrize("name", CODES)
def test_no_statement_is_a_value_that_nothing_takes(name: str) -> None:
    assert list(_idle_statements(module_source(name))) == []


def test_values_that_nothing_takes_are_told() -> None:
    source = '"""Doc."""\ntext[1:].strip()\ntexts.append("")\ntext\ndef f():\n    yield None\n'
    assert list(_idle_statements(source)) == ["text[1:].strip()", "text"]


_OF_TEXTS = {name for name in dir(str) if not name.startswith("_")}


def _idle_statements(source: str) -> Iterator[str]:
    """Yield the statements that do nothing: values, but for texts of documentation."""
    for node in walked(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method))) if method in _OF_TEXTS:
                yield ast.unparse(node)
            case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom() | ast.Constant()):
                pass
            case ast.Expr():
                yield ast.unparse(node)


SOURCE = '''
"""Doc."""

from __future__ import annotations

import re
import sys
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

__all__ = ["parse"]
UNUSED, USED = 1, 2


class Role(Enum):
    """What markers do."""

    START = 1
    END = 2


def parse(text: Any, spare: int = 0) -> int:
    """Doc."""
    match text:
        case "":
            return USED
        case _:
            pass
    if text == "x": return 1
    for sign in text:
        continue
    else:
        raise ValueError
    return Role.START.value


def gone() -> int:
    return again()


def again() -> int:
    return gone() + len(re.findall("x", ""))
'''


def test_names_that_only_each_other_use_are_told() -> None:
    found = [(each.kind, each.name) for each in unused_names(SOURCE)]
    assert found == [
        ("import", "re"),
        ("import", "sys"),
        ("import", "Literal"),
        ("constant", "UNUSED"),
        ("member", "END"),
        ("function", "gone"),
        ("function", "again"),
        ("parameter", "spare"),
    ]


def test_statements_that_ran_are_told_from_others() -> None:
    traced = Traced(SOURCE)
    assert traced.module.parse("") == 2
    never = [each.text for each, ran in zip(traced.statements, traced.ran, strict=True) if not ran]
    assert "return USED" not in never
    assert [text for text in never if "gone" not in text and "again" not in text] == [
        *("pass", "return 1", "if text == 'x':", "continue", "raise ValueError"),
        *("for sign in text:", "return Role.START.value"),
    ]
    with pytest.raises(ValueError, match=r"^$"):
        traced.module.parse("ab")
    never = [each.text for each, ran in zip(traced.statements, traced.ran, strict=True) if not ran]
    assert "raise ValueError" not in never
    assert traced.count == sum(traced.ran)


def test_what_never_ran_is_grouped_by_functions() -> None:
    traced = Traced(SOURCE)
    traced.module.parse("")
    below = SOURCE.partition("def gone")[0].count("\n")
    one, other = (
        Covered(name, "tagged", traced.statements, traced.ran, below, [])
        for name in ("one", "other")
    )
    dead = {(each.place, each.is_common): each for each in grouped([one, other])}
    assert dead["gone", True].formats == {"one", "other"}
    assert (dead["gone", True].statements, dead["gone", True].having) == (2, 2)
    assert dead["parse", False].lines["pass"] == ["one", "other"]
