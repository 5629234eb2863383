"""A worker process that renders untrusted templates, killed when one takes too long.

The parent sends a template's source once and then one set of variables for each rendering. Memory
is limited in the worker by the operating system where it can be. What a template's source says of
itself is found out here too: Jinja computes constant expressions while it looks for variables.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

from jinja2 import Template, TemplateSyntaxError

from turnspec.rendering.environment import create_environment, render_template
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.starting import is_ready, set_up_process, start_process
from turnspec.rendering.variables import TemplateFacts, template_facts

#: Seconds that one rendering (or compiling the template) may take; where a template has a budget,
#: a third of that, if it is more.
TIME_LIMIT = 10.0
_SHARE = 3

ENDED = "the rendering process ended (out of memory?)"


@dataclass(frozen=True, slots=True)
class Rendering:
    """The text that came out, or the error that did instead (then ``text`` is None).

    ``line`` is the template's line for a syntax error. ``fatal``: no rendering of this template
    can be expected to work (a syntax error, a limit hit).
    """

    text: str | None
    error: str = ""
    line: int | None = None
    fatal: bool = False


@dataclass(slots=True)
class _Budget:
    """What is left of a template's limits: until when, and how many renderings."""

    limits: Limits
    ends: float
    renderings: int


#: What the process answers: a rendering, a template's facts, or the branches taken.
Answer = Rendering | TemplateFacts | frozenset[int]


class RenderWorker:
    """Renders templates in a process of its own. Use it as a context manager.

    One template is loaded at a time; a render that hits the time limit ends the process, and the
    next one starts another.
    """

    def __init__(self, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._source: str | None = None
        self._hopeless: dict[str, Rendering] = {}
        self._facts: dict[str, TemplateFacts] = {}
        self._budget: _Budget | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        """Return itself; the process starts with the first template."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next rendering starts another."""
        if self._process is not None and self._is_ready:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None
        self._source = None

    def render(self, source: str, variables: Mapping[str, object]) -> Rendering:
        """Render the template whose text is ``source`` with ``variables``.

        A template that once hit a limit is not tried again. Threads take turns.
        """
        with self._turn:
            if source in self._hopeless:
                return self._hopeless[source]
            rendering = self._render(source, variables)
            if rendering.fatal:
                self._hopeless[source] = rendering
            return rendering

    def facts(self, source: str) -> TemplateFacts:
        """Return what the template's source says of itself; where it hits a limit, only that."""
        with self._turn:
            if source not in self._facts:
                self._facts[source] = self._find_facts(source)
            return self._facts[source]

    @contextlib.contextmanager
    def within(self, limits: Limits) -> Iterator[None]:
        """Let all renderings inside of it together take no more than ``limits`` says.

        The one that would go beyond fails for good. Inside of another one it changes nothing.
        """
        if self._budget is not None:
            yield
            return
        self._budget = _Budget(limits, time.monotonic() + limits.wait, limits.renderings)
        try:
            yield
        finally:
            self._budget = None

    def taken(self) -> frozenset[int]:
        """Return the branches that the renderings since the last time took, failed ones aside.

        Another template, or a process that was ended, begins anew.
        """
        with self._turn:
            found = self._request(("taken", None)) if self._is_ready else None
            return found if isinstance(found, frozenset) else frozenset()

    @contextlib.contextmanager
    def unwitnessed(self) -> Iterator[None]:
        """Let no rendering inside of it count as taking branches: nobody reads what they show."""
        source, kept = self._source, self.taken()
        yield
        self.taken()
        with self._turn:
            if self._is_ready and self._source == source:
                self._request(("took", kept))

    def failure(self, source: str) -> Rendering | None:
        """Return the rendering that hit a limit, or None if none of this template did."""
        return self._hopeless.get(source)

    def _find_facts(self, source: str) -> TemplateFacts:
        if source in self._hopeless:
            return TemplateFacts(error=self._hopeless[source].error)
        if not self._is_ready:
            self._start()
        found = self._request(("facts", source))
        if isinstance(found, TemplateFacts):
            return found
        assert isinstance(found, Rendering)
        self._hopeless[source] = replace(found, fatal=True)
        return TemplateFacts(error=found.error)

    def _render(self, source: str, variables: Mapping[str, object]) -> Rendering:
        if self._budget is not None:
            if not self._budget.renderings:
                most = self._budget.limits.renderings
                error = f"needs more than {most} renderings to be analysed"
                return Rendering(None, error, fatal=True)
            self._budget.renderings -= 1
        if source != self._source or not self._is_ready:
            loaded = self._load(source)
            if loaded.text is None:
                return loaded
        rendered = self._request(("render", dict(variables)))
        assert isinstance(rendered, Rendering)
        return rendered

    def _load(self, source: str) -> Rendering:
        if not self._is_ready:
            self._start()
        self._source = None
        loaded = self._request(("load", source))
        assert isinstance(loaded, Rendering)
        if loaded.text is not None:
            self._source = source
        return loaded

    @property
    def _is_ready(self) -> bool:
        return is_ready(self._process, self._connection)

    def _start(self) -> None:
        self._process, self._connection = start_process(_serve, daemon=True)

    def _request(self, message: tuple[str, object]) -> Answer:
        assert self._connection is not None
        seconds, too_slow = self._time_limit, f"took longer than {self._time_limit:g} s"
        if self._budget is not None:
            limits, left = self._budget.limits, self._budget.ends - time.monotonic()
            seconds = max(seconds, limits.seconds / _SHARE)
            too_slow = f"a rendering took longer than {seconds:g} s (--time-limit allows more)"
            if min(left, limits.seconds) < seconds:
                seconds, too_slow = max(min(left, limits.seconds), 0), limits.too_slow
        try:
            self._connection.send(message)
            if not self._connection.poll(seconds):
                self.close()
                return Rendering(None, too_slow, fatal=True)
            answer: Answer = self._connection.recv()
        except RecursionError:  # nothing was sent
            return Rendering(None, "what it is given is nested too deep")
        except (EOFError, OSError):
            self.close()
            return Rendering(None, ENDED, fatal=True)
        except KeyboardInterrupt:  # what comes yet would be taken for the next answer
            self.close()
            raise
        return answer


def _serve(connection: Connection) -> None:
    """Answer requests until the parent closes the connection."""
    set_up_process(USUAL_LIMITS.memory)
    renderer = TemplateRenderer()
    # The parent closed the connection, or was ended itself, which resets it.
    with contextlib.suppress(EOFError, OSError):
        while True:
            answer = renderer.answer(connection.recv())
            try:
                connection.send(answer)
            except Exception as error:  # what it holds can't be sent
                connection.send(_failure(error))


class TemplateRenderer:
    """What answers requests, in whichever process it is."""

    def __init__(self) -> None:
        self._environment = create_environment()
        self._template: Template | None = None

    def answer(self, request: tuple[str, Any]) -> Answer:
        """Return what a request asks for; whatever an untrusted template raises is a result."""
        try:
            return self._answer(*request)
        except Exception as error:
            return _failure(error)

    def _answer(self, verb: str, payload: Any) -> Answer:
        if verb == "facts":
            return template_facts(payload)
        if verb == "taken":
            taken = frozenset(self._environment.taken)
            self._environment.taken.clear()
            return taken
        if verb == "took":
            self._environment.taken.update(payload)
            return frozenset()
        if verb == "load":
            self._environment.taken.clear()
            self._template = self._environment.from_string(payload)
            return Rendering("")
        assert self._template is not None
        return Rendering(self._rendered(self._template, payload))

    def _rendered(self, template: Template, variables: Mapping[str, object]) -> str:
        """Return what a template renders; where it raises, nobody sees what its branches write."""
        taken = set(self._environment.taken)
        try:
            return render_template(template, variables)
        except BaseException:
            self._environment.taken &= taken
            raise


def _failure(error: Exception) -> Rendering:
    if isinstance(error, MemoryError):
        return Rendering(None, USUAL_LIMITS.too_big, fatal=True)
    message = " ".join(str(error).split()) or "no message"
    if isinstance(error, TemplateSyntaxError):
        return Rendering(None, f"syntax error: {message}", line=error.lineno, fatal=True)
    return Rendering(None, f"{type(error).__name__}: {message}"[:300])
