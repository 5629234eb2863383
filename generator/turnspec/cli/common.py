"""What the commands share: their usual options, and the repository they work on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.finding import fetched_path
from turnspec.cli.console import AS_JSON, ERR, Fault, or_fault, print_notice, progress_bar
from turnspec.explain.tools import read_tools
from turnspec.pipeline.project import Project
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.hub_place import Fetch, HubModel
from turnspec.spec.input_files import file_text, standard_input
from turnspec.spec.problems import Problem

if TYPE_CHECKING:
    from turnspec.cases.tokens import Vocabulary

Command = TypeVar("Command", bound=Callable[..., Any])


class _NamedPath(click.Path):
    """A path of something: none is given by a shell's variable that isn't set, not this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("is empty; . is this folder", param, ctx)
        return super().convert(value, param, ctx)


VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show findings and tracebacks.")
ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The repository of formats to work on (default: the one around this folder).",
)
FOLDER = _NamedPath(path_type=Path, file_okay=False)
SOURCE = _NamedPath(path_type=Path)


class FileText(str):
    """The text of a file that somebody names, with the name that problems call it by."""

    name = "standard input"


class _FileText(click.Path):
    """The text of the file that is named, or of standard input for -; bad UTF-8 is replaced."""

    def convert(self, value: Any, *_: object) -> FileText:
        if value == "-":
            return typed_or_piped()
        text = FileText(file_text(Path(value), "replace"))
        text.name = value
        return text


filename = _FileText(dir_okay=False)


def typed_or_piped() -> FileText:
    """Return the text of standard input."""
    note_typing()
    return FileText(standard_input())


def note_typing() -> None:
    """Say that a command waits for what somebody types, if so it is."""
    if sys.stdin is not None and sys.stdin.isatty():
        print_notice("reading standard input; Ctrl+D ends it")


TOOLS = click.option("--tools", type=filename, help="A JSON file with OpenAI tool definitions.")
THINKING = click.option(
    "--thinking/--no-thinking",
    default=None,
    help="What the prompt said of thinking (default: nothing, the template's own default holds).",
)
_OFFLINE = "turnspec.offline"


def _note_json(context: click.Context, _: click.Parameter, value: bool) -> bool:
    context.meta[AS_JSON] = value
    return value


def json_option(help_text: str) -> Callable[[Command], Command]:
    """Return --json of a command that prints one document with it, problems included."""
    return click.option(
        *("--json", "as_json"), is_flag=True, is_eager=True, callback=_note_json, help=help_text
    )


JSON = json_option("Print the result as JSON.")


#: For commands that take formats or templates: it is heeded by `fetching`.
HUB_OFFLINE = click.option(
    "--offline",
    is_flag=True,
    expose_value=False,
    callback=lambda context, option, value: context.meta.update({_OFFLINE: value}),
    help="Don't ask the hub for ORG/MODEL (HF_HUB_OFFLINE=1 does the same).",
)
OFFLINE = click.option("--offline", is_flag=True, help="Don't download templates.")
TIME_LIMIT = click.option(
    "--time-limit",
    "limits",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=USUAL_LIMITS.seconds,
    callback=lambda context, option, seconds: replace(USUAL_LIMITS, seconds=seconds),
    help="The time that one template may take before it is refused.",
)


def _vocabulary(_: click.Context, __: click.Parameter, path: Path | None) -> Vocabulary | None:
    if path is None:
        return None
    from turnspec.cases.tokens import Vocabulary  # what few commands need

    return or_fault(Vocabulary.read(path))


TOKENIZER = click.option(
    "--tokenizer",
    type=click.Path(path_type=Path),
    callback=_vocabulary,
    help="The model's tokenizer.json (with the extra tokenizers).",
)
PREFILL = click.option("--prefill", help="The part of the turn that the prompt holds already.")


def find_project(root: Path | None, fault: type[Fault] = Fault) -> Project:
    """Return the repository that a folder (default: the current one) lies in."""
    project = Project.find((root or Path.cwd()).resolve())
    if project is None:
        raise fault(
            "no templates/index.yaml here or above; go to a repository of formats, name one with "
            "--root, or make one: turnspec init"
        )
    return project


def fetching(*, to_keep: bool = False) -> Fetch:
    """Return what fetches templates of models that aren't known, with a line that says so.

    Offline it looks for them in the cache. ``to_keep``: their licences have to allow that.
    """
    offline = click.get_current_context().meta.get(_OFFLINE, False)

    @cache  # who has asked and was refused goes on to what a name says
    def fetch(model: HubModel) -> Path | Problem:
        from turnspec.sources.hub import fetch_model  # which a name doesn't need
        from turnspec.sources.hub_settings import hub_settings

        settings = hub_settings()
        settings = replace(settings, offline=offline or settings.offline)
        with progress_bar("fetching", None):
            return fetch_model(model, settings, print_notice, to_keep=to_keep)

    return fetch


def paths_of(sources: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """Return the paths of some sources, those of models on the hub once they are fetched."""
    places = [fetched_path(str(source), fetching()) for source in sources]
    found = [place for place in places if isinstance(place, Path)]
    return found, [place for place in places if isinstance(place, Problem)]


def project_sources(
    project: Project, *, offline: bool
) -> tuple[list[TemplateSource], list[Problem]]:
    """Fetch and read the templates of a repository; returns them and what went wrong."""
    fetched = fetch_templates(project.root, offline=offline, console=ERR)
    for notice in fetched.notices:
        print_notice(str(notice))
    sources, problems = read_sources(project, fetched.templates)
    return sources, [*fetched.problems, *problems]


def tool_definitions(text: FileText | None) -> list[dict[str, Any]] | None:
    """Return the tool definitions in a text; None where there is none."""
    if text is None:
        return None
    found = read_tools(text)
    if isinstance(found, str):
        raise Fault(f"{text.name}: {found}")
    return found
