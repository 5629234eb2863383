"""What formats differ in as far as reading goes: a constant and a sentence for each fact.

The values here are those of a format of tags, so that the engine can be run and checked as it is.
`codegen.facts` derives them from a spec, and the compiler puts them in their place. Markers are
written in the notation of `markers`.
"""

from __future__ import annotations

from turnspec.reading.roles import Role, Rule

#: The format's name, the header that an assistant's turn begins with, and the prompts.
FORMAT: dict[str, str] = {"name": "", "header": "", "prompt": ""}
#: All texts of markers: a special token that is in none of them marks nothing.
TEXTS: tuple[str, ...] = ("<think>", "</think>", "<|end|>")
#: What ends a turn; `stop` adds to it. A rule names these by "{stop}".
TURN_ENDS: tuple[str, ...] = ("<|end|>",)

#: What stands in a slot, as an expression. Bounded, as a part of a marker is held back.
SLOTS: dict[str, str] = {
    " ": "[ \t\n\r]{0,99}",
    "\n": r"(?:\r?\n|\r\Z)?",
    "{word}": "([ \t\n\r]{0,99}[A-Za-z0-9_-]{0,40}[ \t\n\r]{0,99})",
}
#: What can come next in reasoning and content.
IN_TEXT: tuple[Rule, ...] = (
    Rule(Role.REASONING_START, "<think>"),
    Rule(Role.REASONING_END, "</think>"),
    Rule(Role.TURN_END, "{stop}"),
)
#: Words that stand before all content, and are text anywhere else.
BEFORE_CONTENT: tuple[Rule, ...] = ()
#: What is no content if the text ends in it.
LEFT_OUT_IF_LAST: tuple[Rule, ...] = (Rule(Role.TURN_START, "<|"),)
#: What may follow the end of a turn: its end once more.
AFTER_TURN: tuple[Rule, ...] = (Rule(Role.TURN_END, " {stop}"),)
#: The words in the format's own markers, where one of those may hold any word.
WORDS: frozenset[str] = frozenset()

#: Whether there is reasoning.
HAS_REASONING: bool = True
#: Whether a marker begins it, and whether one ends it.
REASONING_HAS_START: bool = True
REASONING_HAS_END: bool = True
#: What ends it, as it stands in content where reasoning stays there.
REASONING_END: str = "</think>"
#: Whether a turn begins inside of it, unless the prompt closes it.
STARTS_IN_REASONING: bool = False
#: Whether nothing but content has what closes it before it.
REASONING_MAY_STAY_OPEN: bool = False
#: Whether a turn may end in it.
REASONING_MAY_END_TURN: bool = False
#: Whether the turn's end ends it too: nothing else does, or may.
REASONING_ENDS_WITH_TURN: bool = False
#: Whether what ends it ends the turn as well, or the content.
REASONING_END_ENDS_TURN: bool = False
REASONING_END_ENDS_CONTENT: bool = False
#: Whether the format has it before all else.
REASONING_IS_FIRST: bool = True
