"""How a format writes its calls: texts and slots, and the syntax of arguments and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from turnspec.spec.words import CallIdPosition, Encoding, IndexScope, JsonType, SlotKind, ToolMode


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
