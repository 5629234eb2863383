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
# These lines part statements, or stand within one, of which then no half can be parsed.
_BETWEEN_BLOCKS = re.compile(r"\n\n\n(?=\S)")
# What a tree says twice, or what is only a way to write a string.
_REDUNDANT, _EMPTY_TEXT = ("ctx", "kind"), "Constant(value='')"


@lru_cache(maxsize=16)  # trees take long, and a copy mostly says what is known now
def text_hash(text: str) -> str:
    """Return the hash of a text's tokens and comments.

    Of Python that is its syntax tree. What has none is a grammar, or a script by its banner; or
    it was Python before somebody broke it, and then has another hash in any case.
    """
    try:
        said = _python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        is_script = text.startswith(SCRIPT_COMMENT)
        said = "\0".join(_tokens(_SCRIPT_TOKEN if is_script else _GRAMMAR_TOKEN, text))
        said = _FORMATTERS_OWN.sub("", said) if is_script else said
    return hash_of(said)


def hash_of(text: str) -> str:
    """Return the hash of a text as it stands."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _python(text: str) -> str:
    """Return what a source says, as all versions of Python have it."""
    try:
        blocks = [*map(_block, _BETWEEN_BLOCKS.split(text))]
    except SyntaxError:
        blocks = [_block(text)]
    statements = ",".join(told for told, _ in blocks if told)
    tree = f"Module({f'body=[{statements}]' if statements else ''})"
    return "\0".join((tree, *(comment for _, comments in blocks for comment in comments)))


@lru_cache(1024)  # most are those of other parsers, too
def _block(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what statements say, and comments."""
    told = ",".join(map(_told, ast.parse(text).body))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return told, tuple(it.string[1:].strip() for it in tokens if it.type == tokenize.COMMENT)


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
            return f"f[{','.join(told for told in map(_told, values) if told != _EMPTY_TEXT)}]"
        case ast.AST():
            fields = (
                f"{name}={_told(field)}"
                for name, field in ast.iter_fields(part)
                if name not in _REDUNDANT and field is not None and field != []
            )
            return f"{type(part).__name__}({','.join(fields)})"
    return ascii(part)


def _without_indent(docstring: str) -> str:
    """Return a docstring as it is at any depth; formatters strip its lines, too."""
    return "\n".join(map(str.rstrip, inspect.cleandoc(docstring).split("\n"))).strip()


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for token in pattern.findall(text):
        yield " ".join(token.split()) if token.startswith(_COMMENTS) else token
