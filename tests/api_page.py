"""Writes docs/api.md: the options, events, attributes and kinds of problems of all parsers.

Run with ``make api``. What stands there is taken from `turnspec.protocol`, by its docstrings.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import get_args

from turnspec import protocol

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"

HEAD = """\
<!-- Written from generator/turnspec/protocol.py; write it again with: make api -->

# What every generated parser offers

All generated modules offer the same; only classes that a format can't need (calls, reasoning) are
missing from some. `turnspec.protocol` has the types below as protocols, for code that works with
any format; `turnspec vendor --protocol` copies it beside the parsers:

```python
from formats import openai_gpt_oss_120b, qwen3_coder
from formats.protocol import Format

formats: dict[str, Format] = {"qwen": qwen3_coder, "oss": openai_gpt_oss_120b}
```
"""
EVENTS_HEAD = """\
## Events

`feed` and `finish` return what they learnt, in its order; `event.type` says what an event is. The
texts of all events add up to the message. `event.start` and `event.end` say where an event's text
stands, in characters of all that was fed; negative in the prefill.
"""
KINDS_HEAD = """\
### Kinds of problems

A parser never raises on what a model writes, and loses none of it. White space around markers,
the style of JSON, and the quotes or the sign in a tag (`<f=x>`, `<f name="x">`) are no deviations.
An opening marker that no call follows is content. Where only JSON, or a bracket before the name,
marks a call, so is all that names no known tool.

| kind | the model … |
| --- | --- |
"""


def page() -> str:
    """Return the page's text."""
    kinds = [f"| `{kind}` | {told} |\n" for kind, told in protocol.PROBLEM_KINDS.items()]
    sections = [
        HEAD,
        "## `parse(text, *, …)` and `Parser(*, …)`\n\n" + _options(),
        _section(protocol.StreamingParser, "Parser"),
        _section(protocol.Message),
        _section(protocol.ToolCall),
        EVENTS_HEAD,
        *(_section(event, depth=3) for event in get_args(protocol.Event)),
        _section(protocol.Problem),
        KINDS_HEAD + "".join(kinds),
        _section(protocol.Format, "The module"),
    ]
    return "\n".join(sections)


def _options() -> str:
    """Return the table of options, with what the docstring says of each."""
    described = dict(_described(inspect.getdoc(protocol.Format.Parser) or ""))
    signature = inspect.signature(protocol.Format.Parser)
    rows = [
        f"| `{name}` | `{_type(parameter.annotation)}` | `{_default(parameter.default)}` | "
        f"{_code(described.pop(name))} |\n"
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    assert not described, f"no such option: {', '.join(described)}"
    intro = (
        "`parse` reads a whole text, or pieces of one (`(piece, True)` where that is a special "
        "token), `Parser`\none that arrives in pieces. All options are given by name.\n\n"
        "| option | type | default | |\n| --- | --- | --- | --- |\n"
    )
    return intro + "".join(rows)


def _described(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a docstring's ``Args`` with their texts."""
    _, _, told = docstring.partition("Args:\n")
    for block in re.split(r"^ {4}(?=\w+: )", told, flags=re.MULTILINE)[1:]:
        name, _, text = block.partition(": ")
        yield name, " ".join(text.split())


def _section(cls: type, title: str = "", depth: int = 2) -> str:
    """Return a class's attributes and methods in a table, with their docstrings."""
    bases = (base for base in reversed(cls.__mro__) if "start" not in vars(base))  # see EVENTS_HEAD
    members = {name: member for base in bases for name, member in vars(base).items()}
    rows = [
        f"| {shown} | {_code(' '.join((member.__doc__ or '').split()))} |\n"
        for name, member in members.items()
        if not name.startswith("_") and (shown := _shown(name, member))
    ]
    told = _code((inspect.getdoc(cls) or "").splitlines()[0])
    heading = f"{'#' * depth} {title or f'`{cls.__name__}`'}"
    return f"{heading}\n\n{told}\n\n| | |\n| --- | --- |\n{''.join(rows)}"


def _shown(name: str, member: object) -> str:
    """Return an attribute with its type, or a method with its arguments; "" for the options'."""
    if isinstance(member, property):
        annotation = inspect.signature(member.fget).return_annotation if member.fget else ""
        return f"`{name}: {_type(annotation)}`"
    if isinstance(member, FunctionType) and name not in ("parse", "Parser"):
        arguments = list(inspect.signature(member).parameters)[1:]
        return f"`{name}({', '.join(arguments)})`"
    return ""


def _type(annotation: str) -> str:
    return annotation.replace("'", '"').replace("|", r"\|")


def _default(value: object) -> str:
    return repr(value).replace("'", '"')


def _code(text: str) -> str:
    """Return a docstring's text as Markdown."""
    return re.sub(r"`+([^`]+)`+", r"`\1`", text).replace("|", r"\|")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
