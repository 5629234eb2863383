"""R2 and R3: the switches that turn thinking on and off, and when reasoning is kept.

A switch is any variable of the template that changes the generation prompt or brings reasoning
into a turn. Settings are judged by what they render, never by the variable's name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.findings import Derivation
from turnspec.analysis.probes import CONTENT, REASONING, probe_call, probe_message
from turnspec.analysis.text import closing_of, markers, worded_closings
from turnspec.rendering.conversation import (
    NEXT_USER_TEXT,
    USER_TEXT,
    Chat,
    result_message,
    user_message,
)
from turnspec.spec.message import Message
from turnspec.spec.prompt_state import PromptState
from turnspec.spec.words import ReasoningScope

#: How many settings are tried at most; more variables than that has no chat template.
_MOST_SETTINGS = 120
#: How many of them are tried with others; no more variables turn thinking on.
_MOST_KEPT_BACK = 4


@dataclass(frozen=True, slots=True)
class Setting:
    """Values of the template's variables, and what they give.

    ``prompt`` is the generation prompt, from the user's text on, and ``bare`` what it is where no
    tools are given; ``shows_reasoning`` tells whether reasoning is rendered in a turn; ``by_word``
    that a word in a message gives that prompt.
    """

    variables: Mapping[str, object]
    prompt: str
    shows_reasoning: bool
    bare: str = ""
    by_word: bool = False

    @property
    def shown(self) -> tuple[str, bool]:
        """What the setting renders, with tools."""
        return self.prompt, self.shows_reasoning


def collect_settings(chat: Chat) -> list[Setting]:
    """Return the settings that render something else than the default does, the default first."""
    default = _setting(chat, {})
    if default is None:
        return []
    values = chat.facts.switch_values.items()
    each = ({name: value} for name, listed in values for value in listed)
    tried = (_setting(chat, variables) for variables in itertools.islice(each, _MOST_SETTINGS))
    singles = [one for one in tried if one and not _is_printed(one, default)]
    found = {default.shown: default}
    for setting in singles:
        known = found.setdefault(setting.shown, setting)
        # A variable that also switches where there are no tools is the one that is meant.
        if known is not default and known.bare == default.bare != setting.bare:
            found[setting.shown] = setting
    for setting in (*_apart(chat, list(found.values())), *_kept_back(chat, default, singles)):
        found.setdefault(setting.shown, setting)
    return list(found.values())


def _is_printed(setting: Setting, default: Setting) -> bool:
    """Tell whether true or false stands in a prompt itself, where the default's has another text.

    Such a variable is a text, as a name, and switches nothing.
    """
    (value,) = setting.variables.values()
    if not isinstance(value, bool):
        return False
    before, printed, behind = setting.prompt.partition(str(value))
    usual = default.prompt.removeprefix(before).removesuffix(behind)
    is_alone = printed != "" and before + usual + behind == default.prompt
    return is_alone and usual not in ("True", "False")


def _apart(chat: Chat, settings: Sequence[Setting]) -> Iterator[Setting]:
    """Yield what two variables give of which one shows reasoning and one opens it in the prompt."""
    for first, second in itertools.permutations(settings[1:], 2):
        apart = first.shows_reasoning and not second.shows_reasoning
        if apart and not settings[0].shows_reasoning and first.prompt != second.prompt:
            setting = _setting(chat, {**first.variables, **second.variables})
            if setting is not None:
                yield setting


def _kept_back(chat: Chat, default: Setting, singles: Sequence[Setting]) -> Iterator[Setting]:
    """Yield what two variables give of which one does nothing where there are tools.

    Another one keeps it from that, as long as it isn't set.
    """
    kept = (one for one in singles if one.shown == default.shown and one.bare != default.bare)
    for first in itertools.islice(kept, _MOST_KEPT_BACK):
        for second in singles:
            if second.variables.keys() != first.variables.keys():
                setting = _setting(chat, {**first.variables, **second.variables})
                if setting is not None and setting.prompt == first.bare:
                    yield setting
                    break


def _setting(chat: Chat, variables: Mapping[str, object]) -> Setting | None:
    using = chat.using(variables)
    prompt = using.prompt().text
    if prompt is None:
        return None
    messages = (
        probe_message(reasoning=True, content=True),
        probe_message(reasoning=True, calls=1),
        probe_message(reasoning=True, content=True, calls=1),
    )
    shown = any(REASONING in (using.turn(message).text or "") for message in messages)
    without = using.speaking(replace(chat.dialect, give_tools=False))
    return Setting(variables, prompt, shown, without.prompt().text or prompt)


def markers_in_prompts(rests: Sequence[str]) -> tuple[str, str] | None:
    """Return the two markers of an empty reasoning block that some settings' prompt ends with (R2).

    ``rests`` are what the generation prompts add after the assistant's header. A word that has the
    rest of the first marker's line for itself belongs to that marker.
    """
    for rest in rests:
        found = markers(rest)
        if len(found) != 2 or not rest.strip().startswith(found[0]):
            continue
        if len(set(rests)) == 1 and found[1] != closing_of(found[0]):
            continue
        between, _, behind = rest.partition(found[0])[2].partition(found[1])
        if behind.strip() or re.fullmatch(r"\s*|\w+\n\s*", between) is None:
            continue
        word = re.match(r"\w+\n", between)
        return found[0] + (word.group() if word else ""), found[1]
    return None


def marker_left_open(rests: Sequence[str], source: str) -> tuple[str, str] | None:
    """Return the marker that is all that some prompt adds, and the one that closes it (R2).

    No rendering closes it, but the template's text may say how; where it doesn't, only a tag's
    closing is known, as that is the same in any markup. What stands in brackets in every prompt
    is as often a sign by itself.
    """
    tag = r"<\w+>|\[\w+\]" if len(set(rests)) > 1 else r"<\w+>"
    for rest in map(str.strip, rests):
        if markers(rest) == [rest] and "/" not in rest:
            closings = [closing_of(rest), *worded_closings(rest)]
            told = [closing for closing in closings if closing in source]
            if told or re.fullmatch(tag, rest):
                return rest, (told or closings)[0]
    return None


def choose_on(settings: Sequence[Setting]) -> Setting:
    """Return the setting under which turns are analysed: the first that shows reasoning.

    One whose prompt has nothing of the default's has the model write another format.
    """
    known = markers(settings[0].prompt)
    alike = (it for it in settings if not known or any(one in it.prompt for one in known))
    return next((setting for setting in alike if setting.shows_reasoning), settings[0])


def choose_better_on(
    settings: Sequence[Setting], on: Setting, states: Sequence[PromptState]
) -> Setting:
    """Return the setting, as good as ``on``, whose prompt leaves reasoning most open.

    Where a template has more to say than that thinking isn't off, thinking is on where that is
    said. A word does it only where nothing else keeps the prompt from closing reasoning.
    """
    best, best_state = on, states[settings.index(on)]
    for setting, state in zip(settings, states, strict=True):
        is_word = setting.by_word and best_state is not PromptState.CLOSED
        if setting.shows_reasoning >= on.shows_reasoning and state > best_state and not is_word:
            best, best_state = setting, state
    return best


def choose_off(settings: Sequence[Setting], on: Setting, states: Sequence[PromptState]) -> Setting:
    """Return the setting that keeps the model from thinking, ``on`` where there is none.

    That is the one whose prompt closes reasoning; failing that, one whose prompt doesn't open it
    where the prompt of ``on`` does. A word does it only where no variable can. Where prompts don't
    differ it is the default, if that alone shows no reasoning.
    """
    on_state = states[settings.index(on)]
    ranked = sorted(
        (setting.by_word, state, len(setting.variables), number)
        for number, (setting, state) in enumerate(zip(settings, states, strict=True))
        if state < on_state
    )
    shown = min(on, settings[0], key=lambda one: one.shows_reasoning)
    return settings[ranked[0][-1]] if ranked else shown


def find_scope(chat: Chat, derivation: Derivation) -> ReasoningScope:
    """Find for which earlier messages reasoning is still rendered (R3)."""
    past = chat.assistant_message(Message(reasoning=REASONING, content=CONTENT))
    call = probe_call(0)
    past_call = chat.assistant_message(Message(reasoning=REASONING, calls=(call,)))
    last = chat.assistant_message(Message(content="lastqa"))
    user, next_user = user_message(USER_TEXT), user_message(NEXT_USER_TEXT)
    kept = chat.render([user, past, next_user, last]).text or ""
    looped = chat.render([user, past_call, result_message(call), last]).text or ""
    if REASONING in kept:
        scope = ReasoningScope.ALL
    elif REASONING in looped:
        scope = ReasoningScope.SINCE_LAST_USER
    else:
        scope = ReasoningScope.LAST
    derivation.note("R3", f"earlier reasoning is kept: {scope}", kept, looped)
    return scope
