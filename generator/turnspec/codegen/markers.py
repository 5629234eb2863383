"""Markers as rules have them: what they hold, and what stands in their slots.

A marker is written as text in which a blank stands for any white space or none, and a line end for
one line end or none. A slot in braces, as ``{name}``, stands for a text of the turn's own;
``{key but <>}`` has no such characters, ``{tag if any but a b}`` and ``{rest of tag but a b}`` none
of these names, and ``{nothing but a b}`` is one of these words. ``{?text}`` is text that may be
missing. ``{no x}`` says that no x follows and, at a marker's end, ``{before x}`` that one does.
``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from turnspec.spec.characters import NAME_SIGNS, NOT_IN_KEYS, NOT_IN_NAMES

#: A marker as it is written; or that and others, of which one has to follow it.
Notation: TypeAlias = "str | tuple[str, Sequence[Notation]]"
Roles: TypeAlias = Sequence[tuple[str, Notation]]

#: What ends a turn, in rules that the option `stop` adds to; "{stop 3}" has three characters.
STOP = "{stop}"
_BEFORE = re.compile(r"((?:[^{]|\{\{|\{(?!\{|before ))*)\{before (.*)\}", re.DOTALL)
TOKEN = re.compile(
    r"\{\{|\}\}|\{(?P<optional>\?)?(?P<slot>[^{}]+?)(?: but (?P<but>[^{}]+))?\}|[^{}]"
)
# Bounded, as a marker that is not whole yet is held back.
_WHITE_SPACE = {" ": "[ \t\n\r]{0,99}", "\n": r"(?:\r?\n|\r\Z)?"}
# What stands in a slot. BUT is what a slot can't hold for what stands around it.
SLOTS = {
    "name": f"[^{NOT_IN_NAMES}BUT]{{1,256}}",
    "key": f"[^{NOT_IN_KEYS}BUT]{{1,256}}",
    "type": f"[^{NOT_IN_KEYS}BUT]{{0,256}}",
    "id": f"[^{NOT_IN_NAMES}BUT]{{0,256}}",
    "index": "(?P<index>[0-9]{0,9})",
    "word": "[ \t\n\r]{0,99}[^ \t\n\r<>{}=()]{0,40}[ \t\n\r]{0,99}",
    "word in a line": r"(?P<word>[A-Za-z0-9_-]{1,40})[ \t\r]{0,9}(?:\n|\Z)",
    "words": r"(?P<word>(?:(?!TAGS)[^{}\n]){0,99})",
    "noise": r"[ \t\n\r]{0,9}\w[^<>\[\]{}|]{0,99}",
    "tag": r"[^ \t\n\r<>{}]{1,64}",
    "rest of tag": r"(?!(?:BUT)>)[^<>]{1,64}>?[^ \t\n\r<>]{0,9}",
    "attributes": "[^<>]{0,99}",
    "tag name": r"\w[\w:.-]{0,63}",
    "tag if any": r"(?:<(?!(?:BUT)>|\W)[\w:.-]{0,64}(?:>|\Z))?",
    "any": "[^ \t\n\r<>BUT]{0,256}",
    "name or noise": "(?P<name_again>[^ \t\n\r]{1,256})",
    "line": r"(?<=[\r\n])",
    "text": r"[^<\n]{1,99}",
    "line of text": r"(?:[^<\n]{99}|[^<\n]{1,98}(?:\n|\Z))",
    "gap": r"(?<=[ \t\r\n])",
    "blank": " ?",
    "is": r"(?P<sign>[ \t]{0,9}(?:name|key)?[ \t]{0,9}(?:[=:]|\Z)|[ \t]{1,9})",
    "indent": "[ \t]{0,99}",
    "comma": "[ \t\n\r,;]{0,99}",
    "string": r'(?:[^"\\]|\\[\s\S]|\\\Z){0,256}',
    # What models put before and behind JSON.
    "fence": "(?:`{1,3}[A-Za-z0-9_]{0,9})?",
    "fenced": r"(?:`{1,3}[A-Za-z0-9_]{0,9})?[ \t\n\r]{0,99}\[?",
    "brackets": "[ \t\n\r]{0,99}[,;}\\]`][ \t\n\r,;}\\]`]{0,99}",
    "line end": "[ \t\r]{0,9}\n",
    "end of text": r"\Z",
    "a member": r"(?=[ \t\n\r,;\"'}]|\Z)",
    "never": "(?!)",
}
_NAMES = ("name", "key")  # which may be quoted as attributes are
_TEXTS = ("key", "type", "id", "string")
_MAY_BE_MISSING = ("word", "comma", "fence", "fenced")


def parted(notation: Notation) -> tuple[str, Sequence[Notation]]:
    """Return a marker's text, and what has to follow it."""
    if not isinstance(notation, str):
        return notation
    found = _BEFORE.fullmatch(notation)
    return (found[1], (found[2],)) if found else (notation, ())


def steps(tokens: Sequence[re.Match[str]], at: int) -> list[str]:
    """Return the expressions for what stands in a slot, or for white space."""
    token, name = tokens[at], tokens[at]["slot"]
    if name is None:
        return [_WHITE_SPACE[token.group()]]
    if name.startswith("no "):
        return [f"(?!{re.escape(name[3:])})"]
    if name == "nothing":
        words = (token["but"] or "").split()
        begun = (rf"{word[:end]}\Z" for word in words for end in range(len(word)))
        return [f"(?:{'|'.join((*words, *begun))})"]
    slot = SLOTS[name]
    if name in ("tag if any", "rest of tag"):
        return [slot.replace("BUT", "|".join(map(re.escape, (token["but"] or "").split())))]
    before = "".join(other.group() for other in tokens[:at])
    is_attribute = _is_attribute(tokens, at)
    if "BUT" in slot:
        not_held = "".join(dict.fromkeys(_excluded(tokens, at)))
        if name in ("name", "id"):  # which hold no other signs
            not_held = "".join(sign for sign in NAME_SIGNS if sign in not_held)
        slot = slot.replace("BUT", re.escape(not_held))
        if name == "key" and "<" in not_held:  # where it may begin a tag
            slot = slot.replace("]{", "]|<(?=[ 0-9=]|\\Z)){").replace("[^", "(?:[^", 1)
    if name == "words":  # none of the marker's own tags
        own_tags = re.findall("<[^<>{} ]+>", "".join(token.group() for token in tokens))
        others = filter(None, (*own_tags, token["but"]))
        slot = slot.replace("TAGS", "|".join(map(re.escape, others)))
    is_followed_by_space = at + 1 < len(tokens) and tokens[at + 1].group() in _WHITE_SPACE
    if name in _TEXTS and name != "id" and is_followed_by_space:
        slot += r"(?:(?<![\t-\r ])|\Z)"  # that is the marker's own, if more follows
    if name in ("word", *_NAMES, *_TEXTS):
        again = "_again" if name != "word" and token.group() in before else ""
        slot = f"(?P<{name}{again}>{slot}){_before_word(tokens, at)}"
    # The quote behind it may stand twice, or apart.
    return ["[\"']?", slot, "[ \"']{0,3}"] if is_attribute else [slot]


def _before_word(tokens: Sequence[re.Match[str]], at: int) -> str:
    """Return an expression for the marker's own word behind a slot, which the slot would hold.

    Nothing may part them, and the word may have come in part.
    """
    after = "".join(token.group() for token in tokens[at + 1 :])
    word = re.split(r"\W", after.lstrip(" \n"), maxsplit=1)[0]
    begun = "".join(f"|{word[:end]}\\Z" for end in range(len(word)))
    return f"(?=[ \t\n\r]{{0,99}}(?:{word}{begun}))" if word else ""


def excluded(notation: str, slot: str) -> str:
    """Return the characters that the first of such slots in a marker can't hold."""
    tokens = list(TOKEN.finditer(notation))
    return _excluded(tokens, next(at for at, token in enumerate(tokens) if token["slot"] == slot))


def _excluded(tokens: Sequence[re.Match[str]], at: int) -> str:
    """Return the characters that a slot can't hold: those with which its surroundings begin."""
    but = tokens[at]["but"] or ""
    found = but + "{}" * ("[]" in but) + "\"'" * _is_attribute(tokens, at)
    if tokens[0]["slot"] == "comma":  # between values, which say themselves where they end
        found += "()[]{},;\"'"
    first = next(token for token in tokens if not _may_be_missing(token))
    if not first["slot"] and not re.match(r"[\w.:/-]", first.group()):
        found += first.group()[0]
    for token in tokens[at + 1 :]:
        if token["optional"]:
            found += token["slot"][0]
        elif token["slot"] and not _may_be_missing(token):
            return found
        elif not _may_be_missing(token):
            is_apart = tokens[at + 1].group() == " "
            is_name = tokens[at]["slot"] in ("name", "id")
            is_sign = is_apart and is_name and token.group()[0] in NAME_SIGNS
            is_sign = is_sign and not _is_attribute(tokens, at)  # which "/>" may follow at once
            if not is_sign and not re.match(r"\w", token.group()):
                return found + token.group()[0]
            # A word, or a sign, such as the slot itself may hold.
            return found + " " * is_apart
    return found


def _is_attribute(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Say whether a slot may stand in quotes, behind an equals sign."""
    before = "".join(token.group() for token in tokens[:at])
    return tokens[at]["slot"] in _NAMES and before.rstrip().endswith(("=", "{is}"))


def _may_be_missing(token: re.Match[str]) -> bool:
    return token.group() in _WHITE_SPACE or token["slot"] in _MAY_BE_MISSING


def literal_length(notation: Notation) -> int:
    """Return how many characters of a marker are always the same."""
    text, _ = parted(notation)
    parts: list[str] = re.findall(r"\{[^{}]+\}|[{}]?[^ \n]", text)  # slots, or signs
    return len([part for part in parts if len(part) < len("{x}") or part == STOP])


def at_least(fewest: int, ends: Iterable[str]) -> list[str]:
    """Return ends with so many characters that are always the same; a turn's, that have them."""
    named = {STOP: f"{{stop {fewest}}}" if fewest > 1 else STOP}
    return [named.get(end, end) for end in ends if end in named or literal_length(end) >= fewest]


def first_text(notation: Notation) -> str:
    """Return the text with which a marker begins, up to a slot or white space."""
    return next(iter(leading_text(notation).split()), "")


def spaced_attribute(text: str, behind: str = r"\Z") -> str:
    """Return a marker with a blank before the sign of an attribute, if some text stands behind."""
    return re.sub(rf"(<[^<>{{}} ]+ \w+)={behind}", r"\1 =", text)


def roles_of(role: str, texts: Iterable[Notation], before: str = "") -> Roles:
    """Return markers with a role, each with white space before it, or something else."""
    return [(role, spaced(text, before)) for text in texts if text]


def leading_text(notation: Notation) -> str:
    """Return the text with which a marker begins, up to a slot."""
    text, _ = parted(notation)
    first = re.match(r"(?:[^{}]|\{\{|\}\})*", text)
    return first.group().strip() if first else ""


def spaced(notation: Notation, before: str = " ") -> Notation:
    """Return a marker with white space before it, or something else."""
    if isinstance(notation, str):
        return before + notation
    text, follows = notation
    return (before + text, follows)
