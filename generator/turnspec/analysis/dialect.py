"""Finding the dialect of a template: the form of messages in which it shows all it can show."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

from turnspec.analysis.call_shapes import call_shapes
from turnspec.analysis.findings import Derivation
from turnspec.analysis.insistence import REASONING_FIELDS
from turnspec.analysis.probes import (
    CONTENT,
    IDS,
    KEYS,
    NAMES,
    REASONING,
    VALUES,
    TokenKind,
    find_object,
    find_tokens,
    probe_call,
    probe_message,
)
from turnspec.analysis.text import markers, whole_prefix
from turnspec.rendering.conversation import (
    EXAMPLE_TOOL,
    EXAMPLE_TOOL_NAME,
    RESULT_TEXT,
    Chat,
    result_message,
)
from turnspec.rendering.dialect import (
    AbsentContent,
    ArgumentsForm,
    Dialect,
    at_place,
    inner_places,
    merged,
    worded_places,
)
from turnspec.spec.message import Message
from turnspec.spec.model import Capabilities

#: Reasoning beside content, and beside a call.
_BESIDE = (probe_message(reasoning=True, content=True), probe_message(reasoning=True, calls=1))
#: What may have to stand before each id, how many such texts are tried, and what makes one long.
_ID_LEAD, _MOST_LEADS, _LONG_LEAD = r"\w[\w.:/-]{0,20}", 8, "idqaidqaidqaidq"
#: How well a rendered call can be read back; less is better.
_UNREADABLE, _WITHOUT_ARGUMENTS = 9, 6


def find_dialect(chat: Chat, derivation: Derivation) -> Dialect:
    """Try the forms of arguments and of absent content; return those that show calls best."""
    prompt, untold = chat.prompt().text, chat.speaking(replace(chat.dialect, give_tools=False))
    if prompt is None and untold.prompt().text is not None:
        chat = untold
    elif EXAMPLE_TOOL_NAME in (prompt or ""):
        chat = chat.speaking(replace(chat.dialect, lists_tools=True))
    if tail := _tail(chat):
        derivation.note("T1", f"{tail!r} ends every conversation, and is part of no prompt")
        chat = chat.speaking(replace(chat.dialect, tail=tail))
    found, plain = _best_form(chat), chat.dialect
    # Name and arguments may stand a level higher, or the id alone be shown, which says the name.
    forms = (replace(plain, flat_calls=True), replace(plain, named_ids=True))
    for form in (*forms, *_with_other_ids(chat)):
        if found[0] == _UNREADABLE:
            found = min(found, _best_form(chat.speaking(form)), key=itemgetter(0))
    if found[0] in (_UNREADABLE, _WITHOUT_ARGUMENTS):
        found = min([found, *map(_best_form, call_shapes(chat))], key=itemgetter(0))
    score, dialect = found
    if dialect.call_shape is not None:
        derivation.note("T1", f"calls are read in the form {dialect.call_shape}")
    if score != _UNREADABLE and _shows_numbers(chat.speaking(dialect)):
        derivation.note("T7", "of ids only numbers are shown")
        dialect = replace(dialect, ids_are_numbers=True)
    # Where no calls are shown, nothing hangs on how content is absent.
    if score == _UNREADABLE or _prints_null(chat.speaking(dialect)):
        dialect = replace(dialect, absent_content=AbsentContent.EMPTY)
    found_forms = f"arguments as {dialect.arguments}, absent content as {dialect.absent_content}"
    derivation.note("T1", found_forms)
    return dialect


def _with_other_ids(chat: Chat) -> Iterator[Dialect]:
    """Yield dialects with other ids where calls are refused, as they may be for their ids.

    These may have to begin with a text that the template looks for, to be long, or be numbers.
    """
    refused = chat.turn(probe_message(calls=1)).text is None
    if not refused or "id" not in chat.facts.attribute_names:
        return
    words = (word for word in chat.facts.searched_words if re.fullmatch(_ID_LEAD, word))
    for lead in (*itertools.islice(words, _MOST_LEADS), _LONG_LEAD):
        yield replace(chat.dialect, id_lead=lead)
    yield replace(chat.dialect, ids_are_numbers=True)


def _shows_numbers(chat: Chat) -> bool:
    """Tell whether of ids numbers are shown alone."""
    if "id" not in chat.facts.attribute_names:
        return False
    usual = chat.turn(probe_message(content=True, calls=1)).text or ""
    if IDS[0] in usual or NAMES[0] not in usual:
        return False
    given = chat.speaking(replace(chat.dialect, ids_are_numbers=True))
    numbered = given.turn(probe_message(content=True, calls=1)).text or ""
    return IDS[0] in numbered


def _tail(chat: Chat) -> str:
    """Return the end-of-sequence token if it stands behind any conversation, be it unanswered.

    Behind a user's message that it ends an answer follows it.
    """
    end = chat.tokens.get("eos_token", "")
    prompt, turn = chat.prompt().text or "", chat.turn(Message(CONTENT)).text or ""
    is_moved = not turn.startswith(prompt) and turn.startswith(prompt.removesuffix(end))
    return end if is_moved and prompt.endswith(end) and turn.endswith(end) else ""


def _best_form(chat: Chat) -> tuple[int, Dialect]:
    """Return the forms of arguments and of absent content that show calls best, and how well."""
    best = (_UNREADABLE, chat.dialect)
    for arguments, absent in itertools.product(ArgumentsForm, AbsentContent):
        dialect = replace(chat.dialect, arguments=arguments, absent_content=absent)
        score = _readability(chat.speaking(dialect))
        if score < best[0]:
            best = (score, dialect)
    return best


def _readability(chat: Chat) -> int:
    """Return how a lone call's arguments come out: JSON first, tags next, Python objects last."""
    call = probe_call(0)
    text = chat.turn(probe_message(calls=1)).text
    if text is None or NAMES[0] not in text:
        beside = chat.turn(probe_message(content=True, calls=1)).text
        return 7 if NAMES[0] in (beside or "") else _UNREADABLE
    if KEYS[0] not in text or VALUES[0] not in text:
        return _WITHOUT_ARGUMENTS
    as_string = chat.dialect.arguments is ArgumentsForm.STRING
    span = find_object(text, call.arguments, KEYS[0])
    if span is None:
        return 5 if as_string else 1
    if text[span[0]] == '"':
        return 5  # a string that holds it: encoded twice, maybe for us alone
    is_json = '"' + KEYS[0] in text[span[0] : span[1]]
    is_quoted = text[span[0] - 1] == "'"  # as Python shows a string inside of a call
    if not is_json:
        return 5 if is_quoted else 3
    return (4 if is_quoted else 2) if as_string else 0


def _prints_null(chat: Chat) -> bool:
    """Tell whether null content leaves a trace (a printed None) that empty content doesn't."""
    if chat.dialect.absent_content is not AbsentContent.NULL:
        return False
    null = chat.turn(probe_message(calls=1)).text
    empty_chat = chat.speaking(replace(chat.dialect, absent_content=AbsentContent.EMPTY))
    empty = empty_chat.turn(probe_message(calls=1)).text
    return null is not None and NAMES[0] in (empty or "") and len(null) > len(empty or "")


def find_reasoning_field(chat: Chat) -> str | None:
    """Return the first key under which reasoning is rendered, beside content or beside a call."""
    shown = (field for field in REASONING_FIELDS if any(map(partial(_reads, chat, field), _BESIDE)))
    return next(shown, None)


def find_both_fields(chats: Sequence[Chat], field: str) -> tuple[str, str | None]:
    """Return the key of reasoning beside content, and the key beside calls if that is another one.

    ``field`` is read beside one of them at least, under one of the settings of ``chats``.
    """
    others = [other for other in REASONING_FIELDS if other != field]
    found = []
    for beside in _BESIDE:
        read = (it for it in (field, *others) if any(_reads(chat, it, beside) for chat in chats))
        found.append(next(read, field))
    return found[0], found[1] if found[1] != found[0] else None


def show_thought_calls(chats: Sequence[Chat], dialect: Dialect) -> Dialect:
    """Return a dialect with content absent in a form beside which calls show their reasoning.

    A template may show what goes before calls only where content is a text, be it an empty one.
    """
    forms = (replace(dialect, absent_content=absent) for absent in AbsentContent)
    wanted = _readability(chats[0].speaking(dialect))
    if wanted == _UNREADABLE:
        return dialect
    for form in (dialect, *forms):
        speaking = [chat.speaking(form) for chat in chats]
        shown = any(REASONING in (chat.turn(_BESIDE[1]).text or "") for chat in speaking)
        if shown and _readability(speaking[0]) == wanted:
            return form
    return dialect


def _reads(chat: Chat, field: str, message: Message) -> bool:
    """Say whether a template shows the reasoning in a message if it is given under a key."""
    speaking = chat.speaking(replace(chat.dialect, reasoning_field=field))
    return REASONING in (speaking.turn(message).text or "")


def find_other_field(chat: Chat) -> str | None:
    """Return another key of an assistant's message that shows as reasoning does, or None.

    All keys that the template reads anywhere are tried at once, each with a needle of its own.
    What shows has to stand behind the header, apart from content by a marker, and not in a user's
    message: else it is part of a header.
    """
    shape = chat.dialect.call_shape
    holder = shape.container.partition("[")[0] if shape else ""
    known = {"role", "content", "tool_calls", holder, *REASONING_FIELDS}
    names = [name for name in chat.facts.attribute_names if name not in known]
    needles = {name: f"othqa{number:03}" for number, name in enumerate(names)}
    shown: dict[str, None] = {}
    for message in (probe_message(content=True), probe_message(calls=1)):
        whole = chat.assistant_message(message) | needles
        text = chat.render([_USER, whole]).text or ""
        shown |= {name: None for name, needle in needles.items() if needle in text}
    return next((name for name in shown if _shows_reasoning(chat, name)), None)


def find_inner_place(chat: Chat) -> str | None:
    """Return the place within a mapping or a list under a key whose text shows as reasoning does.

    The places are those that the template reads, but for those of calls and of content.
    """
    shape = chat.dialect.call_shape
    others = ("content", "tool_calls", *([shape.container] if shape else ()))
    within = tuple(f"{other}{sign}" for other in others for sign in ".[")
    places = [it for it in worded_places(chat.facts.message_places) if not it.startswith(within)]
    shown = (place for place in places if _shows_reasoning(chat, place))
    return next((place for place in shown if not _has_company(chat, place)), None)


def _has_company(chat: Chat, place: str) -> bool:
    """Tell whether another text of the same mapping shows as well, as in a call it would."""
    holder, _, _ = place.rpartition(".")
    message = chat.assistant_message(probe_message(content=True))
    for other in inner_places(chat.facts.message_places):
        if holder and other != place and other.rpartition(".")[0] == holder:
            given = merged(at_place(other, RESULT_TEXT), at_place(place, REASONING))
            text = chat.continued(message | given).text or ""
            if RESULT_TEXT in text and REASONING in text:
                return True
    return False


def _shows_reasoning(chat: Chat, name: str) -> bool:
    """Tell whether a key's text is reasoning, beside content or beside a call."""
    speaking = chat.speaking(replace(chat.dialect, reasoning_field=name))
    as_user = speaking.render([_USER | at_place(name, REASONING)]).text or ""
    is_told = set(re.findall(r"\w+", name)) & {*REASONING_FIELDS}  # its name says what it is
    if REASONING in as_user and not is_told:
        return False
    return _is_beside_content(speaking) or _is_beside_call(speaking)


def _is_beside_content(chat: Chat) -> bool:
    """Tell whether something marks the text off, behind the header, before the content.

    A marker before it does, and one behind it that content alone lacks; so do words before it and
    words before content, as those of headings.
    """
    plain = (chat.turn(probe_message(content=True)).text or "").partition(CONTENT)[0]
    both = chat.turn(probe_message(reasoning=True, content=True)).text or ""
    before, found, after = both.partition(REASONING)
    header = whole_prefix([plain, before])
    # What stands behind content is no thought: calls that are given as a text, say.
    if not found or not header.strip() or CONTENT in before:
        return False
    opening = before.removeprefix(header)
    between = after.partition(CONTENT)[0] if CONTENT in after else after
    is_whole = before.startswith(plain.rstrip())  # the header, which the text is no part of
    if markers(opening) or (is_whole and markers(between)):
        return True
    return CONTENT in after and all(re.search(r"\w", text) for text in (opening, between))


def _is_beside_call(chat: Chat) -> bool:
    """Tell whether something marks the text off, behind the header, before the call.

    The markers may stand there without reasoning as well, around nothing.
    """
    plain = chat.turn(probe_message(calls=1)).text or ""
    both = chat.turn(probe_message(reasoning=True, calls=1)).text or ""
    before, found, after = both.partition(REASONING)
    header = whole_prefix([plain, before, chat.turn(probe_message(content=True)).text or ""])
    if not found or not header.strip() or NAMES[0] not in after:
        return False
    own = plain.removeprefix(header)
    closing = [m for m in markers(after.partition(NAMES[0])[0]) if m not in own]
    return bool(markers(before.removeprefix(header)) or closing)


def call_limit(chat: Chat) -> int:
    """Return how many calls (up to three) the template shows in one turn."""
    shown = 0
    for number, content in itertools.product((1, 2, 3), (False, True)):
        message = probe_message(content=content, calls=number)
        text = chat.turn(message).text or ""
        names = {t.call for t in find_tokens(text, message.calls) if t.kind is TokenKind.NAME}
        shown = number if len(names) == number else shown
    return shown


def probe_capabilities(chat: Chat, calls: int) -> Capabilities:
    """Find what the template accepts, by rendering."""
    return Capabilities(
        system_role=_shows(chat, [_SYSTEM, _USER], "sysqa"),
        tools=_shows_tools(chat),
        tool_calls=calls > 0,
        parallel_calls=calls > 1,
        tool_results=_shows_result(chat),
        object_arguments=_shows_call(chat, replace(chat.dialect, arguments=ArgumentsForm.OBJECT)),
        string_arguments=_shows_call(chat, replace(chat.dialect, arguments=ArgumentsForm.STRING)),
        null_content=_shows_call(chat, replace(chat.dialect, absent_content=AbsentContent.NULL)),
        content_beside_calls=CONTENT
        in (chat.turn(probe_message(content=True, calls=1)).text or ""),
        call_id_required=calls > 0 and not _renders_without_id(chat),
        roles_alternate=chat.render([_USER, _USER]).text is None,
    )


_SYSTEM: dict[str, object] = {"role": "system", "content": "sysqa"}
_USER: dict[str, object] = {"role": "user", "content": "usrqb"}


def _shows(chat: Chat, messages: list[dict[str, object]], needle: str) -> bool:
    return needle in (chat.render(messages).text or "")


def _shows_tools(chat: Chat) -> bool:
    """Tell whether a tool with all of its definition is shown, if only beside a system message."""
    telling = chat.speaking(replace(chat.dialect, give_tools=True))
    rendered = (telling.render(it, tools=[EXAMPLE_TOOL]) for it in ([_USER], [_SYSTEM, _USER]))
    return any(EXAMPLE_TOOL_NAME in (rendering.text or "") for rendering in rendered)


def _shows_result(chat: Chat) -> bool:
    """Tell whether a result is shown; null content may fail where another message follows."""
    empty = replace(chat.dialect, absent_content=AbsentContent.EMPTY)
    return any(_result_in(speaking) for speaking in (chat, chat.speaking(empty)))


def _result_in(chat: Chat) -> bool:
    assistant = chat.assistant_message(probe_message(calls=1))
    return _shows(chat, [_USER, assistant, result_message(probe_call(0))], RESULT_TEXT)


def _shows_call(chat: Chat, dialect: Dialect) -> bool:
    text = chat.speaking(dialect).turn(probe_message(calls=1)).text
    return text is not None and NAMES[0] in text and KEYS[0] in text


def _renders_without_id(chat: Chat) -> bool:
    unnumbered = replace(probe_call(0), id="")
    message = chat.assistant_message(Message(calls=(unnumbered,)))
    if isinstance(calls := message.get("tool_calls"), list):
        for call in calls:
            call.pop("id", None)
    return NAMES[0] in (chat.render([_USER, message]).text or "")
