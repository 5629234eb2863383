"""``turnspec render``: a conversation as the prompt of a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from turnspec.chat import NAMED_FORMATS, ChatError, ChatTemplate, Prompt
from turnspec.chat.summary import summary
from turnspec.cli.console import finish, json_text, print_error
from turnspec.pipeline.project import Project
from turnspec.spec.problems import Problem

_TEXT_FILE = click.File("r", encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class _Given:
    """What is to be rendered, and how."""

    messages: list[Any]
    tools: list[Any]
    options: Mapping[str, Any]


@click.command()
@click.argument("source")
@click.argument("messages", type=_TEXT_FILE, default="-")
@click.option("--tools", type=_TEXT_FILE, help="A JSON file with tool definitions.")
@click.option("--template", help="Use this .jinja file or named format, not the model's own.")
@click.option("--variant", help="Use the model's template of this name, with tools or without.")
@click.option("--bos", help="The text of bos_token, instead of the vocabulary's.")
@click.option("--eos", help="The text of eos_token, instead of the vocabulary's.")
@click.option("--no-generation-prompt", is_flag=True, help="Leave out what leads to an answer.")
@click.option("--continue", "go_on", is_flag=True, help="Let the model continue the last message.")
@click.option("--thinking/--no-thinking", default=None, help="Turn thinking on or off.")
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="A variable's value.")
@click.option("--now", type=click.DateTime(), help="The time that the template may write.")
@click.option("--increments", is_flag=True, help="Print what each message adds, a JSON line each.")
@click.option("--grammar", type=_TEXT_FILE, help="Print a grammar of answers for a JSON Schema.")
@click.option("--capabilities", is_flag=True, help="Print what the template can do; no messages.")
@click.option("--json", "as_json", is_flag=True, help="Print prompt, prefill and notes as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
def render(
    source: str,
    messages: Iterable[str],
    tools: Iterable[str] | None,
    template: str | None,
    variant: str | None,
    bos: str | None,
    eos: str | None,
    no_generation_prompt: bool,
    go_on: bool,
    thinking: bool | None,
    variables: tuple[str, ...],
    now: datetime | None,
    increments: bool,
    grammar: Iterable[str] | None,
    capabilities: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Render messages (a JSON file or standard input) as a model's prompt.

    SOURCE is a .jinja file, a model folder, a GGUF file, the name of a template of this checkout,
    or a format: chatml, glm4, llama2, llama3, qwen3. MESSAGES holds a list of messages, or an
    object with messages and tools. What the template lacks is made up for, and told.

    \b
    Example:
      echo '[{"role": "user", "content": "Hello!"}]' | turnspec render chatml
    """  # noqa: D301
    try:
        with _open(source, template, variant, {"bos_token": bos, "eos_token": eos}) as chat:
            for note in () if as_json else chat.notes:
                print_error(f"note: {note}")
            if capabilities:
                found = summary(chat.form, chat.prepared(with_tools=True).spec)
                click.echo(json_text(found, indent=2))
                return
            options: dict[str, Any] = {
                "thinking": thinking,
                "variables": _variables(variables),
                "now": now,
            }
            given = _given(messages, tools, options)
            if increments:
                _print_increments(chat, given)
                return
            prompt = chat.render(
                given.messages,
                tools=given.tools,
                add_generation_prompt=not no_generation_prompt,
                continue_final=go_on,
                **options,
            )
            if grammar is not None:
                schema = _loaded("".join(grammar), "--grammar", dict)
                click.echo(chat.response_grammar(schema, prompt), nl=False)
                return
            _print_prompt(prompt, chat.notes if as_json else None)
    except ChatError as error:
        finish(error.problems)


def _open(
    source: str, template: str | None, variant: str | None, tokens: Mapping[str, Any]
) -> ChatTemplate:
    """Open a file or a folder, a template of the checkout, or a named format."""
    explicit = template
    if template is not None and template.endswith(".jinja"):
        explicit = _read(Path(template))
    if Path(source).exists():
        return ChatTemplate.load(source, template=explicit, variant=variant, **tokens)
    project = Project.find(Path.cwd())
    in_checkout = project is not None and (project.specs / f"{source}.yaml").is_file()
    if project is not None and in_checkout and template is None:
        return ChatTemplate.of_checkout(source, project.root)
    if source in NAMED_FORMATS:
        return ChatTemplate.named(source)
    known = ", ".join(NAMED_FORMATS)
    message = f"no file, no template of a checkout here, and none of the formats {known}"
    raise ChatError([Problem(message, source)])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ChatError([Problem(f"can't be read: {error.strerror}", str(path))]) from None


def _given(
    messages: Iterable[str], tools: Iterable[str] | None, options: Mapping[str, Any]
) -> _Given:
    found = _loaded("".join(messages), "messages", (list, dict))
    request = found if isinstance(found, dict) else {"messages": found}
    definitions = request.get("tools") or []
    if tools is not None:
        definitions = _loaded("".join(tools), "--tools", list)
    said = request.get("messages")
    if not isinstance(said, list) or not isinstance(definitions, list):
        raise ChatError([Problem("give a list of messages, or an object with messages and tools")])
    return _Given(said, definitions, options)


def _loaded(text: str, what: str, kind: type | tuple[type, ...]) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ChatError([Problem(f"not JSON: {error}", path=what)]) from None
    if not isinstance(found, kind):
        raise ChatError([Problem("is JSON, but of another kind than is wanted here", path=what)])
    return found


def _variables(given: tuple[str, ...]) -> dict[str, object]:
    """Return variables with their values, each JSON or else a text."""
    values: dict[str, object] = {}
    for assignment in given:
        name, found, text = assignment.partition("=")
        if not found or not name:
            raise click.BadParameter(f"{assignment}: write NAME=VALUE", param_hint="--var")
        values[name] = _value(text, json.loads)
    return values


def _value(text: str, load: Callable[[str], object]) -> object:
    try:
        return load(text)
    except (ValueError, RecursionError):
        return text


def _print_prompt(prompt: Prompt, notes: Sequence[str] | None) -> None:
    """Print a prompt; with ``notes`` as JSON that holds these, too."""
    polyfills = [polyfill.value for polyfill in prompt.polyfills]
    if notes is None:
        click.echo(prompt.text, nl=False)
        for said in (*polyfills, *prompt.notes):
            print_error(f"note: {said}")
        return
    plain = {
        "prompt": prompt.text,
        "prefill": prompt.prefill,
        "polyfills": polyfills,
        "notes": [*notes, *prompt.notes],
    }
    click.echo(json_text(plain, indent=2))


def _print_increments(chat: ChatTemplate, given: _Given) -> None:
    conversation = chat.conversation(tools=given.tools, **given.options)
    steps = [conversation.add(message) for message in given.messages]
    for step in (*steps, conversation.prompt()):
        plain: dict[str, object] = {"kept": step.kept, "text": step.text}
        if not step.appended:
            plain |= {"dropped": step.dropped, "reason": step.reason}
        click.echo(json_text(plain))
