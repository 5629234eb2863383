"""The compiler: facts take their names' place, and what nothing reaches goes; comments stay."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import FORMATS, ROOT, facts_of_format
from turnspec.codegen import layout
from turnspec.codegen.compiled import compiled_source, fact_values
from turnspec.codegen.compiler.folding import folded
from turnspec.codegen.compiler.joining import joined, without_empty_sections
from turnspec.codegen.compiler.parameters import without_unread_parameters
from turnspec.codegen.compiler.reaching import reached
from turnspec.codegen.compiler.tidying import tidied, without_other_names
from turnspec.codegen.compiler.values import Facts
from turnspec.codegen.layout import laid_out
from turnspec.codegen.text_hash import text_hash

FACTS = Facts(
    values={"YES": True, "NO": False, "KIND": "text", "END": "</x>"},
    tables={"FULL": True, "EMPTY": False},
    never={"Role.GONE"},
)
FOLDED = {
    "a condition that holds": ("if YES:\n    a()  # why\nelse:\n    b()\n", "a()  # why\n"),
    "one that doesn't": ("# of both\nif NO:\n    a()\nc()\n", "c()\n"),
    "its other branch": ("if NO:\n    a()\nelse:\n    # kept\n    b()\n", "# kept\nb()\n"),
    "a first branch": ("if NO:\n    a()\nelif x:\n    b()\n", "if x:\n    b()\n"),
    "a later branch": ("if x:\n    a()\nelif NO:\n    b()\n", "if x:\n    a()\n"),
    "a later branch that holds": (
        "if x:\n    a()\nelif YES:\n    b()\nelse:\n    c()\n",
        "if x:\n    a()\nelse:\n    b()\n",
    ),
    "a middle branch": (
        "if x:\n    a()\nelif NO:\n    b()\nelse:\n    c()\n",
        "if x:\n    a()\nelse:\n    c()\n",
    ),
    "all that a body has": ("def f():\n    if NO:\n        a()\n", "def f():\n    pass\n"),
    "and": ("z = YES and x\n", "z = x\n"),
    "and, decided": ("if x and NO:\n    a()\nb()\n", "b()\n"),
    "or": ("while x or NO:\n    a()\n", "while x:\n    a()\n"),
    "not": ("if not NO and x:\n    a()\n", "if x:\n    a()\n"),
    "a comparison": ('if KIND == "text":\n    a()\n', "a()\n"),
    "a choice": ("z = a if NO else b + c\n", "z = b + c\n"),
    "a value": ("z = f(END)\n", "z = f('</x>')\n"),
    "a table": ("if EMPTY or FULL:\n    a(FULL)\n", "a(FULL)\n"),
    "a literal is none of its business": ('z = x or "(?!)"\n', 'z = x or "(?!)"\n'),
    "nor an empty one": ("z = x or ()\n", "z = x or ()\n"),
    "a member that is never": ("z = x is Role.GONE or y\n", "z = y\n"),
    "members": ("z = x in (Role.GONE, Role.A)\n", "z = x in (Role.A,)\n"),
    "a local": (
        "def f():\n    x = y and NO\n    return not x\n",
        "def f():\n    x = False\n    return True\n",
    ),
    "one of two locals": (
        "def f():\n    x, z = y, NO\n    return z or x\n",
        "def f():\n    x, z = y, False\n    return x\n",
    ),
    "a parameter is no constant": (
        "def f(x):\n    while x:\n        x = NO\n",
        "def f(x):\n    while x:\n        x = False\n",
    ),
    "cases": (
        "match x:\n    # of both\n    case Role.GONE:\n        a()\n"
        "    case Role.A | Role.GONE if YES:\n        b()\n",
        "match x:\n    case Role.A:\n        b()\n",
    ),
    "a case of all others, without which checkers miss some": (
        "match x:\n    case Role.A:\n        b()\n    case _:\n        if NO:\n            a()\n",
        "match x:\n    case Role.A:\n        b()\n    case _:\n        pass\n",
    ),
}


@pytest.mark.parametrize("case", FOLDED)
def test_folding(case: str) -> None:
    source, wanted = FOLDED[case]
    assert folded(source, FACTS) == wanted


REACHED = '''\
from __future__ import annotations

import re
from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    T = Any


# What is used.


class Kept:
    """It has members."""

    limit = 3
    unread = 4

    def __init__(self) -> None:
        self.used = [1]
        told = (print() or self.used)
        self.written = None
        self.made = compute()

    def called(self) -> Any:
        return self.used[: self.limit]

    def gone(self) -> None:
        return lost()


@cache
def compute() -> int:
    return Kept().called()


# What isn't.


def lost() -> None:
    re.compile("x")
'''


def test_reaching(snapshot: SnapshotAssertion) -> None:
    text = reached(REACHED, {"compute"})
    ast.parse(text)
    assert without_empty_sections(text) == snapshot


def test_joining(snapshot: SnapshotAssertion) -> None:
    first = '"""First."""\n\nimport re\nfrom engine.other import b\n\nA = re.compile("a")\n'
    second = (
        '"""Second."""\n\nfrom collections.abc import Mapping, Sequence\n\nTYPE_CHECKING = False\n'
        "if TYPE_CHECKING:\n    from typing import Any\n\n    from engine.first import A\n\n\n"
        "# why\ndef b() -> Any:\n    pass\n"
    )
    head, bodies = joined([first, second], "engine")
    assert "\n\n".join([head, *bodies]) == snapshot


COMPILE = """\
from pathlib import Path

from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.spec.files import read_spec

print(compiled_source(facts_of(read_spec(Path("specs/openai-gpt-oss-120b.yaml")))))
"""


def test_a_source_is_the_same_whatever_the_order_in_sets_is() -> None:
    for name in FORMATS:
        facts = asdict(facts_of_format(name)) | {"unused": ()}
        assert sets_in(facts) == []
    path = os.pathsep.join([str(ROOT / "generator"), str(ROOT)])
    other = subprocess.check_output(
        [sys.executable, "-c", COMPILE],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": path},
        text=True,
    )
    assert other == f"{compiled_source(facts_of_format('openai-gpt-oss-120b'))}\n"  # any order


def test_a_parser_is_the_same_whatever_lays_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a browser no ruff runs: the playground's parsers are the committed ones nevertheless.

    An install that has neither vendors as well, in another layout.
    """
    facts = facts_of_format("openai-gpt-oss-120b")
    by_ruff = compiled_source(facts)
    monkeypatch.setitem(sys.modules, "ruff", None)
    assert compiled_source(facts) == by_ruff
    unformatted = "class A:\n    x=1\n\n\n    y = 'a'\n\n\n\nROWS = (f(1), 2)"
    formatted = 'class A:\n    x = 1\n\n    y = "a"\n\n\nROWS = (f(1), 2)\n'
    assert laid_out(unformatted) == formatted
    monkeypatch.setitem(sys.modules, "black", None)
    layout._block.cache_clear()  # of what black has laid out
    plain = compiled_source(facts)
    assert plain != by_ruff
    assert ast.dump(ast.parse(plain)) == ast.dump(ast.parse(by_ruff))
    assert text_hash(plain) == text_hash(by_ruff)
    monkeypatch.undo()
    assert laid_out(unformatted) == formatted


def test_one_empty_line_stands_between_what_is_no_function() -> None:
    source = "x = 1\n\n\n# Of y.\n\ny = 2\n\n\n# Functions.\n\n\ndef f():\n    pass\n\n\nz = 3\n"
    assert laid_out(source) == source.replace("1\n\n\n", "1\n\n")


@pytest.mark.parametrize("name", ["minimax-m3", "qwen3-coder", "kimi-k2-instruct", "lfm2-8b-a1b"])
def test_rules_that_share_a_line_are_the_same(name: str) -> None:
    facts = facts_of_format(name)
    module = load_source(compiled_source(facts))
    wanted = fact_values(facts)
    for table in facts.tables.keys() & module.keys():  # any other one is read nowhere
        assert rules_in(module[table]) == rules_in(wanted[table]), table
    assert "for it in (" in compiled_source(facts).partition("# What else")[0]


def load_source(source: str) -> dict[str, Any]:
    """Return all that a module's source names."""
    found: dict[str, Any] = {"__name__": "loaded"}
    exec(source, found)
    return found


def rules_in(table: Any) -> list[tuple[str, object, object]]:
    """Return what rules say."""
    return [(rule.role.name, rule.marker, rule.if_before) for rule in table]


def sets_in(value: Any) -> list[object]:
    """Return the sets in plain data."""
    if isinstance(value, set | frozenset):
        return [value]
    if isinstance(value, dict):
        return sets_in([*value.values()])
    is_list = isinstance(value, list | tuple)
    return [found for item in value for found in sets_in(item)] if is_list else []


#: What folding leaves, and what a person would have written.
TIDIED = {
    "if role in (Role.END,):\n    pass\n": "if role is Role.END:\n    pass\n",
    "if role not in (Role.END,):\n    pass\n": "if role is not Role.END:\n    pass\n",
    'if key in ("type",):\n    pass\n': 'if key == "type":\n    pass\n',
    "if key in (name,):\n    pass\n": "if key in (name,):\n    pass\n",
    "x = (*names, *())\n": "x = (*names,)\n",
    "x = (*(a, b), *(c,), *())\n": "x = (a, b, c)\n",
    f"x = (*({'a' * 50}, b), *({'c' * 50}, d))\n": f"x = (*({'a' * 50}, b), *({'c' * 50}, d))\n",
    f"x = (*({'a' * 50}, b), *({'c' * 50},))\n": f"x = (*({'a' * 50}, b), {'c' * 50})\n",
    f"x = (a, *({'b' * 40}, {'c' * 40}), d)\n": (f"x = (*(a, {'b' * 40}), *({'c' * 40}, d),)\n"),
    f"{'x' * 9} = (*({'b' * 40}, c), *({'d' * 31},))\n": (
        f"{'x' * 9} = (*({'b' * 40}, c, {'d' * 31}),)\n"
    ),
    'if key in ("a", *("b",)):\n    pass\n': "if key in ('a', 'b'):\n    pass\n",
    "x = a or (b)\n": "x = a or b\n",
    "x = a or (b.c)\n": "x = a or b.c\n",
    "x = a or (\n    b\n)\n": "x = a or b\n",
    "x = a or (\n    b(1,\n    2)\n)\n": "x = a or b(1,\n    2)\n",
    "x = a or (\n    b is c\n)\n": "x = a or b is c\n",
    "x = a or (\n    b\n    is c\n)\n": "x = a or (\n    b\n    is c\n)\n",
    "x = f(b)\n": "x = f(b)\n",
    "x = not (f(b))\n": "x = not f(b)\n",
    "x = a or (b is c) or (d + 1) == e\n": "x = a or b is c or (d + 1) == e\n",
    "x = a or (b is c) is d\n": "x = a or (b is c) is d\n",
    "if not ((a or b)):\n    pass\n": "if not (a or b):\n    pass\n",
}


@pytest.mark.parametrize("source", TIDIED)
def test_tidying(source: str) -> None:
    assert tidied(source) == TIDIED[source]


def test_a_constant_has_one_name() -> None:
    source = (
        'A = "a"\nB = A\nC = A\n\n\n\n'
        'def f(x):\n    """Say if it is B."""\n    return x.B is B or f"{C}"\n'
    )
    renamed = source.replace("B = A\nC = A\n", "").replace("{C}", "{A}")
    assert without_other_names(source) == renamed.replace("is B or", "is A or")
    told = 'A = "a"\nB = A\nx = f"{B!r}"\n'
    assert without_other_names(told) == told


def read_what(parameters: str, *calls: str, others: str = "") -> list[str]:
    """Return a function's head, and calls of it, without the parameters that it doesn't read."""
    source = f"def f({parameters}):\n    return a\n\n\n\n" + "\n".join(calls) + "\n"
    head, _, *rest = without_unread_parameters(source, others).split("\n")
    return [head, *filter(None, rest)]


def test_functions_take_what_they_read() -> None:
    assert read_what("a, b, c=1", "f(1, 2)", "f(1, 2, c=x)") == ["def f(a):", "f(1)", "f(1)"]
    assert read_what("b, a: B = 2", "x = [f(1, 2), f(3)]") == [
        "def f(a: B = 2):",
        "x = [f(2), f()]",
    ]
    assert read_what("b", "f(b=1)", "f(1)") == ["def f():", "f()", "f()"]


@pytest.mark.parametrize("call", ["f(x())", "f(*x)", "f(**x)", "map(f, x)", "f", "f(1); x.f(y())"])
def test_functions_take_what_may_do_something_else(call: str) -> None:
    """Or what isn't known; so does one that is handed on, or called from elsewhere."""
    assert read_what("b", call) == ["def f(b):", call]
    for others in ("f(2)", "f(b=2)", "f(*x)", "x(f)", "def f(): pass\n"):
        assert read_what("b", "f(1)", others=others) == ["def f(b):", "f(1)"]


def test_functions_take_no_more_than_what_all_callers_give() -> None:
    assert read_what("a, b=0", "f(1, 2)", others="f(3)") == ["def f(a):", "f(1)"]


def test_constructors_take_what_they_read() -> None:
    """Their calls may stand for what isn't read. Methods of one name stay as they are."""
    source = """
class A:
    def __init__(self, a, b):
        self.a = a

    def g(self, b):
        return self

    def h(self, b):
        return self



class B:
    def h(self, b):
        return b



def f(a, b):
    return a.g(1).h(2)



f(A(1, 2), A(3, 4))
"""
    left = source.replace("a, b):", "a):").replace("g(self, b)", "g(self)").replace("g(1)", "g()")
    expected = left.replace("f(A(1, 2), A(3, 4))", "f(A(1))")
    assert without_unread_parameters(source, "") == expected
