r"""Rules for arguments that stand in a JSON string: what is written there has a string's escapes.

A quote of an argument's own is `\"` there, and its line break, an escape already, `\\n`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from turnspec.grammar.text import Rule, group, literal, reachable

#: What the names of the rules of what stands in a string begin with.
IN_STRING = "in-string-"
_TERM = re.compile(r'"((?:[^"\\]|\\.)*)"|\[((?:[^\]\\]|\\.)*)\]|([a-z][a-z0-9-]*)')
#: What a grammar and JSON both escape: the sign as a grammar has it, and what it is.
_SIGNS = {r"\"": '"', '"': '"', r"\\": "\\", r"\n": "\n", r"\r": "\r", r"\t": "\t"}
_SIGN = re.compile(r"\\x[01][0-9A-F]|\\.|.", re.DOTALL)


def in_string(rules: Iterable[Rule], entries: Collection[str]) -> list[Rule]:
    """Return rules of which the entries, and all that they lead to, stand in a JSON string."""
    given = list(rules)
    inner = [Rule(IN_STRING + it.name, _escaped(it.body)) for it in reachable(given, entries)]
    quoted = {name: rf'"\"" {IN_STRING}{name} "\""' for name in entries}
    return [*(replace(it, body=quoted.get(it.name, it.body)) for it in given), *inner]


def _escaped(body: str) -> str:
    """Return a rule's body with the texts, classes and names that it has in a string."""
    return _TERM.sub(_escaped_term, body)


def _escaped_term(found: re.Match[str]) -> str:
    text, members, name = found.groups()
    if name:
        return IN_STRING + str(name)
    if text is not None:
        return '"' + "".join(_escape(sign) or sign for sign in _SIGN.findall(text)) + '"'
    if members.startswith("^"):  # what no text of JSON holds, no string holds either
        return found[0]
    signs = _SIGN.findall(members)
    plain = "".join(sign for sign in signs if not _escape(sign))
    escapes = [f'"{_escape(sign)}"' for sign in signs if _escape(sign)]
    return group([*([f"[{plain}]"] if plain else []), *escapes]) if escapes else found[0]


def _escape(sign: str) -> str:
    """Return the escape of a sign as a grammar's text has it; nothing if JSON has none."""
    code = chr(int(sign[2:], 16)) if sign.startswith(r"\x") else _SIGNS.get(sign, "")
    return literal(json.dumps(code)[1:-1])[1:-1]
