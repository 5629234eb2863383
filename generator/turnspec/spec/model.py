"""The spec as data: what is known about one template's assistant turn, and nothing about results.

A turn is ``header``, the parts in ``order`` with what stands between them, and an end. Between a
part and its neighbour stands ``left.end + join + right.start``; before the first part
``header + join + right.start``; after the last ``left.end + end``. Every name here is a key of the
YAML file; `schema.json` beside this file is the manual for readers of that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from turnspec.spec.calls import Piece, Tools
from turnspec.spec.words import (
    Condition,
    ContentMode,
    Part,
    PrefixStep,
    ReasoningMode,
    ReasoningScope,
    Subject,
    Switch,
    TokenSource,
    Verdict,
)


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
