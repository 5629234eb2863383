"""For tests: a case of a generated parser in a line, tried whole and in pieces of several sizes.

``check_case`` raises an AssertionError that says which way of feeding the text went wrong, and in
what. May import all but the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.library import load_format
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.naming import TEMPLATE_SUFFIX
from turnspec.verification.comparing import ReadCall, ReadParts, added_up, loaded, parts_of

__all__ = ["PIECES", "Call", "Message", "check_case", "parser_of"]

#: The lengths of the pieces in which a text is fed, in characters.
PIECES = (1, 2, 3, 7)

#: What a parser is for: a name, a .py, .yaml or .jinja file, a spec, or the module itself.
AnyFormat = str | Path | Spec | FormatModule


def check_case(
    fmt: AnyFormat,
    text: str,
    *,
    expect: Message,
    problems: Sequence[str] = (),
    tools: Sequence[object] | None = None,
    **options: Any,
) -> None:
    """Check that a parser reads ``expect`` from a text, whole and in pieces, and nothing else.

    Args:
        fmt: the name of a known format (in the repository around the current folder, or of
            turnspec's own), the path of a generated module, of a spec or of a template, a spec, or
            a module.
        text: what the model wrote behind the prompt.
        expect: the message; what it leaves out must be absent. Ids of calls are compared only
            where it gives them, and arguments as the objects that they are.
        problems: the kinds of all problems that have to be told, in their order.
        tools: OpenAI's tool definitions, as for the parser.
        options: the parser's other options: ``enable_thinking``, ``prefill`` and so on.

    Raises:
        AssertionError: the text is read otherwise.
        ValueError: ``fmt`` can't be used.
    """
    __tracebackhide__ = True  # pytest shows the line of the case
    module = parser_of(fmt)
    wanted = _wanted(expect, problems)
    for way, found in _seen(module, text, {"tools": tools, **options}, expect.calls):
        for part, value in wanted.items():
            if found[part] != value:
                raise AssertionError(f"{way}: {_difference(found, part, value, text)}")


def parser_of(fmt: AnyFormat) -> FormatModule:
    """Return the parser module of a format; see `check_case` for what names one.

    Analysing a template takes seconds, so call this once where there are many cases.

    Raises:
        ValueError: ``fmt`` can't be used; says why.
    """
    if not isinstance(fmt, Spec | str | Path):
        return fmt
    if not isinstance(fmt, Spec) and Path(fmt).suffix == TEMPLATE_SUFFIX:
        return load_module(_analysed(Path(fmt)))
    return load_format(fmt)


def _analysed(path: Path) -> str:
    from turnspec.pipeline.folder import analyze_into  # which needs the extra `build`

    result = analyze_into([path], None, messages=None)
    if result.problems:
        raise ValueError("; ".join(map(str, result.problems)))
    build = result.builds[0]
    return build.files[OutputPaths.in_folder(build.name).module]


def _seen(
    module: FormatModule, text: str, options: Mapping[str, Any], calls: Sequence[Call]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each way to feed the text, with a message's parts by name, as they are compared."""
    message = module.parse(text, **options)
    yield "parse", _parts(parts_of(message), message, calls)
    for size in (*PIECES, max(len(text), 1)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        way = "in one piece" if len(pieces) < 2 else f"in pieces of {size}"
        parser = module.Parser(**options)
        events = [event for piece in pieces for event in parser.feed(piece)]
        events += parser.finish()
        yield way, _parts(parts_of(parser.message), parser.message, calls)
        yield f"the events {way}", _parts(added_up(events), parser.message, calls)


def _parts(read: ReadParts, message: Any, expected: Sequence[Call]) -> dict[str, object]:
    """Return what was read, part by part; problems are the message's, as no event has them."""
    content, reasoning, calls = read
    return {
        "reasoning": reasoning,
        "content": content,
        "calls": _calls(calls, expected),
        "problems": [problem.kind for problem in message.problems],
    }


def _calls(found: Sequence[ReadCall], expected: Sequence[Call]) -> list[dict[str, object]]:
    """Return calls that can be compared, with ids only where they are expected."""
    with_id = [bool(call.id) for call in expected] + [False] * len(found)
    return [
        _call(name, loaded(arguments), identifier if shown else "")
        for (identifier, name, arguments), shown in zip(found, with_id, strict=False)
    ]


def _wanted(expect: Message, problems: Sequence[str]) -> dict[str, object]:
    return {
        "reasoning": expect.reasoning,
        "content": expect.content,
        "calls": [_call(call.name, dict(call.arguments), call.id) for call in expect.calls],
        "problems": list(problems),
    }


def _call(name: str, arguments: object, identifier: str) -> dict[str, object]:
    call = {"name": name, "arguments": arguments}
    return {**call, "id": identifier} if identifier else call


def _difference(found: Mapping[str, object], part: str, wanted: object, text: str) -> str:
    lines = {"wanted": wanted, "found": found[part], "text": text}
    if found["problems"] and part != "problems":
        lines["told"] = found["problems"]
    shown = (f"\n  {key:6} {json.dumps(it, ensure_ascii=False)}" for key, it in lines.items())
    return part + "".join(shown)
