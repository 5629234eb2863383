"""What the models are asked, and how they should answer: seeded, short and varied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import may_repeat_calls, stop_strings
from turnspec.verification.turns import written_input

#: The formats that are learnt, one of each kind.
FORMATS = (
    "nousresearch-hermes-3-llama-3-1-8b-tool-use",
    "qwen-qwen3-0-6b",
    "qwen3-coder",
    "glm-4-6",
    "openai-gpt-oss-120b",
    "deepseek-ai-deepseek-v3-1",
)

_CITIES = ("Paris", "Rome", "Oslo", "Lima", "Cairo", "New York", "Bern", "Quito", "Hanoi", "Turin")
_TOPICS = ("cheap flights", "old maps", "bread", "jazz", "tall trees", 'red "pandas"', "R & D")
_PEOPLE = ("Ada", "Alan", "Grace", "Linus", "Edsger", "Barbara")


def _tool(name: str, **kinds: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = (
    _tool("get_weather", city="string", days="integer"),
    _tool("search", query="string", limit="integer", exact="boolean"),
    _tool("set_alarm", time="string", volume="number"),
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, and the message that answers it."""

    question: str
    answer: Message


def exchanges(spec: Spec, count: int, seed: int) -> list[Exchange]:
    """Return random exchanges whose answers the format can hold."""
    random = Random(seed)
    kinds: list[Callable[[Random], Exchange]] = [_weather, _search, _alarm, _greeting]
    if may_repeat_calls(spec):
        kinds += [_two_cities, _two_errands]
    return [random.choice(kinds)(random) for _ in range(count)]


def prompt_of(spec: Spec, exchange: Exchange) -> str:
    """Return what the model gets to read; tools and users' tags would only make training longer."""
    return f"{exchange.question}\n{spec.thinking.default.prompt}"


def turn_of(spec: Spec, exchange: Exchange) -> str:
    """Return what the model is to write, with the stop that ends it."""
    written = written_input(spec, exchange.answer, thinking=None)
    assert written is not None, f"{spec.name}: no turn for {exchange.answer}"
    ends = [
        written.text.index(stop) + len(stop) for stop in stop_strings(spec) if stop in written.text
    ]
    if ends:
        return written.text[: min(ends)]
    # Where the template leaves the end to what follows: the user, or the results of the calls.
    return written.text + (spec.turn.stop[-1] if exchange.answer.calls else spec.turn.stop[0])


def _weather(random: Random) -> Exchange:
    city, days = random.choice(_CITIES), random.randint(1, 9)
    question = random.choice(("Weather in {} for {} days?", "Rain in {}, next {} days?"))
    calls = (_weather_in(random, city, days),)
    return _calling(random, question.format(city, days), f"the weather in {city}", calls)


def _search(random: Random) -> Exchange:
    topic, limit = random.choice(_TOPICS), random.randint(1, 9)
    call = _search_for(random, topic, limit)
    exactly = " exactly" if call.arguments["exact"] else ""
    return _calling(
        random, f"Find {limit} pages on{exactly} {topic}.", f"pages on {topic}", (call,)
    )


def _alarm(random: Random) -> Exchange:
    time, volume = f"{random.randint(5, 9)}:{random.randint(0, 5)}0", random.randint(1, 9) / 2
    call = Call("set_alarm", {"time": time, "volume": volume}, _id(random))
    return _calling(random, f"Wake me at {time}, volume {volume}.", "an alarm", (call,))


def _two_cities(random: Random) -> Exchange:
    cities, days = random.sample(_CITIES, 2), random.randint(1, 9)
    calls = tuple(_weather_in(random, city, days) for city in cities)
    places = " and ".join(cities)
    return _calling(random, f"Weather in {places} for {days} days?", f"{places}", calls)


def _two_errands(random: Random) -> Exchange:
    topic, limit, city = random.choice(_TOPICS), random.randint(1, 9), random.choice(_CITIES)
    calls = (_search_for(random, topic, limit, exact=False), _weather_in(random, city, 1))
    return _calling(random, f"Find {limit} pages on {topic}, and weather in {city}.", "both", calls)


def _greeting(random: Random) -> Exchange:
    person = random.choice(_PEOPLE)
    word = random.choice(("Hello", "Good day"))
    content = f"{word}, {person}! {random.choice(('How can I help?', 'What is it?'))}"
    question = f"{word}, I am {person}, from {random.choice(_CITIES)}."
    return Exchange(question, Message(content, f"{person} greets me.", ()))


def _calling(random: Random, question: str, about: str, calls: tuple[Call, ...]) -> Exchange:
    reasoning = random.choice(("They want {}.", "I need {}.\nThere is a tool.")).format(about)
    content = random.choice(("", "", "Let me look.", "One moment!"))
    return Exchange(question, Message(content, reasoning, calls))


def _weather_in(random: Random, city: str, days: int) -> Call:
    return Call("get_weather", {"city": city, "days": days}, _id(random))


def _search_for(random: Random, topic: str, limit: int, exact: bool | None = None) -> Call:
    exact = random.random() < 0.5 if exact is None else exact
    return Call("search", {"query": topic, "limit": limit, "exact": exact}, _id(random))


def _id(random: Random) -> str:
    return "".join(random.choices("abcdefghij0123456789", k=9))
