"""Arguments that are one value: an object is passed on as it comes, any other is collected."""

from __future__ import annotations

from turnspec.engine.facts import HAS_OTHER_VALUES, VALUE_STYLE
from turnspec.engine.json_values import JsonValue
from turnspec.engine.other_values import OtherValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.turn import Turn


def new_value(turn: Turn) -> JsonValue:
    """Return what reads a value in the format's own notation."""
    if HAS_OTHER_VALUES:
        return OtherValue(turn.input, turn, VALUE_STYLE)
    return JsonValue(turn.input, turn)


class WholeArguments:
    """Arguments that are being read. If `collect`, they wait for the call's name."""

    def __init__(self, turn: Turn, collect: bool) -> None:
        self.value = new_value(turn)
        self.collected: list[str] | None = [] if collect else None
        self._turn = turn

    def take(self, text: str) -> None:
        """Take JSON text: pass it on if it belongs to an object, else collect it."""
        call = self._turn.call
        if not text:
            return
        if self.collected is None and call and (call.pieces or text[0] == "{"):
            self._turn.events += call.add(text)
        else:
            self.collected = self.collected or []
            self.collected.append(text)

    def read(self) -> bool:
        """Take what has come; return whether all of the value, or of the text, has come."""
        turn, value = self._turn, self.value
        self.take(value.read())
        if value.is_done or turn.input.final:
            return True
        call = turn.call
        if self.collected is None and value.is_in_string and call:
            turn.flow = call.flow_in_string
        return False

    def close(self) -> bool:
        """Close what is open; return whether nothing was."""
        text = self.value.close()
        self.take(text)
        return self.value.is_done and not text

    @property
    def rest(self) -> str:
        """What of the value, and after it, was not passed on."""
        return self.value.waiting + self._turn.input.rest

    @property
    def text(self) -> str:
        """What was collected."""
        return "".join(self.collected or ())
