"""TypeScript -> JavaScript: its types are left out, as far as the runtime uses them.

That is erasable syntax alone, laid out by a formatter: a comparison has blanks around its sign, and
type arguments have none before them.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"//[^\n]*|/\*[\s\S]*?\*/|\s+|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
    # A slash after a name or a bracket divides; else it begins an expression.
    r"|(?:(?<=return )|(?<![\w)\]] )(?<![\w)\]]))/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
    r"|[\w$#]+|=>|\.\.\.|\?\?=|\?\?|\?\.|[=!]==?|&&|\|\||[<>]=|\S",
    re.MULTILINE,
)
_MODIFIERS = ("private", "readonly", "override", "protected", "public")
_OPEN, _CLOSED = "([{<", ")]}>"
_ENDS_TYPE = (",", ")", "]", "}", "=", ";", "=>", "?", "&&", "||", "??", ":", "===", "!==")


def untyped(text: str) -> str:
    """Return a declaration without types; nothing if it is a type, or has no body."""
    if re.match(r"(?:/\*[\s\S]*?\*/\s*|//.*\n)*(?:export )?(?:interface|type) ", text):
        return ""
    found = _Eraser(_TOKEN.findall(text)).erased()
    # Further signatures are left out.
    found = re.sub(r"^(?:export )?function\*? \w+\([^{};]*\);\n", "", found, flags=re.MULTILINE)
    return re.sub(r"[ \t]+$", "", found, flags=re.MULTILINE)


class _Eraser:
    """Goes through tokens, and leaves types out."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.kept: list[str] = []
        self.at = 0
        self.scopes: list[str] = []  # of the braces that are open: "class" or ""
        self.lists: list[bool] = []  # of all brackets: whether they hold parameters, or names
        self.held_parameters = False  # whether those that closed last did

    def erased(self) -> str:
        """Return the text without types."""
        while self.at < len(self.tokens):
            self._step(self.tokens[self.at])
        return "".join(self.kept)

    def _step(self, token: str) -> None:
        begins_member = self.scopes[-1:] == ["class"] and self._last() in ("{", ";", "}")
        if begins_member and token in _MODIFIERS:
            self.at = self._next(self.at + 1)
            return
        if token == "<" and self._is_generic():
            self._skip_brackets()
            return
        if token == "?" and self._peek() == ":" and self.tokens[self.at + 1] == ":":
            self.at += 1
            return
        if token == ":" and self._begins_type():
            self._skip_type()
            return
        if token in ("as", "satisfies") and self.kept[-1:] and self.kept[-1].isspace():
            self.kept.pop()
            self._skip_type()
            return
        self._note(token)
        self.kept.append(token)
        self.at += 1

    def _note(self, token: str) -> None:
        """Note which brackets open and close."""
        if token == "{":
            words = [each for each in self.kept[-9:] if not each.isspace()]
            self.scopes.append("class" if "class" in words and self._last() != ")" else "")
            self.lists.append(False)
        elif token == "}":
            self.scopes.pop()
            self.held_parameters = self.lists.pop()
        elif token == "(":
            self.lists.append(self._are_parameters())
        elif token == "[":
            self.lists.append(self._last() in ("const", "let"))
        elif token in (")", "]"):
            self.held_parameters = self.lists.pop()

    def _are_parameters(self) -> bool:
        words = [each for each in self.kept[-6:] if not each.isspace()]
        is_method = self.scopes[-1:] == ["class"]
        if "function" in words[-3:] or is_method:
            return True
        end = self._next(self._end_of_brackets(self.at) + 1)
        if self.tokens[end : end + 1] == ["=>"]:
            return True
        if self.tokens[end : end + 1] != [":"]:
            return False
        return self.tokens[self._end_of_type(end + 1)] == "=>"

    def _begins_type(self) -> bool:
        """Tell whether a colon stands before a type."""
        if self.lists and self.lists[-1]:
            return True  # in parameters; what is taken apart has no colon in it
        if self._last() in (
            ")",
            "]",
        ):  # before what a function returns, or a list is taken apart to
            return self.held_parameters
        if self.scopes[-1:] == ["class"]:
            return True
        return self._last(2) in ("const", "let")

    def _is_generic(self) -> bool:
        before, after = self.tokens[self.at - 1], self._end_of_brackets(self.at) + 1
        return before.isidentifier() and self.tokens[after : after + 1] == ["("]

    def _skip_brackets(self) -> None:
        self.at = self._end_of_brackets(self.at) + 1

    def _skip_type(self) -> None:
        end = self._end_of_type(self.at + 1)
        if self.tokens[end - 1].isspace():
            end -= 1
        self.at = end

    def _end_of_type(self, at: int) -> int:
        """Return where the type ends that begins at a place."""
        at = self._next(at)
        is_first = True
        while at < len(self.tokens):
            token = self.tokens[at]
            if token == "=>" and not is_first and self._closes_parameters(at):
                at += 1
            elif token in _ENDS_TYPE or (token == "{" and not is_first):
                return at
            elif token in _OPEN:
                at = self._end_of_brackets(at) + 1
            else:
                at += 1
            is_first = token in ("|", "&", "=>") or (is_first and token.isspace())
        return at

    def _closes_parameters(self, at: int) -> bool:
        """Tell whether an arrow is that of a type: of a function that a field or parameter is."""
        before = self.tokens[at - 2 : at]
        return before[:1] == [")"] and self.tokens[self.at] != ")" and self._last() != ")"

    def _end_of_brackets(self, at: int) -> int:
        depth = 0
        for place in range(at, len(self.tokens)):
            depth += (self.tokens[place] in _OPEN) - (self.tokens[place] in _CLOSED)
            if depth == 0:
                return place
        return len(self.tokens) - 1

    def _next(self, at: int) -> int:
        """Return the place of the next token that is no white space."""
        while at < len(self.tokens) and self.tokens[at].isspace():
            at += 1
        return at

    def _peek(self) -> str:
        return self.tokens[self._next(self.at + 1)]

    def _last(self, number: int = 1) -> str:
        """Return one of the last tokens that were kept."""
        found = (
            token
            for token in reversed(self.kept)
            if not token.isspace() and not token.startswith(("//", "/*"))
        )
        last = ""
        for _ in range(number):
            last = next(found, "")
        return last
