"""Sanity of a spec beside its template: what no turn by itself shows, rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from turnspec.analysis.stripped import is_cut_before, now_and_earlier
from turnspec.analysis.text import (
    closing_of,
    common_prefix,
    markers,
    markers_of_constants,
    splits_marker,
    whole_prefix,
)
from turnspec.codegen.writer import write_turn
from turnspec.rendering.conversation import USER_TEXT, Chat, Following, result_message, user_message
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.calls import Slot
from turnspec.spec.message import Message
from turnspec.spec.model import Spec, SwitchWord
from turnspec.spec.words import Part, ReasoningMode, ReasoningScope, SlotKind
from turnspec.spec.yaml_text import quoted
from turnspec.verification.messages import SAMPLE_CALLS, allowed_call, format_markers
from turnspec.verification.prompts import STATES, prompts_of
from turnspec.verification.sanity_view import Finding, View
from turnspec.verification.turns import never_renders_calls, writes_calls_otherwise

_NUMBER = re.compile(r"\d+")
_CONTENT = "The answer is here."
_REASONING = "They want to know."


def prompts(view: View) -> Iterator[Finding]:
    """Under each setting the template gives the prompt that the spec says, and no other."""
    thinking, header = view.spec.thinking, view.spec.turn.header.strip()
    by_word = {word.prompt for word in thinking.words}
    states = {path: thinking.state(enable) for path, enable in STATES.items()}
    states |= {f"thinking.others[{n}]": state for n, state in enumerate(thinking.others)}
    for path, state in states.items():
        wanted = state.prompt
        if state != thinking.default and not state.variables and wanted in by_word:
            continue  # a word in a message gives it
        found = view.chat.using(state.variables).prompt().text or ""
        lead = found[: len(found) - len(wanted)]
        is_more = bool(header) and not wanted and header in found
        if is_more or not found.endswith(wanted) or _begins_inside(found, len(lead)):
            yield f"{path}.prompt", f"is {quoted(wanted)}; rendered is {quoted(found)}"
        elif state.before not in lead:
            yield f"{path}.before", f"is {quoted(state.before)}; rendered is {quoted(lead)}"


def words(view: View) -> Iterator[Finding]:
    """A word in a message gives the prompt that the spec says."""
    for number, word in enumerate(view.spec.thinking.words):
        for role in word.roles:
            found = _prompt_with(view, word, role)
            if not found.endswith(word.prompt):
                path = f"thinking.words[{number}].prompt"
                yield path, f"is {quoted(word.prompt)}; rendered is {quoted(found)}"


def _prompt_with(view: View, word: SwitchWord, role: str) -> str:
    texts = {"system": "Be brief.", "user": USER_TEXT}
    messages: list[JsonObject] = [
        {"role": name, "content": f"{text} {word.word if name == role else ''}".rstrip()}
        for name, text in texts.items()
        if name in (role, "user")
    ]
    chat = view.chat.using(view.spec.thinking.enabled.variables)
    rendering = chat.render(messages, add_generation_prompt=True).text or ""
    behind = rendering.rpartition(USER_TEXT)[2]
    return behind.removeprefix(f" {word.word}") if role == "user" else behind


def header(view: View) -> Iterator[Finding]:
    """The header is all that turns and prompts begin with, and cuts no marker."""
    spec = view.spec
    text = spec.turn.header
    if not text and (beginning := _shared_beginning(view)):
        yield "turn.header", f"is empty, but turns and prompts begin with {quoted(beginning)}"
    for path, prompt in prompts_of(spec.thinking):
        if prompt and not prompt.startswith(text):
            yield "turn.header", f"{path} doesn't begin with it: {quoted(prompt)}"
    for _, turn in view.rendered():
        at = turn.find(text)
        if text and at < 0:
            yield "turn.header", f"a turn doesn't hold it: {quoted(turn)}"
            return
        if text and _begins_inside(turn, at):
            yield "turn.header", f"begins inside of a marker: {quoted(turn)}"
            return
        bare = view.renderer.bare_prompt
        known = (text, *(prompt for _, prompt in prompts_of(spec.thinking) if prompt))
        if text and at < len(bare) and turn.startswith(bare) and not bare.endswith(known):
            yield "turn.header", f"holds what ends the user's message: {quoted(bare)}"
            return


def _shared_beginning(view: View) -> str:
    """Return what all prompts begin with, if turns do, too, and it is no part's own marker."""
    prompts = [prompt for _, prompt in prompts_of(view.spec.thinking)]
    alike = common_prefix(prompts).strip()
    first = next(iter(markers(alike)), alike)
    turns = [turn for _, turn in view.rendered()]
    if not first or len({turn.partition(first)[0] for turn in turns}) != 1:
        return ""  # a part may stand before it
    behind = [turn[turn.find(first) :] for turn in turns if first in turn]
    own = (view.spec.reasoning.start.strip(), view.spec.content.start.strip())
    shared = whole_prefix([*(prompt.strip() for prompt in prompts), *behind])
    return "" if not behind or shared.startswith(tuple(filter(None, own))) else shared


def _begins_inside(text: str, at: int) -> bool:
    """Tell whether a marker is cut in two, and what follows isn't one itself."""
    first = markers(text[at:])[:1]
    return splits_marker(text, at) and not text[at:].lstrip().startswith(tuple(first))


def ends(view: View) -> Iterator[Finding]:
    """Before another message a turn ends as the spec says, with tools at least."""
    chat = view.renderer.chat
    # Tools would stand before some user's message.
    found = list(_ends_in(view, chat.speaking(replace(chat.dialect, give_tools=False))))
    if found and list(_ends_in(view, chat)):
        yield from found


def _ends_in(view: View, chat: Chat) -> Iterator[Finding]:
    spec = view.spec
    call = allowed_call(spec, SAMPLE_CALLS[0])
    messages = {Part.CONTENT: Message(_CONTENT), Part.CALLS: Message(calls=(call,))}
    following = {Part.CONTENT: Following.USER, Part.CALLS: Following.TOOL}
    anchors = {Part.CONTENT: _CONTENT, Part.CALLS: _last_text(call.arguments)}
    for part, message in messages.items():
        end = spec.end(part)
        if end is None or not anchors[part] or (part is Part.CALLS and _ends_alone(spec)):
            continue
        found = chat.turn(message, following=following[part]).text
        written = write_turn(spec, message, followed=True)
        if found is None or anchors[part] not in found or anchors[part] not in written:
            continue
        path = f"turn.ends.{part}.followed"
        behind = found.rpartition(anchors[part])[2]
        tail = written.rpartition(anchors[part])[2]
        if part is Part.CALLS:  # a call may say more once its result is there
            tail = (spec.tools.section_end if spec.tools else "") + end.followed
        if tail not in behind or (part is Part.CONTENT and not behind.startswith(tail)):
            yield path, f"is {quoted(end.followed)}; rendered is {quoted(behind)}"
            continue
        rest = behind.partition(tail)[2] if tail else behind
        if tail and _begins_inside(behind, len(behind) - len(rest)):
            yield path, f"cuts a marker: {quoted(behind)}"
        first = chat.render([user_message(USER_TEXT)]).text or ""
        # Before the first message nothing is apart from it, and no count is the same.
        began = _NUMBER.sub("0", first.partition(USER_TEXT)[0])
        known = began.endswith((rest, _NUMBER.sub("0", rest).lstrip(" "))) or rest in began
        known = known or rest.startswith(view.chat.tokens.get("bos_token") or "\0")
        if part is Part.CONTENT and not known and not _begins_later_message(chat, rest):
            yield path, f"leaves {quoted(rest)}, with which no conversation begins: {quoted(first)}"


def _begins_later_message(chat: Chat, text: str) -> bool:
    """Tell whether a text stands before a user's message that follows another user's."""
    messages = [user_message(USER_TEXT), user_message(_CONTENT)]
    return (chat.render(messages).text or "").partition(_CONTENT)[0].endswith(text)


def _ends_alone(spec: Spec) -> bool:
    """Tell whether no call is rendered, or a single one ends in a way of its own."""
    return never_renders_calls(spec) or bool(spec.tools and spec.tools.after_first)


def _last_text(arguments: Mapping[str, object]) -> str:
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return texts[-1] if texts else ""


def index(view: View) -> Iterator[Finding]:
    """A running index counts over the turn or the conversation, as the spec says."""
    spec = view.spec
    if spec.tools is None or Slot(SlotKind.INDEX) not in spec.tools.call:
        return
    if writes_calls_otherwise(spec):  # what the template shows says nothing of it
        return
    message = Message(calls=(allowed_call(spec, SAMPLE_CALLS[0]),))
    found = view.renderer.chat.turn(message, earlier=[message]).text
    written = write_turn(spec, message, calls_before=1)
    if found is not None and written not in found:
        text = f"a later turn is {quoted(found)}, not {quoted(written)}"
        yield "tools.index_scope", text


def later(view: View) -> Iterator[Finding]:
    """A turn behind another one is rendered as the first is, so no number counts them."""
    message = Message(_CONTENT)
    chat = view.renderer.chat
    first, found = chat.turn(message).text, chat.turn(message, earlier=[message]).text
    if first is None or found is None:
        return
    header = view.spec.turn.header
    # Other messages may stand elsewhere, as where a template renders those of each role together.
    turn = header + first.rpartition(header)[2] if header else first
    if not found.endswith(turn):
        yield "turn", f"a later one is {quoted(found)}, where the first is {quoted(first)}"


def scope(view: View) -> Iterator[Finding]:
    """Earlier reasoning shows for as long as the spec says."""
    spec, chat = view.spec, view.renderer.chat
    if not spec.reasoning.field:
        return
    past = chat.assistant_message(Message(_CONTENT, _REASONING))
    call = allowed_call(spec, SAMPLE_CALLS[0])
    called = chat.assistant_message(Message(reasoning=_REASONING, calls=(call,)))
    last = chat.assistant_message(Message("Done."))
    asked = user_message("And now?")
    before = [user_message("Hello?")]
    shown = {
        ReasoningScope.ALL: [*before, past, asked, last],
        ReasoningScope.SINCE_LAST_USER: [*before, called, result_message(call), last],
    }
    texts = {kind: chat.render(messages).text or "" for kind, messages in shown.items()}
    found = next((kind for kind, text in texts.items() if _REASONING in text), None)
    said = spec.reasoning.scope
    if found != (said if said in shown else None):  # the other scopes show none of these
        yield "reasoning.scope", f"is {said}; rendered is {found or ReasoningScope.LAST}"


def tokens(view: View) -> Iterator[Finding]:
    """The special tokens are those with which the template was rendered."""
    for name, token in view.spec.tokens.items():
        if view.chat.tokens.get(name) != token.text:
            yield f"tokens.{name}", f"rendered with {quoted(view.chat.tokens.get(name, ''))}"


def unknown_texts(view: View) -> Iterator[Finding]:
    """What an answer shows under keys that the spec doesn't know is read, and hides nothing."""
    _, lost = view.witness
    yield from (("turn", fault) for fault in lost)


def unrendered_reasoning(view: View) -> Iterator[Finding]:
    """What marks reasoning that no message shows are markers that the template itself holds.

    What opens it may also be all that a prompt says behind the header, in words.
    """
    spec = view.spec
    said = {prompt.removeprefix(spec.turn.header) for _, prompt in prompts_of(spec.thinking)}
    never = spec.reasoning.mode is not ReasoningMode.NONE and not spec.reasoning.field
    if not never or any(key.split(".")[0] == "reasoning" for key in spec.overlay):
        return
    for key in ("start", "end"):
        text: str = getattr(spec.reasoning, key)
        opening, closing = spec.reasoning.start.strip(), spec.reasoning.end.strip()
        shown = text.strip() in view.chat.source or closing == closing_of(opening)
        is_said = key == "start" and text in said and not markers(text)
        if text and not is_said and (not _is_opening(text) or not shown):
            yield f"reasoning.{key}", f"{quoted(text)} is no marker of the template's"
    yield from _other_ends(view)


def _other_ends(view: View) -> Iterator[Finding]:
    """Yield up to what else text is cut, if its end isn't what closes reasoning's beginning.

    Any of them may be what the model ends its thought with; an answer behind another is lost.
    """
    start, end = view.spec.reasoning.start.strip(), view.spec.reasoning.end.strip()
    if not start or end == closing_of(start):
        return
    before, behind = _around("").split()
    known = _explained(view.spec)
    for marker in dict.fromkeys(markers_of_constants(view.chat.facts.string_constants)):
        if any(marker in text or text in marker for text in known):
            continue
        if is_cut_before(filter(None, _with_marker(view, marker)), before, behind):
            told = f"an answer's text is cut up to {quoted(end)}, and up to {quoted(marker)}"
            yield "reasoning.end", f"{told}: either may end what {quoted(start)} begins"


def _is_opening(text: str) -> bool:
    """Tell whether a text is one marker, with nothing but the rest of its line behind it."""
    found = markers(text) or markers_of_constants([text.strip()])
    return len(found) == 1 and re.fullmatch(r"(\w+\n)?", text.removeprefix(found[0])) is not None


def altered_texts(view: View) -> Iterator[Finding]:
    """What the template does with markers in an answer's text is explained by a part."""
    known = _explained(view.spec)
    found = markers_of_constants(view.chat.facts.string_constants)
    own = dict.fromkeys(marker for text in known for marker in markers(text))
    for marker in dict.fromkeys(found):
        if any(marker in text or text in marker for text in known):
            continue
        shown = _with_marker(view, marker)
        # What becomes one of the format's own is mended, not told: models write it by mistake.
        comes_back = all(text is None or _around(marker) in text for text in shown)
        if not comes_back and not any(shown == _with_marker(view, o) for o in own):
            yield "reasoning", f"the template alters a text with {quoted(marker)}; no part says why"


def _explained(spec: Spec) -> set[str]:
    found = format_markers(spec) | {word.word for word in spec.thinking.words}
    found |= {token.text for token in spec.tokens.values()}
    found |= {mark for it in spec.alternatives.marks for mark in (it.fixed_start, it.end) if mark}
    return found | set(spec.alternatives.stop)


def _with_marker(view: View, marker: str) -> list[str | None]:
    """Return how a text with a marker in it is rendered, now and as an earlier one."""
    chat = view.renderer.chat
    shown = now_and_earlier(chat, _around(marker))
    return shown[1:] if chat.dialect.next_header else shown  # the last, if at all


def _around(marker: str) -> str:
    return f"qxa {marker} qxb"
