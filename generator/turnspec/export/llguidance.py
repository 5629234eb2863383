r"""llguidance's form of Lark: the grammar for real tools, with markers as the tokens that they are.

Written for llguidance 1.3, which vLLM, SGLang and llama.cpp have. It is the bound GBNF grammar,
rule by rule; one that is a regular expression is a terminal, whose name is in capitals. Where a
tokenizer is given, a marker that is one of its tokens is ``<[id]>``: a model writes it as that
token, and not as text that looks like it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from turnspec.export.exporting import Exported, ExportOptions, Refusal, bound_or_refusal
from turnspec.spec.model import Spec
from turnspec.spec.visible import visible_json

FILE = "grammar.lark"

_RULE = re.compile(r"([a-z][a-z0-9-]*)[ \t]*::=(.*)")
_STRING = r'"(?:[^"\\]|\\.)*"'
_ONCE = rf"{_STRING}(?![*+?{{])"
_PIECE = re.compile(
    rf"(?P<run>{_ONCE}(?: +{_ONCE})*|{_STRING})"
    r"|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-z][a-z0-9-]*)|\{[0-9,]*\}|."
)
#: What a set has with an escape, and what has to have one in an expression.
_IN_SET = re.compile(r"(\\.)|[\[/]")
_ESCAPE = re.compile(r"\\(?:x(..)|u(.{4})|U(.{8})|(.))")
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}

#: A piece of a rule in Lark, or the name of a rule.
_Piece = tuple[str, bool]
#: All of a rule that says nothing: no terminal, nor is what refers to it.
_NOTHING: _Piece = ('""', False)


def export_llguidance(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a grammar for the request's tools and answer, from the prompt's end on."""
    request = replace(options.request, lazy=False)
    bound = bound_or_refusal(spec, request, "the grammar")
    if isinstance(bound, Refusal):
        return bound
    return Exported({FILE: lark_of(bound.grammar, options.token_ids)})


def lark_of(gbnf: str, token_ids: Mapping[str, int]) -> str:
    """Return a GBNF grammar of ours in Lark; some texts are tokens, by their ids."""
    found = (match for match in map(_RULE.match, gbnf.split("\n")) if match)
    rules = {rule[1]: [*_pieces(rule[2].strip(), token_ids)] for rule in found}
    terminals: set[str] = set()
    while more := {
        name
        for name, pieces in rules.items()
        if name not in {*terminals, "root"}
        and pieces != [_NOTHING]
        and all(_in_terminal(*p, terminals) for p in pieces)
    }:
        terminals |= more
    lines = (
        f"{_name(rule, terminals)}: "
        + "".join(_name(text, terminals) if is_name else text for text, is_name in pieces)
        for rule, pieces in rules.items()
    )
    return "\n".join(["%llguidance {}", "", *lines, ""])


def _in_terminal(text: str, is_name: bool, terminals: set[str]) -> bool:
    return text in terminals if is_name else not text.lstrip().startswith("<[")


def _name(rule: str, terminals: set[str]) -> str:
    name = "start" if rule == "root" else rule.replace("-", "_")
    return name.upper() if rule in terminals else name


def _pieces(body: str, token_ids: Mapping[str, int]) -> Iterator[_Piece]:
    for match in _PIECE.finditer(body):
        if match["run"]:
            yield from _run([*map(_text, re.findall(_STRING, match["run"]))], token_ids)
        elif match["set"]:
            inner = _IN_SET.sub(lambda sign: sign[1] or f"\\{sign[0]}", match["set"][1:])
            yield f"/[{inner}/", False
        else:
            yield match[0], bool(match["name"])


def _run(texts: Sequence[str], token_ids: Mapping[str, int]) -> Iterator[_Piece]:
    """Yield texts that stand side by side: the tokens in them, and the rest as they are."""
    tokens = "|".join(map(re.escape, sorted(token_ids, key=len, reverse=True)))
    parts = re.split(f"({tokens})", "".join(texts)) if tokens else []
    parts = [*_cut(parts, texts, token_ids)] if len(parts) > 1 else [*texts]
    for at, part in enumerate(parts):
        written = visible_json(json.dumps(part, ensure_ascii=False))
        text = f"<[{token_ids[part]}]>" if part in token_ids else written
        yield (f" {text}" if at else text), False


def _cut(parts: Sequence[str], texts: Sequence[str], token_ids: Mapping[str, int]) -> Iterator[str]:
    """Yield parts of a run, what is no token cut where a text of the run ends: it is spelled so.

    Else the beginning of a word would be taken for that of another one.
    """
    ends, at = {*accumulate(map(len, texts))}, 0
    for part in parts:
        begun = 0
        for end in range(1, len(part) + 1):
            if end == len(part) or (part not in token_ids and at + end in ends):
                yield part[begun:end]
                begun = end
        at += len(part)


def _text(literal: str) -> str:
    """Return the text of a literal of ours."""
    return _ESCAPE.sub(_unescaped, literal[1:-1])


def _unescaped(escape: re.Match[str]) -> str:
    *codes, sign = escape.groups()
    code = next(filter(None, codes), "")
    return chr(int(code, 16)) if code else _SHORT.get(sign, sign)
