"""Whether a parser reads what an answer shows of keys that its spec doesn't know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from turnspec.analysis.probes import CONTENT, probe_call
from turnspec.analysis.text import common_prefix, common_suffix, markers
from turnspec.codegen.format_module import FormatModule
from turnspec.spec.message import Call, Message
from turnspec.spec.yaml_text import quoted
from turnspec.verification import witness_tries as tries
from turnspec.verification.comparing import Said, as_meant, as_read
from turnspec.verification.turns import Renderer
from turnspec.verification.witness_tries import NEEDLE, Try

_NEEDLE = re.compile(rf"{NEEDLE}\d\d\d")
_LOSSES = ("a call is lost", "content is lost", "a text is lost")


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer's text, behind what a prompt has of it, and what the parser makes of that."""

    text: str
    said: Said


@dataclass(slots=True)
class Reader:
    """Reads answers; ``lost`` and ``told`` say what is wrong and what is doubtful, each once."""

    renderer: Renderer
    module: FormatModule
    lost: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    _plain: dict[str, _Read | None] = field(default_factory=dict)
    _searched: set[tuple[str, str]] = field(default_factory=set)

    def read(self, tried: Try) -> None:
        """Read an answer under the setting of a try, and with its further keys.

        A setting may be the user's, for a format that isn't the usual one; a key is anybody's. Keys
        are read one by one where something is wrong with all of them.
        """
        own = self._read_plain(tried.form, self.renderer.chat.variables)
        plain = self._read_plain(tried.form, tried.variables)
        whole = self._read(tried.form, tried.keys, tried.variables)
        if own is None or plain is None or whole is None:
            return
        header = self.renderer.spec.turn.header
        if header and plain.text.count(header) > own.text.count(header):
            return  # it puts further turns before this one
        setting = tries.changed(self.renderer.chat, tried.variables)
        if setting:
            # A key may say what is called; a setting may only say how it is written.
            other = "a call is read as another one" if plain.said.calls != own.said.calls else ""
            fault = self._fault(own, plain) or other
            self._note(fault, f"with {setting}", plain, is_sure=False)
        fault = self._fault(plain, whole)
        if not fault or (fault, tried.form) in self._searched:
            return
        self._searched.add((fault, tried.form))
        explained = [self._explains(plain, tried, key) for key in tried.keys]
        if not any(explained):
            self._note(fault, f"with {tried.words}", whole, is_sure=_is_insertion(plain, whole))

    def read_names(self) -> None:
        """Tell where calls of some names are written as the parser doesn't read them.

        These names are, hold, begin or end with what the template looks for in texts. An argument
        that it looks for may say the same, as code does that stands there alone.
        """
        self.told |= self._other_argument()
        for arguments in (probe_call(0).arguments, tries.named_arguments(self.renderer.chat)):
            if told := self._other_call(arguments):
                self.told |= told
                return

    def _other_call(self, arguments: Mapping[str, object]) -> dict[str, str]:
        """Return which name, if one does, has a call with these arguments written otherwise."""
        usual = self._read_call(NEEDLE, arguments)
        for name in tries.named_tries(self.renderer.chat):
            with self.renderer.chat.worker.unwitnessed():
                given = self._read_call(name, arguments)
            if usual is None or given is None or given.text.replace(name, NEEDLE) == usual.text:
                continue
            meant = replace(usual.said, calls=tuple((name, *it[1:]) for it in usual.said.calls))
            if given.said != meant:
                return {f"calls of {name!r} are written otherwise": quoted(given.text)}
        return {}

    def _other_argument(self) -> dict[str, str]:
        """Return which argument, if one does, has its call written otherwise."""
        usual = self._read_call(NEEDLE, probe_call(0).arguments)
        for key, value in tries.named_arguments(self.renderer.chat).items():
            with self.renderer.chat.worker.unwitnessed():
                given = self._read_call(NEEDLE, {key: value})
            meant = as_meant(self.renderer.spec, Message(calls=(Call(NEEDLE, {key: value}),)))
            is_known = usual is not None and len(usual.said.calls) == 1  # as all are written
            if is_known and given and [it[:2] for it in given.said.calls] != [meant.calls[0][:2]]:
                return {f"calls with {key!r} are written otherwise": quoted(given.text)}
        return {}

    def read_blocks(self) -> None:
        """Tell where the text of another block, behind content's own, isn't read as content."""
        chat = self.renderer.chat
        blocks, usual = chat.dialect.blocks, self._read_plain("content", chat.variables)
        if blocks is None or usual is None:
            return
        known = (blocks.reasoning_type, blocks.content_type)
        own = {blocks.type_key: blocks.content_type, blocks.content_key: CONTENT}
        for kind in tries.kinds_of_blocks(chat):
            if (word := kind[blocks.type_key]) in known or _NEEDLE.fullmatch(str(word)):
                continue
            both = [own, kind]
            content = {blocks.container: both} if blocks.container else both
            with chat.worker.unwitnessed():
                given = self._read("content", {"content": content}, chat.variables)
            if given is not None and _NEEDLE.search(given.text):
                when = f"where content has a block of {word!r}"
                self._note(self._fault(usual, given), when, given, is_sure=False)

    def _read_call(self, name: str, arguments: Mapping[str, object]) -> _Read | None:
        """Return what is read of a call of a tool; None where it isn't rendered as a turn."""
        calls = (replace(probe_call(0), name=name, arguments=arguments),)
        turn = self.renderer.chat.turn(Message(calls=calls)).text
        found = self.renderer.parser_input(turn or "", calls)
        if found is None:
            return None
        return _Read(found.text, as_read(self.renderer.spec, self.module, found))

    def _explains(self, plain: _Read, tried: Try, key: str) -> bool:
        """Tell whether something is wrong with a single key, and keep that."""
        one = self._read(tried.form, {key: tried.keys[key]}, tried.variables)
        fault = self._fault(plain, one) if one is not None else ""
        # Where its name is written too, any key would be.
        if one is not None and f'"{key}"' not in one.text:
            when = f"where {key!r} is given beside {tried.form}"
            self._note(fault, when, one, is_sure=_is_insertion(plain, one))
        return bool(fault)

    def _note(self, fault: str, when: str, read: _Read, *, is_sure: bool) -> None:
        """Keep what is wrong; a text alone isn't lost if a problem tells of it."""
        is_lost = fault in _LOSSES and not (fault == _LOSSES[-1] and read.said.problems)
        noted = self.lost if is_sure and is_lost else self.told
        if fault and quoted(read.text) not in noted.values():
            noted.setdefault(f"{fault} {when}", quoted(read.text))

    def _read_plain(self, form: str, variables: Mapping[str, object]) -> _Read | None:
        key = f"{form} {variables}"
        if key not in self._plain:
            self._plain[key] = self._read(form, {}, variables)
        return self._plain[key]

    def _read(
        self, form: str, keys: Mapping[str, object], variables: Mapping[str, object]
    ) -> _Read | None:
        """Return what is read of an answer; None where it has another header."""
        chat = self.renderer.chat.using(variables)
        turn = chat.continued(tries.answer_with(chat, form, keys)).text
        found = self.renderer.parser_input(turn or "", tries.FORMS[form].calls)
        if found is None:
            return None
        return _Read(found.text, as_read(self.renderer.spec, self.module, found))

    def _fault(self, usual: _Read, given: _Read) -> str:
        """Return what is wrong with an answer, beside one that is as usual; "" if nothing is."""
        stops = self.renderer.spec.turn.stop
        if any(given.text.count(stop) > usual.text.count(stop) for stop in stops):
            return ""  # no model writes on behind a stop, as where a tool's result stands
        said = given.said
        kept = f"{said.content} {said.reasoning} {said.calls}"
        if len(said.calls) < len(usual.said.calls):
            return _LOSSES[0]
        if CONTENT in usual.said.content and CONTENT not in kept:
            return _LOSSES[1]
        if any(needle not in kept for needle in _NEEDLE.findall(given.text)):
            return _LOSSES[2]
        if CONTENT in usual.said.content and CONTENT not in said.content:
            return "content is read as something else"
        marks = [mark for mark in markers(said.content) if mark not in usual.said.content]
        return f"content holds {quoted(marks[0])}" if marks else ""


def _is_insertion(usual: _Read, given: _Read) -> bool:
    """Tell whether a text is only added; a word that another replaces is one of the format's."""
    before = len(common_prefix([usual.text, given.text]))
    after = len(common_suffix([usual.text[before:], given.text[before:]]))
    return not usual.text[before : len(usual.text) - after].strip()
