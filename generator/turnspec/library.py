"""Formats by name, for programs: what `turnspec.load` gives. No host is asked unless that is told.

A known format costs no analysis and no compiler: its module is there as a text, and is run. May
import all but the command line.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import ModuleType, NoneType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast

from turnspec.codegen.banner import is_generated, warning_of
from turnspec.protocol import Format
from turnspec.spec.files import SPEC_SUFFIX, read_spec, spec_hash
from turnspec.spec.input_files import file_text, text_if_there
from turnspec.spec.model import Spec
from turnspec.spec.naming import module_name
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem

if TYPE_CHECKING:
    from turnspec.catalog.known import KnownFormat
    from turnspec.grammar.bound import BoundGrammar, GrammarBinder
    from turnspec.sources.hub_place import HubModel

Value = TypeVar("Value", str, Spec)


class LoadedFormat(Format, Protocol):
    """A format by name: what a vendored module offers, and the format's grammar."""

    @property
    def grammar(self) -> str:
        """The grammar for any tools: GBNF text.

        Raises:
            ValueError: there is none, as a module alone was loaded.
        """

    def bind(
        self,
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        tool_choice: str | Mapping[str, Any] = "auto",
        parallel: bool = False,
        enable_thinking: bool | None = None,
        response_schema: Mapping[str, Any] | bool | None = None,
        loosen: bool = False,
        lazy: bool = True,
        prefill: str | None = None,
    ) -> BoundGrammar:
        """Return the grammar for real tools, and what an engine needs beside it.

        Args:
            tools: OpenAI tool definitions, or just their functions.
            tool_choice: "auto", "required", "none", or the only tool, by its name or as OpenAI has
                it, {"type": "function", "function": {"name": …}}.
            parallel: whether a turn may hold several calls.
            enable_thinking: as for `Parser`: which prompt it is.
            response_schema: a JSON Schema for the content.
            loosen: whether what no grammar can say of a schema is left out, each with a notice.
            lazy: whether the grammar may wait for a call where the model may call tools or not.
            prefill: as for `Parser`: a message that is continued goes on in it.

        Raises:
            ValueError: there is no such grammar; says all reasons.
        """


class _Loaded(ModuleType):
    """A parser's module that knows its format."""

    def __init__(
        self, name: str, text: str, spec: Callable[[], Spec], grammar: Callable[[], str]
    ) -> None:
        super().__init__(name)
        self._text, self._spec, self._grammar = text, spec, grammar

    @property
    def grammar(self) -> str:
        return self._grammar()

    @cached_property
    def _binder(self) -> GrammarBinder:
        from turnspec.grammar.bound import GrammarBinder

        return GrammarBinder(self._spec())

    def bind(
        self,
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        tool_choice: str | Mapping[str, Any] = "auto",
        enable_thinking: bool | None = None,
        **options: Any,
    ) -> BoundGrammar:
        from turnspec.grammar.request import GrammarRequest, chosen_tool

        flags = {"parallel", "loosen", "lazy"} & options.keys()
        _check("True or False", bool, **{name: options[name] for name in flags})
        _check("True, False or None", bool, NoneType, enable_thinking=enable_thinking)
        _check("a list", Sequence, tools=tools)
        _check("a string or None", str, NoneType, prefill=options.get("prefill"))
        choice = chosen_tool(tool_choice)
        bound = self._binder.bind(
            GrammarRequest(tools, choice, thinking=enable_thinking, **options)
        )
        if isinstance(bound, list):
            raise ValueError("; ".join(map(str, bound)))
        return bound


def load_format(fmt: Spec | str | Path, *, fetch: bool = False) -> LoadedFormat:
    """Return a format; see `turnspec.load`."""
    _check("a name, a path or a spec", str, PathLike, Spec, fmt=fmt)
    _check("True or False", bool, fetch=fetch)
    suffix = "" if isinstance(fmt, Spec) else Path(fmt).suffix
    if isinstance(fmt, Spec) or suffix == SPEC_SUFFIX:
        loaded = _of_spec(spec_of(fmt), None if isinstance(fmt, Spec) else Path(fmt).parent)
    elif suffix == ".py":
        loaded = _of_module(Path(fmt))
    else:
        loaded = _of_known(_found(fmt, fetch=fetch))
    if told := warning_of(loaded._text):
        name = fmt.name if isinstance(fmt, Spec) else fmt
        warnings.warn(f"{name}: not verified: {told}", stacklevel=3)
    return cast(LoadedFormat, loaded)


def _check(takes: str, *kinds: type, **options: object) -> None:
    """Raise a ValueError for an option that is of none of these kinds."""
    for name, value in options.items():
        if not isinstance(value, kinds):
            raise ValueError(f"{name}: {value!r:.99} is not {takes}")


def spec_of(fmt: Spec | str | Path, *, fetch: bool = False) -> Spec:
    """Return the spec of what names a format; see `turnspec.load`."""
    if isinstance(fmt, Spec):
        return fmt
    path = Path(fmt)
    if path.suffix == SPEC_SUFFIX:
        return _usable(read_spec(path))
    return _usable(_found(fmt, fetch=fetch).spec())


def _found(fmt: str | Path, *, fetch: bool) -> KnownFormat:
    """Return the format that is named; that this took a guess is a warning where it was named."""
    # Who has a spec at hand needs none of this.
    from turnspec.catalog.catalog import Catalog
    from turnspec.catalog.finding import Found, find_format
    from turnspec.sources.hub_place import HubModel

    found = find_format(str(fmt), Catalog.around(Path.cwd()), _from_hub if fetch else None)
    if not isinstance(found, Found):
        unasked = not fetch and HubModel.read(str(fmt)) is not None
        raise ValueError(f"{found}{'; fetch=True asks the hub for it' if unasked else ''}")
    if found.notice:
        warnings.warn(found.notice, stacklevel=4)
    return found.format


def _from_hub(model: HubModel) -> Path | Problem:
    from turnspec.sources.hub import fetch_model
    from turnspec.sources.hub_settings import hub_settings

    return fetch_model(model, hub_settings())


def _of_known(known: KnownFormat) -> _Loaded:
    module = _Loaded(
        module_name(known.name),
        _usable(known.module()),
        lambda: _usable(known.spec()),
        lambda: _usable(known.grammar()),
    )
    return _run(module)


def _of_module(path: Path) -> _Loaded:
    def refused() -> NoReturn:
        raise ValueError(f"{path}: a parser alone has no grammar; load its format by name")

    try:
        text = file_text(path)
    except OSError as error:
        raise ValueError(f"{path}: {reason(error)}") from None
    if not is_generated(text):  # which may be anything, and is not to be run
        raise ValueError(f"{path}: is no parser that turnspec generated")
    name = module_name(f"file {path.stem}")
    return _run(_Loaded(name, text, refused, refused))


def _of_spec(spec: Spec, folder: Path | None) -> _Loaded:
    """Return a spec's format; its parser's text, where one stands beside it, says what is known."""
    from turnspec.codegen.loading import load

    name = module_name(spec.name)
    text = text_if_there(folder / f"{name}.py") if folder else None
    module = _Loaded(name, text or "", lambda: spec, lambda: _grammar_of(spec))
    vars(module).update(vars(load(spec)))
    return module


def _grammar_of(spec: Spec) -> str:
    from turnspec.grammar.turn import generate_grammar

    return generate_grammar(spec, spec_path=f"{spec.name}{SPEC_SUFFIX}", spec_hash=spec_hash(spec))


def _run(module: _Loaded) -> _Loaded:
    """Run a module's text, once: so what it gives is of the same classes, and can be pickled."""
    name = f"{__package__}.loaded.{module.__name__}"
    there = sys.modules.get(name)
    if isinstance(there, _Loaded) and there._text == module._text:
        return there
    module.__name__ = name
    exec(compile(module._text, f"<{name}>", "exec"), vars(module))
    sys.modules[name] = module
    return module


def _usable(found: Value | Problem | list[Problem]) -> Value:
    """Return what was found, or raise what is wrong with it."""
    if isinstance(found, Problem):
        raise ValueError(str(found))
    if isinstance(found, list):
        raise ValueError("; ".join(map(str, found)))
    return found
