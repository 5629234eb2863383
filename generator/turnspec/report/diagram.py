"""The state diagram of a format as SVG: states in a column, transitions in lanes beside it.

What leads on runs down on the right, what leads back runs up on the left, each in a lane where no
other is beside the same states; so no line hides a state or another line's number. The numbers are
explained in the list beside the diagram, as markers would fit on no line. All colours come from the
page's style sheet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count

from markupsafe import Markup

from turnspec.report.states import Machine

_WIDTH, _HEIGHT = 132, 36  # of a state, which grows with the transitions beside it
_PORT = 16  # from one transition's end to the next one's
_GAP = 30  # between states
_LANE = 26  # from one lane to the next
_MARGIN = 12
_BADGE = 10  # the radius of a number
_CORNER = 6
_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7)  # of a lane, for its number


class _Side(Enum):
    LEFT = -1
    RIGHT = 1


@dataclass(frozen=True, slots=True)
class _Edge:
    """A transition with its number and the rows of its states."""

    number: int
    source: int
    target: int

    @property
    def side(self) -> _Side:
        return _Side.LEFT if self.target < self.source else _Side.RIGHT

    @property
    def span(self) -> int:
        return abs(self.target - self.source)

    def other(self, row: int) -> int:
        return self.target if row == self.source else self.source


@dataclass(frozen=True, slots=True)
class _Box:
    """A state's place: its upper edge and its height."""

    name: str
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class _Line:
    """An edge's place: where it leaves one state and meets another, and in which lane it runs."""

    edge: _Edge
    start: float
    end: float
    lane: int


def draw(machine: Machine, name: str) -> Markup:
    """Return the diagram of a machine; ``name`` tells its ids from those of other diagrams."""
    rows = {state.name: row for row, state in enumerate(machine.states)}
    edges = [
        _Edge(number, rows[transition.source], rows[transition.target])
        for number, transition in enumerate(machine.transitions, 1)
    ]
    boxes = _boxes(machine, edges)
    lines = [line for side in _Side for line in _lines(side, edges, boxes)]
    left, right = (_room(side, lines) for side in _Side)
    size = {
        "width": round(left + _WIDTH + right),
        "height": round(boxes[-1].top + boxes[-1].height + _MARGIN),
    }
    title = f"States of the format: {', '.join(rows)}"
    parts = [
        _FRAME.format(title=title, name=name, **size),
        *(_arrow(line, left, name) for line in lines),
        *(_box(box, left, first=not row) for row, box in enumerate(boxes)),
        *(_badge(line, left, _height(line, lines)) for line in lines),
        Markup("</svg>"),
    ]
    return Markup("").join(parts)


def _boxes(machine: Machine, edges: Sequence[_Edge]) -> list[_Box]:
    """Return the states' places, each as high as the busier of its sides needs."""
    boxes: list[_Box] = []
    top = float(_MARGIN)
    for row, state in enumerate(machine.states):
        busiest = max(len(_ports(side, row, edges)) for side in _Side)
        height = max(_HEIGHT, busiest * _PORT + _PORT / 2)
        boxes.append(_Box(state.name, top, height))
        top += height + _GAP
    return boxes


def _ports(side: _Side, row: int, edges: Sequence[_Edge]) -> list[tuple[_Edge, bool]]:
    """Return the ends of edges at a side of a state from above, each with whether it leaves there.

    Long edges run outside of short ones. In this order none has to cross another beside the state.
    """
    beside = [edge for edge in edges if edge.side is side]
    above = [edge for edge in beside if row in (edge.source, edge.target) and edge.other(row) < row]
    below = [edge for edge in beside if row in (edge.source, edge.target) and edge.other(row) > row]
    ends = [(edge, edge.source == row) for edge in sorted(above, key=lambda edge: edge.span)]
    for edge in beside:
        if edge.source == edge.target == row:
            ends += [(edge, True), (edge, False)]
    return ends + [(edge, edge.source == row) for edge in sorted(below, key=lambda e: -e.span)]


def _lines(side: _Side, edges: Sequence[_Edge], boxes: Sequence[_Box]) -> Iterator[_Line]:
    """Place the edges of a side, short ones first, each in the first lane where it has room."""
    heights: dict[tuple[int, bool], float] = {}
    for row, box in enumerate(boxes):
        ports = _ports(side, row, edges)
        first = box.top + (box.height - (len(ports) - 1) * _PORT) / 2
        for position, (edge, leaves) in enumerate(ports):
            heights[edge.number, leaves] = first + position * _PORT
    taken: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    beside = [edge for edge in edges if edge.side is side]
    for edge in sorted(beside, key=lambda edge: (edge.span, edge.source)):
        start, end = heights[edge.number, True], heights[edge.number, False]
        reach = min(start, end) - _BADGE, max(start, end) + _BADGE
        lane = next(number for number in count() if not _overlaps(reach, taken[number]))
        taken[lane].append(reach)
        yield _Line(edge, start, end, lane)


def _overlaps(reach: tuple[float, float], held: Sequence[tuple[float, float]]) -> bool:
    return any(reach[0] < end and start < reach[1] for start, end in held)


def _room(side: _Side, lines: Sequence[_Line]) -> int:
    """Return how much room the lanes of a side take."""
    lanes = [line.lane for line in lines if line.edge.side is side]
    return _MARGIN + (max(lanes) + 1) * _LANE + _BADGE if lanes else _MARGIN


_FRAME = Markup(
    '<svg class="states" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'role="img" aria-label="{title}"><defs><marker id="head-{name}" viewBox="0 0 10 10" refX="9" '
    'refY="5" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="head" d="M0 0 10 5 0 10z"/></marker></defs>'
)
_ARROW = Markup('<path class="line" d="{path}" marker-end="url(#head-{name})"/>')
_BOX = Markup(
    '<rect class="{kind}" x="{x}" y="{top:.0f}" width="{width}" height="{height:.0f}" rx="8"/>'
    '<text class="name" x="{middle}" y="{y:.0f}">{name}</text>'
)
_NUMBER = Markup(
    '<circle class="badge" cx="{x}" cy="{y:.0f}" r="{radius}"/>'
    '<text class="number" x="{x}" y="{y:.0f}">{number}</text>'
)


def _lane_x(line: _Line, left: int) -> int:
    """Return where a line's lane is; ``left`` is where the states' left edge is."""
    out = (line.lane + 1) * _LANE
    return left - out if line.edge.side is _Side.LEFT else left + _WIDTH + out


def _arrow(line: _Line, left: int, name: str) -> Markup:
    sign = line.edge.side.value
    edge = left if line.edge.side is _Side.LEFT else left + _WIDTH
    lane = _lane_x(line, left)
    turn = _CORNER if line.end > line.start else -_CORNER
    start, end, inner = round(line.start), round(line.end), lane - sign * _CORNER
    path = (
        f"M{edge} {start}H{inner}Q{lane} {start} {lane} {start + turn}"
        f"V{end - turn}Q{lane} {end} {inner} {end}H{edge}"
    )
    return _ARROW.format(path=path, name=name)


def _box(box: _Box, left: int, *, first: bool) -> Markup:
    return _BOX.format(
        kind="first state" if first else "state",
        x=left,
        top=box.top,
        width=_WIDTH,
        height=box.height,
        middle=left + _WIDTH // 2,
        y=box.top + box.height / 2,
        name=box.name,
    )


def _height(line: _Line, lines: Sequence[_Line]) -> float:
    """Return where in its lane a line's number stands: where no line to an outer lane passes."""
    passing = [
        height
        for other in lines
        if other.edge.side is line.edge.side and other.lane > line.lane
        for height in (other.start, other.end)
    ]
    places = [line.start + (line.end - line.start) * share for share in _SHARES]
    free = (place for place in places if all(abs(place - height) > _BADGE for height in passing))
    return next(free, places[0])


def _badge(line: _Line, left: int, height: float) -> Markup:
    x = _lane_x(line, left)
    return _NUMBER.format(x=x, y=height, radius=_BADGE, number=line.edge.number)
