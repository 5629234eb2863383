"""The spec as data: what is known about one template's assistant turn, and nothing about results.

A turn is ``header``, the parts in ``order`` with what stands between them, and an end. Between a
part and its neighbour stands ``left.end + join + right.start``; before the first part
``header + join + right.start``; after the last ``left.end + end``. Every name here is a key of the
YAML file; `schema.json` beside this file is the manual for readers of that file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that a template writes itself; it is no slot, so it has no kind."""

    text: str

    @property
    def kind(self) -> None:
        """What fills it: nothing."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that a message's own text fills; the template writes no text there."""

    kind: SlotKind

    @property
    def text(self) -> str:
        """What the template writes there itself: nothing."""
        return ""


Piece = Literal | Slot


def filled(pieces: Iterable[Piece], fills: Mapping[SlotKind, str]) -> str:
    """Return pieces as a text, with what fills each of their slots."""
    return "".join(fills[piece.kind] if piece.kind else piece.text for piece in pieces)


@dataclass(frozen=True, slots=True)
class TemplateIdentity:
    """Which template the spec describes: its file name, sha256, and where it is from."""

    file: str
    sha256: str
    origin: str


@dataclass(frozen=True, slots=True)
class Token:
    """The text of a special token that the template refers to by name."""

    text: str
    source: TokenSource


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Special tokens that a tokenizer knows and the template never writes.

    ``origin`` is the list that names them; ``end_tokens`` end a turn, and are none of the others.
    """

    origin: str
    special_tokens: tuple[str, ...] = ()
    end_tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the template accepts, and keeps of what it rendered before, found by rendering."""

    system_role: bool
    tools: bool
    tool_calls: bool
    parallel_calls: bool
    tool_results: bool
    object_arguments: bool
    string_arguments: bool
    null_content: bool
    content_beside_calls: bool
    call_id_required: bool
    roles_alternate: bool
    prefix_broken_by: PrefixStep | None = None


@dataclass(frozen=True, slots=True)
class SwitchWord:
    """A word that switches thinking where the text of a message holds it.

    ``roles`` are those whose messages the template looks into, ``prompt`` is the generation prompt
    that it then gives.
    """

    word: str
    switches: Switch
    roles: tuple[str, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class ThinkingState:
    """The generation prompt in a state of thinking, and the template's variables that give it.

    A prompt runs from the assistant header to the end of what ``add_generation_prompt`` adds.
    ``before`` is the last line of what it says before that header, where turns say nothing.
    """

    prompt: str
    variables: Mapping[str, object] = field(default_factory=dict)
    before: str = ""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The states of thinking: what the template does by itself, and what it can be told.

    ``default`` has no variables. Where nothing enables or disables thinking, that state is the
    default. ``words`` are what a message's text can say; a prompt that no variable gives is that
    of a word. ``others`` are what else variables give: levels, budgets, kinds of thinking.
    """

    default: ThinkingState
    enabled: ThinkingState
    disabled: ThinkingState
    words: tuple[SwitchWord, ...] = ()
    others: tuple[ThinkingState, ...] = ()

    def state(self, enable: bool | None) -> ThinkingState:
        """Return the state that is asked for; None asks for the template's own default."""
        if enable is None:
            return self.default
        return self.enabled if enable else self.disabled

    def expects(self, enable: bool | None) -> bool:
        """Say whether the model is to think: as is asked for, or else as the template does."""
        if enable is None:
            prompts = (self.enabled.prompt, self.default.prompt)
            return self.disabled.prompt not in prompts or prompts[0] == self.disabled.prompt
        return enable

    @property
    def choices(self) -> tuple[bool | None, ...]:
        """What can be asked for, each with a prompt of its own; the default comes first."""
        found: dict[str, bool | None] = {}
        for enable in (None, True, False):
            found.setdefault(self.state(enable).prompt, enable)
        return tuple(found.values())

    @property
    def prompts(self) -> tuple[str, ...]:
        """The generation prompts of all states, each once."""
        return tuple(self.state(enable).prompt for enable in self.choices)


@dataclass(frozen=True, slots=True)
class Join:
    """What stands between two neighbours beyond the end of the one and the start of the other.

    Where it depends on another part of the turn, there is a second one that says ``when``.
    """

    left: Part  # START or a part
    right: Part  # a part
    text: str
    when: Condition = Condition.ALWAYS


@dataclass(frozen=True, slots=True)
class End:
    """How a turn ends after a given last part (beyond that part's own end).

    ``final`` at the end of a conversation, ``followed`` when another message follows. A turn
    without content or calls has no entry where it ends as one with empty content does.
    """

    last: Part  # START (an empty turn) or a part
    final: str
    followed: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The frame of a turn: its header, the order of its parts, joins, ends and stop strings.

    ``calls_decide_end``: a turn with calls ends as after calls, even if content follows them.
    """

    header: str
    order: tuple[Part, ...]
    joins: tuple[Join, ...] = field(default=(), kw_only=True)
    ends: tuple[End, ...]
    stop: tuple[str, ...]
    calls_decide_end: bool = False


@dataclass(frozen=True, slots=True)
class ContentBlocks:
    """The form of a message's content in which a template takes reasoning: a list of blocks.

    A block says under ``type_key`` what it is, ``reasoning_type`` or ``content_type``. The text of
    reasoning stands under the key that `Reasoning.field` names, that of content under
    ``content_key``. With a ``container``, the list stands under that key of the content.
    """

    type_key: str
    reasoning_type: str
    content_type: str
    content_key: str
    container: str = ""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How reasoning is marked.

    ``field`` is the key the template reads it from: of the message or, with ``blocks``, of a block
    of its content. ``call_field`` is the key of a message with calls, where that is another one.
    """

    mode: ReasoningMode
    start: str
    end: str
    field: str | None
    scope: ReasoningScope
    blocks: ContentBlocks | None = None
    call_field: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """How content is marked."""

    mode: ContentMode
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class ValueSyntax:
    """How structured values are written: JSON with its style, or a relative of JSON.

    ``indent`` counts spaces (None: one line) and ``margin`` those before every line but the first,
    as in an object that stands inside another. ``sort_ignores_case`` is about ``sorted_keys``.
    ``quote``, ``bare_keys`` and ``null`` matter for
    QUOTED only, or ``quote`` for PYTHON with ``one_quote``: there every string stands in the same
    quotes, which are escaped in it, where Python itself would choose the others for some. QUOTED
    with ``one_quote`` has JSON's strings, with their escapes.
    ``python_words`` is about JSON: whether it has True, False and None for its constants.
    ``in_string`` is about JSON that is all arguments of a call: whether it stands in a JSON string.
    """

    encoding: Encoding = Encoding.JSON
    item_separator: str = ", "
    key_separator: str = ": "
    indent: int | None = None
    margin: int = 0
    ascii_only: bool = False
    sorted_keys: bool = False
    quote: str = '"'
    bare_keys: bool = False
    null: str = "null"
    one_quote: bool = False
    python_words: bool = False
    sort_ignores_case: bool = False
    in_string: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """What surrounds a RAW string that holds one of ``characters``, such as a CDATA section.

    Without ``characters`` it surrounds every such string.
    """

    start: str
    end: str
    characters: str = ""


@dataclass(frozen=True, slots=True)
class Elements:
    """How ELEMENTS are written: an object's member, an array's element, and what joins two.

    What stands in their VALUE slots is written as ``values`` says, so that they nest. An empty
    array or object is empty text. Without a way to write null, a member that is null is left out
    and such an element is empty.
    """

    member: tuple[Piece, ...]
    element: tuple[Piece, ...]
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """How a call's arguments are written.

    With ``item`` empty the arguments are one encoded object in ``syntax``. Otherwise they are
    ``start``, an ``item`` for each argument, joined by ``separator``, and ``end``; ``values`` says
    how a value of each type is written, ``types`` which word a TYPE slot holds for it,
    ``elements`` what those written as ELEMENTS look like, ``empty`` what stands for no
    arguments at all, ``escapes`` what stands in a key for characters, as entities do, and
    ``value_escapes`` what does in a value's text, or (``escapes_only_strings``) in raw text alone.
    """

    syntax: ValueSyntax = ValueSyntax()
    item: tuple[Piece, ...] = ()
    start: str = ""
    separator: str = ""
    end: str = ""
    empty: str = "{}"
    values: Mapping[JsonType, Encoding] = field(default_factory=dict)
    types: Mapping[JsonType, str] = field(default_factory=dict)
    guard: Guard | None = None
    elements: Elements | None = None
    escapes: Mapping[str, str] = field(default_factory=dict)
    value_escapes: Mapping[str, str] = field(default_factory=dict)
    escapes_only_strings: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """JSON_NATIVE only: the keys that lead to the name, arguments and id inside a call object.

    ``name_is_key``: the call object has one key, which is the name, and its value the arguments.
    """

    name: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    name_is_key: bool = False


@dataclass(frozen=True, slots=True)
class AfterFirst:
    """What follows a turn's first call, where it isn't what follows the later ones.

    ``separator`` stands before a second call. Where there is none, ``section_end`` and ``end``
    stand in place of the tools' section end and of the turn's end after calls.
    """

    separator: str
    section_end: str
    end: str


@dataclass(frozen=True, slots=True)
class Tools:
    """How tool calls are written.

    That is ``section_start``, calls joined by ``separator``, and ``section_end``. ``id_parts`` are
    those of a call that are its id, where that holds the name. ``empty_call`` is a call without
    arguments, where it lacks what others have around theirs.
    """

    mode: ToolMode
    section_start: str
    call: tuple[Piece, ...]
    separator: str
    section_end: str
    arguments: Arguments
    fields: Fields = Fields()
    call_id: CallIdPosition = CallIdPosition.NONE
    id_parts: tuple[Piece, ...] = ()
    index_base: int | None = None
    index_scope: IndexScope | None = None
    after_first: AfterFirst | None = None
    empty_call: tuple[Piece, ...] = ()

    @property
    def separators(self) -> tuple[str, ...]:
        """All that may stand between two calls."""
        first = (self.after_first.separator,) if self.after_first else ()
        return tuple(dict.fromkeys((self.separator, *first)))

    @property
    def begin_with_name(self) -> bool:
        """Whether nothing but white space stands before a call's name."""
        first = [piece for piece in self.call if piece.kind or piece.text.strip()]
        return not self.section_start.strip() and first[:1] == [Slot(SlotKind.NAME)]

    @property
    def section_ends(self) -> tuple[str, ...]:
        """All that may stand behind the last call, before what ends the turn."""
        first = (self.after_first.section_end,) if self.after_first else ()
        return tuple(dict.fromkeys((self.section_end, *first)))


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that doesn't come back faithfully, and when.

    With ``characters`` only these are concerned, in texts that hold them.
    """

    subject: Subject
    verdict: Verdict
    when: Condition
    reason: str
    characters: str = ""


@dataclass(frozen=True, slots=True)
class OtherMarks:
    """Other marks around reasoning or content; ``end`` may be empty."""

    part: Part
    start: tuple[Piece, ...]
    end: str = ""

    @property
    def fixed_start(self) -> str:
        """What opens it, as a text; "" where that has a slot."""
        has_slot = any(piece.kind for piece in self.start)
        return "" if has_slot else "".join(piece.text for piece in self.start)


@dataclass(frozen=True, slots=True)
class CodeCall:
    """A call that is code: all from ``start`` to the turn's end is one argument of a tool.

    With ``method``, code that is ``NAME.method(key=value, …)`` is a call of NAME instead, with
    Python's keyword arguments.
    """

    start: str
    name: str
    argument: str
    method: str = ""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What a model writes beside its template's own way; a parser reads it, the writer doesn't.

    ``calls`` are other beginnings of a call, whose arguments are written as in ``tools``.
    """

    calls: tuple[tuple[Piece, ...], ...] = ()
    code: CodeCall | None = None
    marks: tuple[OtherMarks, ...] = ()
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """What an engine needs to use the grammar lazily and to keep markers whole."""

    triggers: tuple[str, ...]
    preserved_tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """All that is known about one template's assistant turn.

    ``overlay`` names the keys that no rendering shows: they come from an overlay. ``tokenizer`` is
    no fact of the template: what a tokenizer's lists add for the parser.
    """

    name: str
    template: TemplateIdentity
    tokens: Mapping[str, Token] = field(default_factory=dict, kw_only=True)
    capabilities: Capabilities
    thinking: Thinking
    turn: Turn
    reasoning: Reasoning
    content: Content
    tools: Tools | None
    limits: tuple[Limit, ...] = field(default=(), kw_only=True)
    grammar: Grammar
    alternatives: Alternatives = Alternatives()
    overlay: tuple[str, ...] = ()
    tokenizer: Tokenizer | None = None

    @property
    def of_template(self) -> Spec:
        """What is known of the template alone."""
        return replace(self, tokenizer=None) if self.tokenizer else self

    @property
    def unprompted_header(self) -> str:
        """The header where no prompt holds it, so that the model may write it; else nothing."""
        return "" if any(self.thinking.prompts) else self.turn.header

    @property
    def names_by_id(self) -> bool:
        """Whether a call shows its id alone, in which the tool's name stands."""
        return any(limit.subject is Subject.CALL_ID for limit in self.limits)

    @property
    def named_lines(self) -> bool:
        """Whether nothing tells of a call but its name, where a part begins, or a line."""
        joins = self.join(Part.START, Part.CALLS) + self.join(Part.CONTENT, Part.CALLS)
        is_bare = self.tools is not None and self.tools.begin_with_name
        return is_bare and not (self.content.start + joins).strip()

    def join(self, left: Part, right: Part) -> str:
        """Return what usually stands between two neighbours beyond their own end and start."""
        joins = self.joins(left, right)
        return next((join.text for join in joins if join.when is Condition.ALWAYS), "")

    def joins(self, left: Part, right: Part) -> tuple[Join, ...]:
        """Return all that may stand between two neighbours."""
        return tuple(join for join in self.turn.joins if (join.left, join.right) == (left, right))

    def end(self, last: Part) -> End | None:
        """Return how a turn ends after ``last``; None where nothing special is known of it."""
        return next((end for end in self.turn.ends if end.last is last), None)

    def final(self, last: Part) -> str:
        """Return how a conversation ends after ``last``, "" where nothing special is known."""
        end = self.end(last)
        return end.final if end else ""
