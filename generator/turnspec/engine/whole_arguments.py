"""Arguments that are one value: an object is passed on as it comes, any other is collected."""

from __future__ import annotations

from turnspec.engine.facts import ARGUMENTS_IN_STRING, HAS_OTHER_VALUES, VALUE_STYLE
from turnspec.engine.input import Input
from turnspec.engine.json_texts import load_json
from turnspec.engine.json_values import JsonValue
from turnspec.engine.literals import join_halves
from turnspec.engine.other_values import OtherValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.turn import Turn


class WholeArguments:
    """Arguments that are being read. If `collect`, they wait for the call's name."""

    def __init__(self, turn: Turn, collect: bool) -> None:
        if HAS_OTHER_VALUES:
            self.value: JsonValue = OtherValue(turn.input, turn, VALUE_STYLE)
        else:
            self.value = JsonValue(turn.input, turn)
        self._turn = turn
        self._collects = collect  # or what has come is no object
        self.collected: list[str] = []

    def take(self, text: str) -> None:
        """Take JSON text: pass it on if it belongs to an object, else collect it."""
        call = self._turn.call
        if call and not self._collects and (call.pieces or text[:1] in ("", "{")):
            self._turn.events += call.add(text)
        else:
            self._collects = True
            self.collected.append(text)

    def read(self) -> bool:
        """Take what has come; return whether all of the value, or of the text, has come."""
        turn, call, value = self._turn, self._turn.call, self.value
        self.take(value.read())
        is_over = value.is_done or turn.input.final
        if call and value.open_quote and not (is_over or self._collects):
            turn.flow, call.quote = call.flow_in_string, value.open_quote
        return is_over

    def close(self) -> bool:
        """Close what is open; return whether nothing was."""
        text = self.value.close()
        self.take(text)
        is_begun = ARGUMENTS_IN_STRING and self._turn.call and self._turn.call.pieces
        if is_begun and not self._collects:
            self._turn.problem("string_arguments", "the arguments are in no string")
        return self.value.is_done and not text


def as_object(turn: Turn, text: str) -> str:
    """Return arguments as an object if a string holds it, and no text for null."""
    if text.startswith('"'):
        input = Input(0, turn.input.rules, load_json(text))
        input.final = True
        inner = JsonValue(input)
        held, missing = inner.read(), inner.close()
        if turn.call and (missing or input.rest.strip()):
            turn.call.complete = False
        held = join_halves(held + missing)
        if not ARGUMENTS_IN_STRING or held != join_halves(input.text).strip():
            turn.problem("string_arguments", f"the arguments are {text}")
        text = text if input.text.strip() and held[:1] != "{" else held or "{}"
    return "" if text == "null" else text
