"""The words of a GBNF grammar: literals, classes, groups, and rules.

Everything stays in the subset that llama.cpp, xgrammar and llguidance read alike. All text from a
template passes through `literal` or `character_class`, so no template can write grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import hexdigits
from unicodedata import ucd_3_2_0

from turnspec.spec.characters import NAME_SIGNS

#: The rules for white space that is free to differ from the template's own: inside encoded values,
#: and around markers. Only the first is bounded. The second calls itself so that llguidance reads
#: it character by character; as one longest run it would take white space away from free text.
SPACE = "space"
GAP = "gap"

#: What those rules stand for; any other white space of a template is a character like the others.
WHITE_SPACE = " \t\n\r"

_LINE_BREAK = re.compile(r"[ \t\r]*\n[ \t\n\r]*")
_REFERENCE = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-z][a-z0-9-]*)')
_REMEMBERED = 256  # markers of formats
_FREE = (SPACE, GAP)
# How characters are written that have escapes of their own.
_IN_BOTH = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_IN_LITERAL = {**_IN_BOTH, '"': r"\""}
_IN_CLASS = {**_IN_BOTH, "[": r"\[", "]": r"\]", "^": r"\x5E"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; ``comment`` stands on a line of its own before it."""

    name: str
    body: str
    comment: str = ""

    def references(self) -> frozenset[str]:
        """Return the names of the rules that the body refers to."""
        return frozenset(name for name in _REFERENCE.findall(self.body) if name)

    def __str__(self) -> str:
        """Return the rule's line, after its comment's line if it has one."""
        comment = f"\n# {self.comment}\n" if self.comment else ""
        return f"{comment}{self.name} ::= {self.body}\n"


def trimmed(text: str) -> str:
    """Return ``text`` without the white space at its ends."""
    return text.strip(WHITE_SPACE)


def literal(text: str) -> str:
    """Return ``text`` as one quoted literal."""
    return f'"{escaped(text)}"'


def spelled(text: str) -> str:
    """Return ``text`` as one literal per character, for a marker where free text could also stand.

    An engine that cuts the text into the longest literals first must not take the beginning of a
    marker for the whole of it; character by character, marker and text stay apart to the end.
    """
    return " ".join(map(literal, text))


def character_class(characters: Iterable[str], *, negated: bool = False, ranges: str = "") -> str:
    """Return a class of single characters, after the already written ``ranges``; the dash last."""
    members = sorted(set(characters), key=lambda char: (char == "-", char))
    before = escaped(ranges, {})
    singles = escaped("".join(members), _IN_CLASS, before)
    return f"[{'^' if negated else ''}{before}{singles}]"


def sequence(*parts: str) -> str:
    """Return the parts one after another, without empty ones and with free white space once."""
    written = ""
    for part in parts:
        if part in ("", '""'):
            continue
        if part.startswith(_FREE) and written.endswith(_FREE):
            first, _, rest = part.partition(" ")
            if first in _FREE and written.rpartition(" ")[2] in _FREE:
                part = rest
        written = f"{written} {part}" if written and part else written or part
    return written.strip(" ") or '""'


def choice(options: Iterable[str]) -> str:
    """Return the options as alternatives, each once."""
    return " | ".join(dict.fromkeys(options))


def group(options: Iterable[str], repeat: str = "") -> str:
    """Return the options in brackets, with ``repeat`` (``?``, ``*``, ``+``) behind; or nothing."""
    written = choice(options)
    if not written or not (repeat or "|" in written):
        return written
    return f"( {written} ){repeat}"


@lru_cache(maxsize=_REMEMBERED)
def lenient(text: str) -> str:
    """Return ``text`` with free white space at its ends and wherever it breaks a line."""
    core = trimmed(text)
    if not core:
        return GAP if text else ""
    stretches = [literal(stretch) for stretch in _LINE_BREAK.split(core)]
    before = GAP if text[0] in WHITE_SPACE else ""
    after = GAP if text[-1] in WHITE_SPACE else ""
    return sequence(before, f" {GAP} ".join(stretches), after)


def apart(text: str) -> str:
    """Return ``text`` behind a word: white space is needed where the word could go on."""
    if not needs_space(text):
        return lenient(text)
    return sequence(literal(text[0]), GAP, lenient(text.lstrip(WHITE_SPACE)))


def behind_value(text: str) -> str:
    """Return ``text`` behind a value: white space is needed where a bare one could go on."""
    core = trimmed(text)
    if not core or text[0] not in WHITE_SPACE or not bare_goes_on(core):
        return lenient(text)
    return sequence(literal(text[0]), GAP, lenient(text.lstrip(WHITE_SPACE)))


def bare_goes_on(text: str) -> bool:
    """Tell whether a value without quotes could go on with the beginning of ``text``."""
    return text[:1] not in tuple("{}[](),:;\"'`<>|")


def needs_space(text: str) -> bool:
    """Tell whether a word would go on in ``text`` without the white space before that."""
    core = trimmed(text)
    return text[:1] in tuple(WHITE_SPACE) and (goes_on(core) or not core)


def goes_on(text: str) -> bool:
    """Tell whether a name could go on with the beginning of ``text``."""
    return text[:1].isalnum() or text[:1] in tuple(NAME_SIGNS)


@lru_cache(maxsize=_REMEMBERED)
def closing(text: str) -> str:
    """Return what ends free text: spelled out, and without the white space the text takes."""
    core = trimmed(text)
    if not core:
        return spelled(text)
    return sequence(spelled(core), GAP if text[-1] in WHITE_SPACE else "")


def space_rules() -> tuple[Rule, ...]:
    """Return the rules that `SPACE` and `GAP` refer to."""
    comment = "white space that may differ from the template's"
    return (Rule(GAP, r'"" | [ \t\n\r] gap', comment), Rule(SPACE, r"[ \t\n\r]{0,64}"))


def reachable(rules: Iterable[Rule], entries: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules that the entry rules lead to, in their order, the first of each name.

    Names for which no rule is given are passed over.
    """
    by_name: dict[str, Rule] = {}
    for rule in rules:
        by_name.setdefault(rule.name, rule)
    found: set[str] = set()
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting.extend(by_name[name].references())
    return tuple(rule for rule in by_name.values() if rule.name in found)


def escaped(text: str, own: Mapping[str, str] = _IN_LITERAL, before: str = "") -> str:
    r"""Return a text as a literal or a class has it, ``own`` being what these escape themselves.

    What doesn't print is an escape, as far as engines have one in common: llguidance takes zeros
    off an escape of more than two digits. A hexadecimal digit behind ``\x1B`` is one itself, as
    xgrammar takes as many as there are.
    """
    written: list[str] = []
    is_open = before[-4:-2] == r"\x"
    for char in text:
        # Whether it prints says a table, too, that no version of Python changes.
        prints = char == " " or ucd_3_2_0.category(char)[0] not in "CZ"
        hidden, code = not (prints and char.isprintable()), ord(char)
        if char in own:
            written.append(own[char])
        elif (hidden and code < 0x100) or (is_open and char in hexdigits):
            written.append(f"\\x{code:02X}")
        else:
            written.append(f"\\u{code:04X}" if hidden and 0x1000 <= code < 0x10000 else char)
        is_open = written[-1].startswith(r"\x")
    return "".join(written)
