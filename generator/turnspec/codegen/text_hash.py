"""A hash of what a generated text says: in another layout it is the same one."""

from __future__ import annotations

import ast
import hashlib
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from functools import lru_cache

#: The sign of comments in scripts, with which their banners begin.
SCRIPT_COMMENT = "//"
# First what may hold white space of its own: comments, strings, classes of characters.
_GRAMMAR_TOKEN = re.compile(r'#.*|"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\]|[\w-]+|\S')
# A slash before anything but white space begins an expression: divisions have a blank there.
_SCRIPT_TOKEN = re.compile(
    r"""//.*|/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`"""
    r"""|/(?:[^/\\\s]|\\.)(?:[^/\\\n]|\\.)*/|[\w$]+|\+\+|--|\S"""
)
# Commas before what closes, and what begins the alternatives of a type on lines of their own.
_FORMATTERS_OWN = re.compile("\0,(?=\0[)\\]}])|(?<=\0=)\0[|](?=\0)")
_COMMENTS = ("#", "//", "/*")
# What a tree says twice, or what is only a way to write a string.
_REDUNDANT = ("ctx", "kind")


@lru_cache(maxsize=16)  # trees take long, and a copy mostly says what is known now
def text_hash(text: str) -> str:
    """Return the hash of a text's tokens and comments.

    Of Python that is its syntax tree. What has none is a grammar, or a script by its banner; or
    it was Python before somebody broke it, and then has another hash in any case.
    """
    try:
        said = _python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        said = _script(text) if text.startswith(SCRIPT_COMMENT) else _grammar(text)
    return hash_of(said)


def hash_of(text: str) -> str:
    """Return the hash of a text as it stands."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _python(text: str) -> str:
    """Return what a source says, as all versions of Python have it."""
    tree = ast.parse(text)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token.string[1:].strip() for token in tokens if token.type == tokenize.COMMENT)
    return "\0".join((_told(tree), *comments))


def _told(part: object) -> str:
    """Return a part of a syntax tree as text, without what formatters and versions differ in."""
    match part:
        case list():
            return f"[{','.join(map(_told, part))}]"
        case ast.Expr(value=ast.Constant(value=str(docstring))):
            return ascii(_without_indent(docstring))
        case ast.Delete(targets=[ast.Tuple(elts=targets)]):  # in brackets, if the line is long
            return _told(ast.Delete(targets))
        case ast.JoinedStr(values=values):  # Python 3.12 has empty texts in some
            return f"f[{','.join(_told(value) for value in values if not _is_empty(value))}]"
        case ast.AST():
            fields = (
                f"{name}={_told(field)}"
                for name, field in ast.iter_fields(part)
                if name not in _REDUNDANT and field is not None and field != []
            )
            return f"{type(part).__name__}({','.join(fields)})"
    return ascii(part)


def _is_empty(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value == ""


def _without_indent(docstring: str) -> str:
    """Return a docstring as it is at any depth; formatters strip its lines, too."""
    return "\n".join(map(str.rstrip, inspect.cleandoc(docstring).split("\n"))).strip()


def _grammar(text: str) -> str:
    return "\0".join(_tokens(_GRAMMAR_TOKEN, text))


def _script(text: str) -> str:
    return _FORMATTERS_OWN.sub("", "\0".join(_tokens(_SCRIPT_TOKEN, text)))


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for token in pattern.findall(text):
        yield " ".join(token.split()) if token.startswith(_COMMENTS) else token
