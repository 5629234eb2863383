"""``turnspec render``: a conversation as the prompt of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.finding import template_path
from turnspec.catalog.templates import template_source
from turnspec.chat import NAMED_FORMATS, ChatError, ChatTemplate, Prompt
from turnspec.chat.increments import Conversation
from turnspec.chat.summary import summary
from turnspec.cli.common import HUB_OFFLINE, JSON, FileText, fetching, filename, typed_or_piped
from turnspec.cli.console import ERR, Fault, print_error, put, put_json, say
from turnspec.cli.extras import fetch_hint
from turnspec.cli.formats import catalog_of, find, format_names, spec_of
from turnspec.spec.input_files import file_text
from turnspec.spec.json_values import json_in
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.yaml_text import quoted


@click.command()
@click.argument("source", shell_complete=format_names)
@click.argument("messages", type=filename, required=False)
@click.option("--tools", type=filename, help="A JSON file with tool definitions.")
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
@click.option("--grammar", type=filename, help="Print a grammar of answers for a JSON Schema.")
@click.option("--capabilities", is_flag=True, help="Print what the template can do; no messages.")
@click.option("--fetch", is_flag=True, help="Download a known format's template if it isn't here.")
@JSON
@HUB_OFFLINE
def render(
    source: str,
    messages: FileText | None,
    tools: FileText | None,
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
    grammar: FileText | None,
    capabilities: bool,
    fetch: bool,
    as_json: bool,
) -> None:
    """Render messages (a JSON file or standard input) as a model's prompt.

    SOURCE is a template (a .jinja file, a model folder, a GGUF file), the name or alias of a known
    format (see turnspec list), a model on the hub (ORG/MODEL), or a format of turnspec's own:
    chatml, glm4, llama2, llama3, qwen3. MESSAGES holds a list of messages, or an object with
    messages and tools. What the template lacks is made up for, and told. The prompt goes to a file
    or a pipe to the byte; a terminal shows what it would obey as escapes.

    \b
    Example:
      echo '[{"role": "user", "content": "Hello!"}]' | turnspec render chatml
    """  # noqa: D301
    try:
        tokens = {"bos_token": bos, "eos_token": eos}
        with open_chat(source, template, variant, tokens, fetch=fetch) as chat:
            for note in () if as_json else chat.notes:
                print_error(f"note: {note}")
            if capabilities:
                found = summary(chat.form, chat.prepared(with_tools=True).spec)
                put_json(found, indent=2)
                return
            values = _variables(variables)
            options: dict[str, Any] = {"thinking": thinking, "variables": values, "now": now}
            text = typed_or_piped() if messages is None else messages
            said, definitions = _given(text, tools)
            if increments:
                _print_increments(chat.conversation(tools=definitions, **options), said)
                return
            prompt = chat.render(
                said,
                tools=definitions,
                add_generation_prompt=not no_generation_prompt,
                continue_final=go_on,
                **options,
            )
            if grammar is not None:
                put(chat.response_grammar(_loaded(grammar, dict), prompt))
                return
            _print_prompt(prompt, chat.notes if as_json else None)
    except ChatError as error:
        raise Fault(*map(str, error.problems)) from None


def open_chat(
    source: str,
    template: str | None = None,
    variant: str | None = None,
    tokens: Mapping[str, Any] = MappingProxyType({}),
    *,
    fetch: bool,
) -> ChatTemplate:
    """Open a file or a folder, a format of our own, or a known one. Raises ChatError."""
    explicit = template
    if template is not None and template.endswith(".jinja"):
        explicit = file_text(Path(template))
    catalog = catalog_of(None)
    from_hub = fetching()
    place = template_path(source, catalog, from_hub)
    if isinstance(place, Path):
        return ChatTemplate.load(place, template=explicit, variant=variant, **tokens)
    if source in NAMED_FORMATS and source not in catalog.formats:
        return ChatTemplate.named(source)
    known = find(source, catalog, from_hub)
    spec = spec_of(known)
    if explicit is not None:
        return ChatTemplate.of_text(explicit, **tokens)
    found = template_source(known, fetch=fetch, console=ERR)
    if isinstance(found, TemplateSource):
        return ChatTemplate.of_spec(spec, found.text, **tokens)
    if not fetch:
        print_prompts(spec)
        hint = f"; {fetch_hint('render', source)}" if known.entry else ""
        found = replace(found, message=f"{found.message}{hint}")
    raise ChatError([found])


def print_prompts(spec: Spec) -> None:
    """Print what a spec alone says of prompts: how they lead to an answer."""
    thinking = spec.thinking
    titles = {None: "a prompt ends with", True: "with thinking", False: "without thinking"}
    for enable in thinking.choices:
        say(f"{titles[enable]}: {quoted(thinking.state(enable).prompt)}")
    if spec.turn.stop:
        say(f"an answer ends with: {', '.join(map(quoted, spec.turn.stop))}")


def _given(messages: FileText, tools: FileText | None) -> tuple[list[Any], list[Any]]:
    found = _loaded(messages, (list, dict))
    request = found if isinstance(found, dict) else {"messages": found}
    definitions = request.get("tools") or []
    if tools is not None:
        definitions = _loaded(tools, list)
    said = request.get("messages")
    if not isinstance(said, list) or not isinstance(definitions, list):
        raise ChatError([Problem("give a list of messages, or an object with messages and tools")])
    return said, definitions


def _loaded(text: FileText, kind: type | tuple[type, ...]) -> Any:
    try:
        found = json_in(text)
    except (ValueError, RecursionError) as error:
        told = f"not JSON: {error}" if text.strip() else "is empty, where JSON is wanted"
        raise ChatError([Problem(told, text.name)]) from None
    if not isinstance(found, kind):
        told = "is JSON, but of another kind than is wanted here"
        raise ChatError([Problem(told, text.name)])
    return found


def _variables(given: tuple[str, ...]) -> dict[str, object]:
    """Return variables with their values, each JSON or else a text."""
    values: dict[str, object] = {}
    for assignment in given:
        name, found, text = assignment.partition("=")
        if not found or not name:
            raise click.BadParameter(f"{assignment}: write NAME=VALUE", param_hint="--var")
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            values[name] = text
    return values


def _print_prompt(prompt: Prompt, notes: Sequence[str] | None) -> None:
    """Print a prompt; with ``notes`` as JSON that holds these, too."""
    polyfills = [polyfill.value for polyfill in prompt.polyfills]
    if notes is None:
        put(prompt.text)
        for said in (*polyfills, *prompt.notes):
            print_error(f"note: {said}")
        return
    plain = {"prompt": prompt.text, "prefill": prompt.prefill, "polyfills": polyfills}
    put_json({**plain, "notes": [*notes, *prompt.notes]}, indent=2)


def _print_increments(conversation: Conversation, messages: Sequence[Any]) -> None:
    steps = [conversation.add(message) for message in messages]
    for step in (*steps, conversation.prompt()):
        plain: dict[str, object] = {"kept": step.kept, "text": step.text}
        if not step.appended:
            plain |= {"dropped": step.dropped, "reason": step.reason}
        put_json(plain)
