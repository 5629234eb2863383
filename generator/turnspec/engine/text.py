"""Reasoning and content: all text that is no marker, and the markers around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from turnspec.engine.format import CompiledFormat, Format
from turnspec.engine.markers import Found, Roles
from turnspec.engine.results import ContentDelta, Problem, ReasoningDelta
from turnspec.engine.stream import Stream
from turnspec.engine.text_markers import (
    behind_call_roles,
    end_roles,
    header_roles,
    lead_roles,
    opening_roles,
    text_roles,
)
from turnspec.engine.turn import WHITE_SPACE, Turn, behind_space

RolesOf = Callable[[Format], Roles]


#: The roles of markers with which calls begin.
DRAFTED = (
    *("opening", "noisy_opening", "call", "other_call", "short_call", "closed_call"),
    *("foreign", "foreign_name"),
)


class CallReader(Protocol):
    """The part that reads calls, as those know it that a format without calls has as well."""

    called: bool  # whether there was a call, if only in the prefill

    @property
    def first(self) -> Callable[[], bool]:
        """What reads on at the beginning of a turn."""

    def knows(self, name: str) -> bool:
        """Say whether there is a tool of that name."""

    def is_text(self, found: Found) -> bool:
        """Say whether what looks like a marker of calls is text."""

    def pass_marker(self, found: Found) -> None:
        """Do what a marker of calls asks for."""

    def forget(self) -> None:
        """Leave out the calls that the prompt holds, but for one that the model continues."""

    def end_of_text(self) -> None:
        """All text has come: settle what waits for more."""

    def finish(self) -> None:
        """End a call that is cut off."""


class Text:
    """Reads reasoning and content up to the markers of other parts."""

    def __init__(self, turn: Turn, compiled: CompiledFormat, *, inline: bool, shown: int) -> None:
        self.turn = turn
        self.compiled = compiled
        self.table = compiled.table
        self.content = Stream(turn, turn.content, ContentDelta, shown)
        thoughts = Stream(turn, turn.reasoning, ReasoningDelta, shown)
        self.reasoning = self.content if inline else thoughts
        self.inline = inline
        self.calls: CallReader | None = None
        self.marks = self.table.get("reasoning", {})
        self.thinking = self.marks.get("starts_open", False)
        self.may_stay_open = self.marks.get("may_stay_open", False)
        #: Whether a call in open reasoning may be a draft, which what follows it decides.
        self.may_draft = bool(self.marks.get("end")) and not self.may_stay_open
        self.draft_start: int | None = None  # where such a call begins, in the turn's text
        #: Whether all this is a draft, and the offset at which something else than a call follows.
        self.is_draft = False
        self.draft_end: int | None = None
        self.after_marker = True  # with nothing but white space since
        self.mentioned = False  # whether text holds an opening marker of calls
        self._spaces = 0  # of the content's, those before the last marker
        self._last = ""  # the role of the last marker
        self._quoted = False  # whether content holds an opening marker of reasoning
        self._rest: list[str] = []  # what follows the end of the turn
        order = list(self.table["order"])
        self._content_last = "calls" in order and "content" in order[order.index("calls") :]
        #: Whether the message is for the user by its header: then it holds no call to its end.
        self.is_content = False
        ends = self.marks.get("end", ())
        self._ends_turn = any(end in self.table["turn_end"] for end in ends)
        content_ends = self.table.get("content", {}).get("end", ())
        self._ends_content = any(end in content_ends for end in ends)
        self._markers = compiled.markers(text_roles)
        self._openings = compiled.markers(opening_roles)
        self._behind_call = compiled.markers(behind_call_roles)
        self._leads = compiled.markers(lead_roles)
        self._headers = compiled.markers(header_roles)
        self._begun: RolesOf = text_roles
        self._ends = compiled.markers(end_roles)
        self._passes = {
            "reasoning_start": self._open_reasoning,
            "reasoning_end": self._close_reasoning,
            "between": self._pass_between,
            "content_start": self._pass_between,
            "turn_start": self._repeat,
            "repeated": self._repeat,
            "turn_end": self._end_turn,
            "content_end": self._pass_over,
        }

    def attach(self, calls: CallReader, roles: RolesOf, begun: RolesOf) -> None:
        """Have calls read by another part.

        ``roles`` gives all that ends text, ``begun`` what a text can break off in.
        """
        self.calls = calls
        self._markers = self.compiled.markers(roles)
        self._begun = begun

    @property
    def called(self) -> bool:
        """Whether there was a call."""
        return self.calls is not None and self.calls.called

    def read_text(self) -> bool:
        """Read text up to a marker, and do what the marker asks for."""
        turn = self.turn
        if self.after_marker and self.called and not self._last.endswith("_start"):
            at = behind_space(turn.text, turn.position)
            is_there = at < len(turn.text) or turn.final
            noise = self._behind_call.match(turn, at) if is_there else None
            if noise and noise.role != "marker":
                self.write(at)
                return self._pass_noise(noise)
        if self.after_marker and self._is_first() and (lead := self._leads.match(turn)):
            turn.position = lead.end if lead.role else turn.position
            self.after_marker = not lead.role
            return bool(lead.role)
        found = self._markers.search(turn)
        if found is None and not turn.final:
            self.write(len(turn.text))
            if not self.after_marker and self.draft_end is None:
                stream = self.reasoning if self.thinking else self.content
                turn.flow = stream.flow(self._markers.first)
            return False
        if turn.final and (found is None or found.role == "mention") and self._breaks_off():
            return False
        self.write(found.start if found else len(turn.text))
        if found is None or not found.role:
            return False
        if self.draft_end is not None:
            return False
        found = self._header_in(found)
        if self._is_text(found):
            self.write(max(found.end, found.start + 1))  # an object's beginning has no length
        elif self.may_draft and self.thinking and found.role in DRAFTED:
            self.draft_start = found.start
            return False
        elif self.is_draft and found.role in ("reasoning_start", "reasoning_end", "between"):
            self.draft_end = turn.offset + found.start
            return False
        else:
            self._pass_marker(found)
        return True

    def _header_in(self, found: Found) -> Found:
        """Return the header of content with which a call's head begins, if it names no tool."""
        if found.role not in DRAFTED or not found["name_again"]:
            return found
        header = self._headers.match(self.turn, found.start)
        is_tool = self.calls is not None and self.calls.knows(found["name"])
        return header if header and header.role and not is_tool else found

    def _is_first(self) -> bool:
        """Say whether there was no content yet, and nothing that stands before it."""
        return not (self.thinking or self.called or self.content.begun)

    def _pass_noise(self, noise: Found) -> bool:
        """Leave out brackets and fences that close nothing, between a call and another marker."""
        if noise.role:
            self.turn.problem("stray_marker", f"{noise.text.strip()!r} after a call")
            self.turn.position = noise.end
        return bool(noise.role)

    def write(self, end: int) -> None:
        """Add the turn's text up to a position to what is being read."""
        turn = self.turn
        if turn.tokens:
            turn.tell_tokens(end)
        text = turn.text[turn.position : end]
        if self.after_marker and text.strip(WHITE_SPACE):
            self._begin_piece(text)
        (self.reasoning if self.thinking else self.content).write(text, turn.offset + end)
        turn.position = end

    def _begin_piece(self, text: str) -> None:
        self.after_marker = False
        if self.is_draft and self.draft_end is None:
            space = len(text) - len(text.lstrip(WHITE_SPACE))
            self.draft_end = self.turn.offset + self.turn.position + space
        if self.called and not self.thinking and not self._content_last:
            start = self.turn.offset + self.turn.position
            start += len(text) - len(text.lstrip(WHITE_SPACE))
            self.turn.problems.append(Problem(start, "misplaced", "content after a call"))

    def _is_text(self, found: Found) -> bool:
        """Say whether a marker is text: what it announces or closes isn't there."""
        if found.role in ("reasoning_start", "reasoning_end"):
            return not self.thinking and self._is_quoted(found)
        closes = found.role in ("call_end", "section_end")
        if closes and self.thinking and not self.called:
            return True
        if found.role == "mention" or (closes and self.mentioned) or self._is_for_user(found):
            self.mentioned = True  # what closes it is text as well
            return True
        return self.calls is not None and self.calls.is_text(found)

    def _is_for_user(self, found: Found) -> bool:
        """Say whether a call stands in a message for the user, and no special token is in it."""
        is_call = self.is_content and found.role in DRAFTED
        return is_call and not self.turn.holds_token(found.start, found.end)

    def _is_quoted(self, found: Found) -> bool:
        """Say whether content is about a marker of reasoning: in quotes, or closing such a one."""
        if not self.marks.get("start") or self._ends_turn or self._ends_content:
            return False
        pending, self._quoted = self._quoted, False
        if found.role == "reasoning_end" and pending:
            return True
        quoted = not self.after_marker and self.content.ends_in("\"'`")
        self._quoted = quoted and found.role == "reasoning_start"
        return quoted

    def _pass_marker(self, found: Found) -> None:
        turn = self.turn
        closes = self.thinking and found.role in ("reasoning_end", "between")
        inline = self.inline and (found.role == "reasoning_start" or closes)
        if inline:
            marker = self.marks["end"][0] if found.role == "between" else found.text
            self.content.quote(marker, turn.offset + found.start)
        for word in found.words if self.compiled.words else ():
            if word not in self.compiled.words:
                turn.problem("unexpected_text", f"{word!r} in {found.text!r}")
        ends_call = found.role in ("call_end", "section_end")
        if self.after_marker and (self._last == "opening" or ends_call):
            del self.content.space[self._spaces :]  # it stands between the markers of a call
        if found.role in self._passes:
            self._passes[found.role](found)
        elif self.calls is not None:
            self.calls.pass_marker(found)
        turn.position = found.end
        self.after_marker = not inline
        self._spaces = len(self.content.space)
        self._last = found.role

    def _open_reasoning(self, found: Found) -> None:
        for text in found.missing:
            self.turn.problem("missing_marker", f"{text!r} is missing")
        late = self.called or (self.content.begun and not self.inline)
        if self.thinking:
            self.turn.problem("repeated", f"{found.text!r} in the reasoning")
        elif late and self.table["order"][0] == "reasoning":
            self.turn.problem("misplaced", "reasoning after content or calls")
        self.thinking, self.is_content = True, False

    def _close_reasoning(self, found: Found) -> None:
        if not self.thinking and self._ends_turn:
            self.turn.read = self.read_rest
        elif not self.thinking and self.content.begun and not self._ends_content:
            self.turn.problem("stray_marker", f"{found.text!r} outside reasoning")
        self.thinking = False

    def _pass_between(self, found: Found) -> None:
        """What stands between parts closes reasoning, if only by the end that is part of it."""
        has_end = bool(self.marks.get("end")) and not self.may_stay_open
        if self.thinking and has_end and not self._holds_end(found.text):
            self.turn.problem("unclosed", "the reasoning was not closed")
        self.thinking = False
        self.is_content = False
        if found.role == "content_start":
            self.begin_content()

    def begin_content(self) -> None:
        """Read a message that is no call, whatever it quotes, if its header says who it is for."""
        self.is_content = self.table.get("content", {}).get("addressed", False)

    def _repeat(self, found: Found) -> None:
        self.turn.problem("repeated", f"{found.text!r} once more")

    def _end_turn(self, found: Found) -> None:
        self.turn.read = self.read_rest
        if self.may_stay_open or not self.marks.get("end"):
            self.thinking = False

    def _breaks_off(self) -> bool:
        """Say whether the text ends in a marker that should go on: that is no content."""
        turn = self.turn
        begun = self.compiled.markers(self._begun).search(turn, final=False)
        if begun is None or begun.role:
            return False
        blank = not turn.text[turn.position : begun.start].strip(WHITE_SPACE)
        behind_call = self.called and self.after_marker and blank
        if not behind_call and not self._openings.match(turn, begun.start, final=True):
            return False
        self.write(begun.start)
        turn.problem("cut_off", begun.text)
        turn.position = len(turn.text)
        return True

    def read_rest(self) -> bool:
        """Read what follows the turn's end: ends once more, and what is no content."""
        turn = self.turn
        found = None if self._rest else self._ends.match(turn)
        if found and not found.role:
            return False
        if found and found.end > turn.position:
            turn.position = found.end
            return True
        self._rest.append(turn.text[turn.position :])
        turn.position = len(turn.text)
        return False

    def _pass_over(self, found: Found) -> None:
        """Such a marker ends text, and that is all."""

    def _holds_end(self, text: str) -> bool:
        ends = ("".join(end.split()) for end in self.marks.get("end", ()))
        return any(end in "".join(text.split()) for end in ends)

    def follow(self, other: Text) -> None:
        """Go on behind a turn's end that was read elsewhere."""
        self._rest, other._rest = other._rest, []
        self.turn.read = self.read_rest

    def begin_call(self) -> None:
        """Leave text for a call, and tell where none belongs."""
        has_end = bool(self.marks.get("end") or self.table.get("between"))
        if self.thinking and has_end and not self.may_stay_open:
            self.turn.problem("unclosed", "a call inside the reasoning")
        else:
            self.thinking = False
        if self._content_last and self.content.begun and not self.inline:
            self.turn.problem("misplaced", "a call after content")
        self.mentioned = False

    def finish(self) -> None:
        """Tell what is missing or too much at the end of the text."""
        turn = self.turn
        may_be_open = self.marks.get("may_end_turn") or (self.may_stay_open and self.called)
        if self.thinking and not may_be_open:
            self.thinking = False
            if all(problem.kind != "unclosed" for problem in turn.problems):
                turn.problem("unclosed", "the reasoning was not closed")
        rest = "".join(self._rest).lstrip(WHITE_SPACE)
        self._rest = [""] if self._rest else []  # told once, though it may be asked for again
        if rest:
            start = turn.offset + turn.position - len(rest)
            turn.problems.append(Problem(start, "text_after_end", rest))
