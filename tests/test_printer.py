"""The printer of Python as TypeScript: small modules give the same, and the rest is refused."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.typescript.toolchain import compile_typescript, node
from turnspec.codegen.printer.module import Module, NotInSubset
from turnspec.codegen.printer.script import names_in, needed, texts_of
from turnspec.codegen.printer.untyped import untyped

#: What each module has before it.
HEAD = """\
from __future__ import annotations
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, Literal
"""
#: Bodies of `run(text: str) -> str`, and what stands before that function.
SAME: dict[str, tuple[str, str]] = {
    "a constant of texts and pairs": (
        """
        WORDS = ("a", "b")
        AFTER = (WORDS[0], ("b", WORDS), ("c", WORDS))
        def said(marks: tuple[str | tuple[str, tuple[str, ...]], ...]) -> str:
            return " ".join(it if isinstance(it, str) else it[0] + it[1][0] for it in marks)
        """,
        """
        return said(AFTER) + text
        """,
    ),
    "what two attributes hold alike": (
        """
        class Shelf:
            def __init__(self, books: list[str]) -> None:
                if books:
                    self.now = self.first = [*books]
                else:
                    self.now = []
        """,
        """
        shelf = Shelf([text, "b"])
        shelf.now += ["c"]
        return ",".join(shelf.first) + str(len(shelf.now))
        """,
    ),
    "what is no letter": (
        "",
        r"""
        return re.sub(r"[\W_]+", "-", text) + re.sub(r"\W", ".", text)
        """,
    ),
    "all that an expression finds": (
        "",
        r"""
        return ",".join([it for it in re.findall(r"[^ ]", text) if len(it) < 3])
        """,
    ),
    "a list and a set that grow": (
        "",
        """
        found = [text]
        found += [text]
        seen: set[str] = set()
        seen |= {text}
        while found.pop() and text not in seen:
            pass
        return "".join(found)
        """,
    ),
    "truth of collections": (
        "",
        """
        found: list[str] = []
        for values in ([text], [""], found):
            found.append("some" if values and not found else "none")
        sizes: dict[str, int] = {}
        return ", ".join(found) + ("empty" if not sizes else "")
        """,
    ),
    "or, and": (
        "",
        """
        first: str | None = None
        number = 0
        return (first or text or "x") + ("a" if number or text else "b")
        """,
    ),
    "membership": (
        """
        WORDS = {"a": "first"}
        WORDS |= {"b": "second"}
        """,
        """
        names = {"a", text}
        known: dict[str, int] = {"__proto__": 1, "constructor": 2}
        words = ("a", "b", "__proto__", "toString")
        told = [word for word in words if word in names or word in known]
        told += [WORDS.get(text[:1]) or "no word"]
        return f"{' '.join(told)} {'duck' if '🦆' in text else 'none'}"
        """,
    ),
    "slices by characters": (
        "",
        """
        first = text[0] if text else ""
        at = text.index("🦆") if "🦆" in text else 0
        around = text[at : at + 2] + text[at : at + 1]
        return f"{text[:1]}|{text[1:2]}|{text[len(text) :]}|{[text, 'b'][-1]}|{first}|{around}"
        """,
    ),
    "scopes": (
        "",
        """
        last, count = None, 0
        for sign in text:
            if sign == "a":
                inner = sign + "!"
                count += len(inner)
            last = sign
        while count > 3 and (left := count - 1):
            count = left - 1
        start, count = count, count + 1
        for count, sign in enumerate(text):
            last = f"{sign}{count}"
        if text:
            count = count + 1
        return f"{last or 'none'} {count} {start}"
        """,
    ),
    "classes": (
        """
        class Shape(Enum):
            ROUND = "round"
            FLAT = "flat"


        class Base:
            sign = "b"

            def __init__(self, text: str, times: int = 2) -> None:
                self.text, self.times = text, times
                self.seen: list[str] = []
                self.mark = self.marked()
                self.mark = "."

            def marked(self) -> str:
                self.seen.append(self.text)
                return "!"

            @property
            def doubled(self) -> str:
                return self.text * self.times

            @cached_property
            def length(self) -> int:
                return len(self.doubled.split("b")) - 1

            def kind(self) -> Shape:
                return Shape.ROUND if self.sign == "b" else Shape.FLAT


        class Derived(Base):
            sign = "d"

            def __init__(self, text: str) -> None:
                super().__init__(text, times=3)

            def kind(self) -> Shape:
                return Shape.FLAT if super().kind() is Shape.FLAT else Shape.ROUND
        """,
        """
        found: list[str] = []
        for made in (Base(text), Derived(times_of(text))):
            kind = made.kind()
            match kind:
                case Shape.ROUND:
                    found.append(f"round {made.length} {made.mark} {len(made.seen)}")
                case _:
                    found.append(f"flat {made.doubled}")
        return ", ".join(found)


        def times_of(text: str) -> str:
            return text
        """,
    ),
    "generators": (
        """
        def pieces(text: str) -> Generator[None, None, str]:
            found = ""
            for sign in text:
                found += sign
                if sign in ("b", "c"):
                    yield None
            return found


        def twice(text: str) -> Generator[None, None, str]:
            if not (first := (yield from pieces(text))):
                return "nothing"
            return first + (yield from pieces(text))


        def signs(text: str) -> Iterator[str]:
            for sign in text:
                yield sign
        """,
        """
        return "".join(sign + "." for sign in signs(text) if sign != "b")
        """,
    ),
    "comprehensions": (
        "",
        """
        pairs = [(sign, at) for at, sign in enumerate(text) if sign != "b"]
        table = {sign: at for sign, at in pairs}
        nested = [sign + other for sign, _ in pairs for other in ("x", "y")]
        later = [sign for sign, at in pairs if at > 0]
        first = later[0] if later else "none"
        some = any(at > 1 for _, at in pairs) and all(sign.strip() for sign in nested)
        told = "some" if some else "none"
        last = " ".join(reversed(nested)) if "ax" in reversed(nested) else "none"
        return f"{' '.join(nested)} {first} {told} {len(table)} {last}"
        """,
    ),
    "expressions": (
        r"""
        WORD = re.compile(r"(?P<first>[a-z])(?P<rest>\w*)\Z|(?P<sign>[\]\[{}.-])")


        @lru_cache(9)
        def expression(source: str) -> re.Pattern[str]:
            return re.compile(f"[{re.escape(source)}]+" if source else "(?!)")
        """,
        """
        found = WORD.search(text)
        told = f"{found['first'] or ''} {found.lastgroup or ''}" if found else "no"
        marks = re.sub("[^a-c]", lambda it: f"<{it.group()}>", text)
        return f"{told} {marks} {len(expression(text).findall(text * 2))} {text!r}"
        """,
    ),
    "sets and lists": (
        "",
        """
        given, known = {"a", "b"}, set(text)
        both = [sign for sign in ("a", "b") if sign in given & known]
        items = [*both, *(sign for sign in ("a", "b") if sign in given - known)]
        items = ["first", *items]
        del items[2:]
        items.insert(1, "second")
        given |= {"z"}
        rows = sorted({text, text * 2, "x"}, key=len, reverse=True)[:1]
        inside = not known - given
        return " ".join([*items, "in" if inside else "out", *rows])
        """,
    ),
    "what may be of two kinds": (
        "",
        """
        rows: list[list[str] | None] = [None, [], [text]]
        some = [row for row in rows if row]
        parts: list[str | list[str]] = [text, [text, "b"], *some]
        found: list[str] = []
        for part in parts:
            if isinstance(part, str):
                found.append(part.rstrip("b"))
            else:
                found.append(part[-1] + str_of(part))
        return "|".join(found)


        def str_of(part: str | list[str]) -> str:
            return part if isinstance(part, str) else part[0]
        """,
    ),
    "errors": (
        """
        def checked(text: str) -> str:
            if "b" in text:
                raise ValueError(f"{text!r} is none")
            return text
        """,
        """
        try:
            found = checked(text)
        except ValueError:
            return "caught"
        return found
        """,
    ),
}
TEXTS = ("", "a", "ab", "abc", "🦆b", "b🦆a", "x y\n'z", "é\u200b[.")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What all small modules give in Node, printed as JavaScript."""
    folder = tmp_path_factory.mktemp("printed")
    parts = []
    for name, source in _sources():
        file = f"{name.replace(' ', '_').replace(',', '')}.mjs"
        (folder / file).write_text(_script(source, is_typed=False), "utf-8")
        parts.append(f"found[{json.dumps(name)}] = texts.map((await import('./{file}')).run);")
    main = f"const found = {{}}; const texts = {json.dumps(TEXTS)};\n{chr(10).join(parts)}"
    (folder / "main.mjs").write_text(f"{main}\nconsole.log(JSON.stringify(found));", "utf-8")
    done = subprocess.run(
        [node(), folder / "main.mjs"], capture_output=True, text=True, encoding="utf-8", check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def _sources() -> Iterator[tuple[str, str]]:
    for name, (before, body) in SAME.items():
        run, _, others = textwrap.dedent(body).partition("\n\n\n")
        lines = textwrap.indent(run.strip("\n"), "    ")
        yield (
            name,
            "\n\n".join(
                [HEAD, textwrap.dedent(before), f"def run(text: str) -> str:\n{lines}\n", others]
            ),
        )


def _script(source: str, *, is_typed: bool = True) -> str:
    module = Module(source, frozenset(), is_typed=is_typed)
    printed = module.printed(["run"]).replace("function run(", "export function run(")
    text = "\n".join([printed, *module.last_lines])
    parts = texts_of(needed(names_in(text)), (), is_typed=is_typed)
    return "\n\n".join([*parts, text]) + "\n"


@pytest.mark.parametrize("name", SAME)
def test_small_modules_give_the_same(name: str, answers: dict[str, list[str]]) -> None:
    scope: dict[str, object] = {}
    exec(dict(_sources())[name], scope)
    run = scope["run"]
    assert callable(run)
    assert answers[name] == [run(text) for text in TEXTS]


def test_small_modules_are_strict_typescript(tmp_path: Path) -> None:
    for number, (_, source) in enumerate(_sources()):
        (tmp_path / f"module{number}.ts").write_text(_script(source), "utf-8")
    compile_typescript(tmp_path, tmp_path / "compiled")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import os\n    return os.name", "line 8: Import"),
        ("return text.title()", "line 8: method title of str"),
        ("return sum(map(len, text))", "line 8: call of sum"),
        ("return text if (text, 'a') in [('b', 'a')] else ''", "compared by its parts"),
        ("return 'a' if (1, 2) > (0, 1) else text", "line 8: comparison of tuple"),
        ("return text[::2]", "line 8: slice of str"),
        ("with open(text):\n        return text", "line 8: With"),
        (
            "for _ in text:\n        pass\n    else:\n        pass\n    return text",
            "line 8: For",
        ),
        ("return f'{text:>9}'", "line 8: format specification"),
        ("return '%s' % (text,)", "line 8: operator Mod of str and tuple"),
        ("return f'{len(text) - 2:d}'", "line 8: format specification"),
        ("return text * (len(text) // 2)", "line 8: operator FloorDiv of num and num"),
        ("return ''.join([text] + [text])", "line 8: operator Add of list and list"),
        ("return next(iter([text]))", "line 8: call of next"),
        ("found = 1\n    found |= len(text)\n    return ''", "line 9: BitOr and = of num"),
        ("return ''.join(sorted(text))", "line 8: sorted of this"),
        ("return ''.join(filter(None, [text]))", "line 8: call of filter"),
        (
            "try:\n        pass\n    except KeyError:\n        pass\n    return text",
            "line 8: Try",
        ),
        ("x = {'a': 1}\n    x['a'] += 1\n    return text", "line 9: Add and = of num"),
        (
            "match text:\n        case str():\n            pass\n    return text",
            "line 8: Match",
        ),
        ("return text if {'a'} < {'b'} else ''", "line 8: comparison of set"),
    ],
)
def test_what_is_no_part_of_the_subset_is_refused_with_its_line(body: str, told: str) -> None:
    with pytest.raises(NotInSubset, match=told.replace("+", r"\+")):
        Module(f"{HEAD}def run(text: str) -> str:\n    {body}\n").printed(["run"])


def test_what_changes_a_constant_is_refused() -> None:
    source = f"{HEAD}N = 1\nN += 1\ndef run(text: str) -> str:\n    return text * N\n"
    with pytest.raises(NotInSubset, match="line 8: AugAssign"):
        Module(source).printed(["run"])


def test_all_refusals_are_told_at_once() -> None:
    source = f"{HEAD}def run(text: str) -> str:\n    return other(text.title())\n\n\n"
    source += "def other(text: str) -> str:\n    return text.swapcase()\n"
    with pytest.raises(NotInSubset) as refused:
        Module(source).printed(["run"])
    assert refused.value.refusals == [
        "line 8: method title of str",
        "line 12: method swapcase of str",
    ]


def test_a_dict_is_no_mapping_of_anything() -> None:
    source = f"{HEAD}def run(text: str) -> str:\n    return other({{text: 1}})\n\n\n"
    source += "def other(members: Mapping[str, Any]) -> str:\n    return str(members)\n"
    with pytest.raises(NotInSubset, match="line 8: a dict, which is a Map, for a Mapping"):
        Module(source).printed(["run"])


def test_comments_stay_where_they_are() -> None:
    source = f"""{HEAD}
# A heading.


#: What it is for.
WORDS = ("a", "b")


def run(text: str) -> str:
    \"\"\"Return `other_text`; None for nothing.\"\"\"
    # Before it.
    found = text  # beside it
    return found
"""
    assert Module(source).printed(["run", "WORDS"]) == (
        "// A heading.\n\n/** What it is for. */\n"
        'const WORDS: readonly string[] = ["a", "b"];\n\n'
        "/** Return `otherText`; null for nothing. */\n"
        "function run(text: string): string {\n  // Before it.\n"
        "  const found = text; // beside it\n  return found;\n}\n"
    )


def test_a_comment_within_a_condition_that_assigns_stays_within_it() -> None:
    source = f"""{HEAD}
def run(text: str) -> str:
    found = ""
    while rest := text.strip():
        if rest == "a":
            found = rest  # for once
        text = rest[1:]  # and so on
    if more := text.strip():
        found = more  # the last
    return found
"""
    printed = Module(source).printed(["run"])
    told = [line.strip() for line in printed.split("\n") if "//" in line or "strip" in line]
    assert told == [
        "const rest = strip(text);",
        'if (rest === "a") found = rest; // for once',
        "text = rest.slice(1); // and so on",
        "const more = strip(text);",
        "if (more) found = more; // the last",
    ]


def test_types_are_left_out_of_the_runtime() -> None:
    text = """\
/** Says it. */
export class Known extends Other {
  // From what.
  private readonly found: Map<string, string[]> = new Map<string, string[]>(); // "//"
  count?: number;

  of(key: string, { end }: { end: number }, other: (it: string) => void = no): string | null {
    const [one, two] = this.found.get(key) as [string, string];
    return key ? other(one) : (two as string);
  }
}
"""
    without_types = """\
/** Says it. */
export class Known extends Other {
  found = new Map();

  of(key, { end }, other = no) {
    const [one, two] = this.found.get(key);
    return key ? other(one) : (two);
  }
}
"""
    assert untyped(text) == without_types
    assert untyped("export interface One {\n  two: string;\n}") == ""
