"""TypeScript -> JavaScript: its types and comments are left out, as far as the runtime uses them.

That is erasable syntax alone, laid out by a formatter: the colon of a type has no blank before it,
as that of a condition has, nor have type arguments; and types stand in parentheses, after them,
after a class's fields and what is declared.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"//[^\n]*|/\*[\s\S]*?\*/|\s+|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
    # A slash after a name or a bracket divides; else it begins an expression.
    r"|(?:(?<=return )|(?<![\w)\]] )(?<![\w)\]]))/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
    r"|[\w$#]+|=>|\.\.\.|\?\?=|\?\?|\?\.|[=!]==?|&&|\|\||[<>]=|\S"
)
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ENDS_TYPE = (*",)]}=;?:", "&&", "||", "??", "===", "!==")
_TYPE = re.compile(r"(?:/\*[\s\S]*?\*/\s*|//.*\n)*(?:export )?(?:interface|type) ")
_SIGNATURE = re.compile(r"^(?:export )?function\*? \w+\([^{};]*\);\n", re.MULTILINE)
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
#: What a class declares, and gives no value.
_FIELD = re.compile(r"^  \w+;\n", re.MULTILINE)
_MODIFIERS = re.compile(r"^  (?:(?:private|protected|public|readonly|override) )+", re.MULTILINE)


def untyped(text: str) -> str:
    """Return a declaration without types and comments; nothing if it is a type, or has no body."""
    if _TYPE.match(text):
        return ""
    tokens = _TOKEN.findall(_MODIFIERS.sub("  ", _COMMENT.sub("", text)))
    kept: list[str] = []
    opened = [""]  # brackets
    at = 0
    while at < len(tokens):
        token, before = tokens[at], "".join(kept[-12:])
        if token in ("as", "satisfies") and before.endswith(" "):
            at = _end_of_type(tokens, at + 1, _ENDS_TYPE)
            kept.pop()
        elif token == ":" and _begins_type(before, opened[-1]):
            is_result = before.endswith(")")
            at = _end_of_type(tokens, at + 1, (*_ENDS_TYPE, "=>") if is_result else _ENDS_TYPE)
        elif token == "<" and re.search(r"\w$|= $", before):
            at = _end_of_brackets(tokens, at) + 1
        else:
            if token in ("(", "[", "{"):
                opened.append("class" * bool(re.search(r"\bclass [^{}()]*$", before)) + token)
            elif token in (")", "]", "}"):
                opened.pop()
            if tokens[at : at + 2] != ["?", ":"] and not token.startswith("//"):
                kept.append(token)
            at += 1
    bare = re.sub(r"[ \t]+$", "", _SIGNATURE.sub("", "".join(kept)), flags=re.MULTILINE)
    return re.sub(r"(?<=\{\n)\n", "", _FIELD.sub("", bare))


def _begins_type(before: str, opened: str) -> bool:
    """Tell whether a colon stands before a type."""
    if re.search(r"\)$|\b(const|let) \w+$", before):
        return True
    return opened in ("(", "class{") and not before[-1:].isspace()


def _end_of_type(tokens: list[str], at: int, ends: tuple[str, ...]) -> int:
    """Return where the type ends that begins at a place."""
    is_first = True
    while at < len(tokens):
        token = tokens[at]
        if token in _BRACKETS and (token != "{" or is_first):
            at = _end_of_brackets(tokens, at)
        elif token in ends or token == "{":
            break
        at += 1
        is_first = token in ("|", "&", "=>") or (is_first and token.isspace())
    return at - tokens[at - 1].isspace()


def _end_of_brackets(tokens: list[str], at: int) -> int:
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in _BRACKETS) - (tokens[place] in _BRACKETS.values())
        if depth == 0:
            return place
    raise ValueError(f"{tokens[at]} isn't closed")
