"""Values that are a call's arguments as a whole, and what is made of those that are no object."""

from __future__ import annotations

from turnspec.engine.calls import Calls
from turnspec.engine.json_text import find_flaw, load_json, without_halves
from turnspec.engine.turn import Turn
from turnspec.engine.value import Value


class ArgumentsValue:
    """A value that is a call's arguments: an object is passed on as it comes, others collected."""

    def __init__(self, calls: Calls, value: Value) -> None:
        self.complete = True  # whether the value was closed when it ended
        self._calls = calls
        self._value = value
        self._collected: list[str] | None = None

    def begin(self, *, collect: bool = False) -> None:
        """Expect a value; it may have to be collected in any case."""
        self._value.begin()
        self._collected = [] if collect else None

    @property
    def collected(self) -> str | None:
        """The value, if it isn't passed on."""
        return None if self._collected is None else "".join(self._collected)

    @property
    def waiting(self) -> str:
        """What of the value waits for what follows it."""
        return self._value.waiting

    def read(self) -> bool:
        """Take what has come, and return whether the value has ended."""
        value, calls = self._value, self._calls
        if text := value.read():
            if self._collected is None and calls.turn.arguments:
                calls.argue(text)
            else:
                self._take(text)
        if not value.over and (not value.broken or calls.turn.final):
            if self._collected is None and value.string_stops:
                calls.let_flow(value.string_stops)
            return False
        self.close()
        return True

    def close(self) -> None:
        """End the value."""
        value = self._value
        self.complete = value.over or not (value.is_open or self._calls.turn.final)
        if text := value.close():
            self._take(text)

    def _take(self, text: str) -> None:
        if self._collected is None and (self._calls.turn.arguments or text[0] == "{"):
            self._calls.argue(text)
            return
        if self._collected is None:
            self._collected = []  # these arguments are no object
        self._collected.append(text)


def closed(text: str) -> str:
    """Return the JSON value in a text, closed where it breaks off."""
    turn = Turn(0)
    value = Value(turn)
    turn.text, turn.final = text, True
    return value.read() + value.close()


def as_object(text: str) -> str:
    """Return arguments that are written as a string, or as null, as the object that they mean."""
    try:
        value = load_json(text)
    except ValueError:
        return text
    if isinstance(value, str):
        text = without_halves(closed(value) if find_flaw(value) else value)
    return "{}" if value is None or not text.strip() else text


def deviation(arguments: str) -> tuple[str, str]:
    """Return the problem with arguments that are no object: its kind, and a sentence."""
    kinds = {'"': "string_arguments", "n": "no_arguments"}
    return kinds.get(arguments[:1], "not_an_object"), f"the arguments are {arguments}"
