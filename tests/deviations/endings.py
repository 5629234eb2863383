"""How a turn ends, and what may come after it."""

from __future__ import annotations

from collections.abc import Iterator

from generator.spec.message import Message
from tests.deviations.turns import SAID, Case, Format


def no_end(form: Format) -> Iterator[Case]:
    """The end of the turn is missing, as where an engine takes it away."""
    for message in (Message(SAID), form.message):
        yield form.case(form.without_end(message), message)


def stop_strings(form: Format) -> Iterator[Case]:
    """The turn ends with a stop string or with the end of the sequence."""
    eos = [token.text for name, token in form.spec.tokens.items() if name.startswith("eos")]
    stops = form.spec.turn.stop
    for end in (*stops, *eos, *(stop + token for stop in stops for token in eos)):
        yield form.case(form.without_end(Message(SAID)) + end, Message(SAID))


def text_after_end(form: Format) -> Iterator[Case]:
    """The model goes on after the end of the turn."""
    for message in (Message(SAID), form.message):
        text = form.write(message)
        if text.rstrip() != form.without_end(message).rstrip():
            yield form.case(f"{text}And more words.", message, "text_after_end")
