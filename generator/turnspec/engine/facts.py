"""What formats differ in as far as reading goes: a constant and a sentence for each fact.

The values here are those of a format of tags, so that the engine can be run and checked as it is.
`codegen.facts` derives them from a spec, and the compiler puts them in their place. In a marker a
blank is any white space or none, a line break is one or none, `{x}` is a slot, and `{?x}` a text
that may be missing; `{{` and `}}` are braces.
"""

from __future__ import annotations

from turnspec.engine.roles import Role, Rule, ValueStyle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Whether each rule that fits is told to an observer: its table's name in `Rules`, the rule, where
#: what was found begins and ends, and where all was read before. Compiled parsers have none of it.
IS_TRACED: bool = False
OBSERVER: Callable[[str, Rule, int, int, int], object] = print

#: Whether the tokenizer's special tokens can be told from text that looks like one.
HAS_SPECIAL_TOKENS: bool = True

#: The format's name, the header that an assistant's turn begins with, and the prompts.
FORMAT: dict[str, str] = {"name": "", "header": "", "prompt": ""}
#: Whether a prompt adds more to a turn than its header.
PROMPTS_ADD_TEXT: bool = True
#: What ends a turn; `stop` adds to it. A rule names these by "{stop}".
TURN_ENDS: tuple[str, ...] = ("<|end|>",)

#: What stands in a slot, as an expression. Bounded, as a part of a marker is held back.
SLOTS: dict[str, list[str]] = {
    "{name}": ["(?P<name>[a-zA-Z0-9_]{1,256})"],
    "{key}": ["(?P<key>[^<>]{1,256})"],
}
HAS_SLOTS: bool = True
#: What can be the name of a tool, as an expression.
NAME: str = "(?P<name>[a-zA-Z0-9_.:/-]{1,256})"
#: Whether markers have texts that may be missing, and if such as begin reasoning or content have
#: them; whether some have to be followed by others.
HAS_OPTIONAL_TEXTS: bool = True
PARTS_HAVE_OPTIONAL_TEXTS: bool = True
HAS_FOLLOWERS: bool = True
#: Whether text may go on after a marker.
HAS_SEAMS: bool = True
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
WORDS: tuple[str, ...] = ()
#: Markers that the template never writes: text, where they stand in the middle of it.
UNWRITTEN: tuple[str, ...] = ()

#: Whether there is reasoning.
HAS_REASONING: bool = True
#: Whether a marker begins it, and whether one ends it.
REASONING_HAS_START: bool = True
REASONING_HAS_END: bool = True
#: What ends it, as it stands in content where reasoning stays there.
REASONING_END: str = "</think>"
#: The same without white space.
REASONING_END_SIGNS: str = "</think>"
#: Whether a turn begins inside of it, unless the prompt closes it.
STARTS_IN_REASONING: bool = False
#: Whether nothing but content has what closes it before it.
REASONING_MAY_STAY_OPEN: bool = False
#: Whether a turn may end in it.
REASONING_MAY_END_TURN: bool = False
#: Whether what ends it ends the turn as well, or the content.
REASONING_END_ENDS_TURN: bool = False
REASONING_END_ENDS_CONTENT: bool = False
#: Whether the format has it before all else.
REASONING_IS_FIRST: bool = True
#: Whether the same marker opens and closes it.
REASONING_ENDS_AS_IT_BEGINS: bool = False
#: What opens reasoning, or closes it, and may stand in any text, without white space.
REASONING_WORDS: tuple[str, ...] = ()

#: Whether there are calls: heads, which hold the name, and arguments after them.
HAS_CALLS: bool = True
#: Whether calls in open reasoning may be drafts, which what follows them decides.
HAS_DRAFTS: bool = True
#: Whether text may have to be read once more, as something else than it seemed to be.
MAY_READ_AGAIN: bool = True
#: What can stand after a call, and in a section of calls; in a call, and what ends a value.
AFTER_CALL: tuple[Rule, ...] = (Rule(Role.MARKER, " </call>"),)
BETWEEN_CALLS: tuple[Rule, ...] = (Rule(Role.CALL, "{comma}<call={name}>"),)
IN_ARGUMENTS: tuple[Rule, ...] = (Rule(Role.ARGUMENTS_END, "</call>"),)
IN_VALUE: tuple[Rule, ...] = (Rule(Role.VALUE_CLOSED, "</arg>", ("</call>",)),)
#: What may surround a value, and what ends one that is surrounded.
END_OF_GUARD: tuple[Rule, ...] = (Rule(Role.GUARD, " <![CDATA["),)
IN_GUARDED_VALUE: tuple[Rule, ...] = ()
#: What ends a call that is written in another syntax.
AT_CALL_END: tuple[Rule, ...] = (Rule(Role.END, "</call>"),)
#: The headers of messages that are for no tool, if messages say who they are for.
CONTENT_HEADERS: tuple[Rule, ...] = (Rule(Role.CONTENT_START, "to=user<|message|>"),)
ARE_CALLS_ADDRESSED: bool = True
#: The head, other ones, what opens calls, and what ends a call, first and later.
CALL_HEAD: str = "<call={name}>"
OTHER_HEADS: tuple[str, ...] = ()
OPENINGS: tuple[str, ...] = ("<calls>",)
FIRST_CALL_END: str = "</call>"
LATER_CALL_END: str = "</calls>"
#: What opens calls, for messages; whether each needs it, or a tool's name; if only in a section.
OPENING: str = "<calls>"
NEEDS_OPENING: bool = True
ONLY_IN_SECTION: bool = False
#: Whether a call begins with its name: where text begins, or a line.
CALLS_BEGIN_WITH_NAME: bool = False
#: A call without its tag, or with another: nothing but white space before it, of a known tool.
FIRST_CALL: tuple[Rule, ...] = ()
FIRST_CALL_IS_NAME: bool = False  # so that any word may begin one
#: Whether calls may stand in a section: alone, or where what opens them is a special token.
HAS_SECTIONS: bool = True
#: Whether what opens calls is text where none follows.
HAS_MENTIONS: bool = True
#: Whether content comes after calls.
CONTENT_IS_LAST: bool = False
#: Whether a call may stand in open reasoning, and be no draft.
CALLS_BEGIN_IN_REASONING: bool = True
#: Whether a head may hold the name twice, and whether an id can stand after it.
NAMES_ARE_REPEATED: bool = False
#: Whether a sign parts a tag's word from the name in it, for which another may stand, or none.
NAMES_HAVE_SIGNS: bool = False
#: Whether a head holds an id in the name's place, in which the name of a tool stands.
NAME_STANDS_IN_ID: bool = False
#: An id that is made of the call's name and number, which stand in it as {name} and {index}.
ID_AROUND_NAME: str = ""
#: How a tool's name, NAME, may have more around it where a name should be, as an expression.
AROUND_NAME: str = ""
#: Whether the format writes calls' ids, and if after the name.
HAS_IDS: bool = True
HAS_LATE_IDS: bool = False
#: Whether a mark ends an argument, and whether no element looks like an argument's beginning.
ARGUMENT_HAS_END: bool = True
ARGUMENT_SHOWS_ITSELF: bool = True
#: Whether that mark holds the key, so that another key's is text.
CLOSED_BY_KEY: bool = False
#: The angles of that mark, or its first and last sign: a misspelt one holds one of them.
ARGUMENT_SIGNS: str = "<>"
#: Types by the words for them beside keys, and characters by what stands for them.
TYPE_WORDS: dict[str, list[str]] = {}
ENTITIES: dict[str, str] = {}
#: Whether they stand in strings alone, and not in JSON.
ENTITIES_ARE_OF_STRINGS: bool = False
#: Whether a value that may be a string, and is no JSON, may be one of Python's literals.
HAS_PYTHON_LITERALS: bool = True
#: Whether calls in tags are another syntax, too.
READS_TAGS: bool = True
#: Whether calls are JSON objects, or else heads; and how the arguments of heads are written: as
#: one JSON value ("json"), as values in such a notation ("values"), or as text ("text").
CALLS_ARE_OBJECTS: bool = False
ARGUMENTS: str = "text"
MAY_LACK_ARGUMENTS: bool = False  # whether the format itself writes calls without them

#: Of calls that are objects: whether nothing announces them, whether they stand in an array, and
#: whether several may stand after one opening.
IS_BARE: bool = False
IS_IN_ARRAY: bool = False
#: Whether an object is told by its first member, as what ends a turn may begin so, too.
OBJECTS_NEED_MEMBERS: bool = True
ARE_LISTED: bool = False
#: Whether the one key is the name; else the keys of name, arguments and id, and those that mean
#: nothing, with what else these hold.
NAME_IS_KEY: bool = False
NAME_KEY: str = "name"
ARGUMENTS_KEY: str = "arguments"
#: How arguments begin, as an expression, where content may end as a call that none was read of.
ARGUMENTS_MARK: str = ""
ID_KEY: str = ""
ARGUMENTS_COME_FIRST: bool = False
OTHER_MEMBERS: tuple[str, ...] = ()
OTHER_MEMBER_VALUES: tuple[str, ...] = ()
#: What a call's object consists of.
IN_OBJECT: tuple[Rule, ...] = (Rule(Role.MEMBER, '{comma}"{string}" :'),)
#: What begins another call, after a string that is not closed.
AT_CALL_START: tuple[Rule, ...] = (Rule(Role.MARKER, "<calls>"),)

#: Of JSON: whether all arguments of a call stand in a string.
ARGUMENTS_IN_STRING: bool = False
#: Whether a comma parts calls; and the sign that parts those in no section, if one does.
COMMA_SEPARATES: bool = False
SEPARATOR: str = ""
#: Of heads with JSON: whether anything else may follow them, and if the name stands behind the
#: arguments; and what is read after these.
ARGUMENTS_MAY_BE_TEXT: bool = True
NAME_IS_LAST: bool = False
AFTER_ARGUMENTS: tuple[Rule, ...] = ()
ENDS_AS_JSON_BEGINS: bool = False  # whether what ends a call may be taken for its arguments
ENDS_AS_JSON_GOES_ON: bool = True  # or for more of them
#: Of values: whether something ends the call, and what ends a text without quotes.
CALL_HAS_END: bool = True
AFTER_BARE_TEXT: tuple[Rule, ...] = ()
#: Whether values are in a relative of JSON, some of its strings have no escapes, others those of
#: JSON, or all is Python's; how they are written; what begins a string without escapes,
#: and what ends it.
HAS_OTHER_VALUES: bool = False
HAS_RAW_STRINGS: bool = True
HAS_JSON_STRINGS: bool = True
HAS_PYTHON_VALUES: bool = True
VALUE_STYLE: ValueStyle = ValueStyle(
    raw_quote="", is_raw_inside=False, has_python_escapes=True, after_string=",)]}:<"
)
AT_RAW_START: tuple[Rule, ...] = ()
AT_RAW_END: tuple[Rule, ...] = ()

#: Of text: whether an argument begins with its key, and if that it is closed is always known.
ARGUMENTS_ARE_KEYED: bool = False
HAS_KNOWN_ENDS: bool = True
FIRST_ARGUMENT: tuple[Rule, ...] = ()
#: Whether arrays and objects are elements within elements; the key of an array's element, and
#: what stands between; whether closing tags hold the key, whether what closes a member closes an
#: argument as well, whether an opening tag cannot be text, and whether an argument begins as a
#: member does.
HAS_ELEMENTS: bool = False
ELEMENT_KEY: str = ""
ELEMENT_SEPARATOR: str = ""
ELEMENTS_ARE_KEYED: bool = False
MEMBERS_END_AS_ARGUMENTS: bool = False
ELEMENTS_ARE_DISTINCT: bool = False
HAS_ELEMENT_LEAD: bool = False
FIRST_ELEMENT: tuple[Rule, ...] = ()
IN_ELEMENTS: tuple[Rule, ...] = ()
AFTER_ELEMENT: tuple[Rule, ...] = ()

#: Whether calls may be code, that is an argument of a tool; what may stand in the code's place,
#: arguments as an object among it, and what ends it.
HAS_CODE: bool = False
CODE_MAY_BE_OBJECT: bool = True
CODE_TOOL: str = ""
CODE_ARGUMENT: str = ""
AT_CODE_START: tuple[Rule, ...] = ()
AT_CODE_END: tuple[Rule, ...] = ()
