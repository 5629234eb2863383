"""The words that the fields of a spec take."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """A part of a turn, and the two points that stand for its beginning and its end."""

    START = "start"
    REASONING = "reasoning"
    CONTENT = "content"
    CALLS = "calls"
    END = "end"


class ReasoningMode(StrEnum):
    """How reasoning is marked (the modes of llama.cpp's auto-parser)."""

    NONE = "NONE"
    TAG_BASED = "TAG_BASED"
    DELIMITER = "DELIMITER"
    FORCED_OPEN = "FORCED_OPEN"
    FORCED_CLOSED = "FORCED_CLOSED"
    TOOLS_ONLY = "TOOLS_ONLY"


class ContentMode(StrEnum):
    """How content is wrapped (the modes of llama.cpp's auto-parser)."""

    PLAIN = "PLAIN"
    ALWAYS_WRAPPED = "ALWAYS_WRAPPED"
    WRAPPED_WITH_REASONING = "WRAPPED_WITH_REASONING"


class ToolMode(StrEnum):
    """Where a call's name and its argument names stand: inside JSON, or in tags."""

    JSON_NATIVE = "JSON_NATIVE"
    TAG_WITH_JSON = "TAG_WITH_JSON"
    TAG_WITH_TAGGED = "TAG_WITH_TAGGED"


class CallIdPosition(StrEnum):
    """Where a call's id stands among its name and its arguments."""

    NONE = "NONE"
    PRE_FUNC_NAME = "PRE_FUNC_NAME"
    BETWEEN_FUNC_AND_ARGS = "BETWEEN_FUNC_AND_ARGS"
    POST_ARGS = "POST_ARGS"


class SlotKind(StrEnum):
    """What fills a slot.

    The first five belong to a call, the next three to a tagged argument; WORD is any word or none
    that means nothing, and only stands in what an overlay adds.
    """

    NAME = "NAME"
    ID = "ID"
    INDEX = "INDEX"
    COUNT = "COUNT"  # of a call's arguments
    ARGUMENTS = "ARGUMENTS"
    KEY = "KEY"
    TYPE = "TYPE"
    VALUE = "VALUE"
    WORD = "WORD"


class JsonType(StrEnum):
    """The JSON types an argument value can have; integers stand apart from other numbers."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    ARRAY = "array"
    OBJECT = "object"


class Encoding(StrEnum):
    """How a value is written."""

    RAW = "RAW"  # a string as it is, without quotes or escapes
    JSON = "JSON"
    PYTHON = "PYTHON"  # Python's repr: 'single quotes', True, None
    QUOTED = "QUOTED"  # like JSON, with the syntax's own string quote and no escapes
    ELEMENTS = "ELEMENTS"  # an array or object as an element for each of its values


class IndexScope(StrEnum):
    """Over what a running call index counts."""

    TURN = "turn"
    CONVERSATION = "conversation"


class Switch(StrEnum):
    """What a word in a message's text does to thinking."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class PrefixStep(StrEnum):
    """The step of a conversation at which its rendering begins otherwise than before."""

    TURN = "turn"
    RESULT = "result"
    ANSWER = "answer"
    USER = "user"
    NOTHING = "nothing"


class ReasoningScope(StrEnum):
    """For which assistant messages of a conversation the template still renders reasoning."""

    ALL = "all"
    SINCE_LAST_USER = "since_last_user"
    LAST = "last"
    NONE = "none"


class Verdict(StrEnum):
    """What becomes of something that doesn't come back faithfully."""

    DROPS = "drops"
    TRIMS = "trims"
    AMBIGUOUS = "ambiguous"
    MOVES = "moves"  # rendered as another part: content beside a call as reasoning
    OPEN = "open"  # comes back, but a call that it quotes is read as one by text alone
    TOLD = "told"  # comes back, but the prompt asks the model to write it otherwise


class Condition(StrEnum):
    """When a limit applies."""

    ALWAYS = "always"
    WITH_CALLS = "with_calls"
    WITHOUT_CALLS = "without_calls"
    WITH_CONTENT = "with_content"
    WITHOUT_CONTENT = "without_content"
    WITH_REASONING = "with_reasoning"
    WITHOUT_REASONING = "without_reasoning"
    WITH_ALL_PARTS = "with_all_parts"  # reasoning, content and calls


class Subject(StrEnum):
    """What a limit is about."""

    REASONING = "reasoning"
    CONTENT = "content"
    CALLS = "calls"
    FURTHER_CALLS = "further_calls"  # every call after the first
    CALL_ID = "call_id"
    ARGUMENT_STRING = "argument.string"
    ARGUMENT_INTEGER = "argument.integer"
    ARGUMENT_NUMBER = "argument.number"
    ARGUMENT_BOOLEAN = "argument.boolean"
    ARGUMENT_NULL = "argument.null"
    ARGUMENT_ARRAY = "argument.array"
    ARGUMENT_OBJECT = "argument.object"
    ARGUMENT_EMPTY = "argument.empty"  # an array or object with nothing in it
    ARGUMENT_KEY = "argument.key"  # some characters in the name of a tagged argument
    ARGUMENT_INNER_NULL = "argument.inner_null"  # a null inside an array or object


class TokenSource(StrEnum):
    """Where the text of a special token comes from."""

    GIVEN = "given"  # a model folder, a GGUF file or templates/index.yaml names it
    ASSUMED = "assumed"  # nobody names it; the usual text stands in
