"""`turnspec export`: a format as other programs read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from turnspec.cases.tokens import Vocabulary
from turnspec.cli import common, console
from turnspec.cli.console import Fault
from turnspec.cli.formats import catalog_of, find, format_names, spec_of
from turnspec.cli.grammar import PARALLEL, TOOL_CHOICE
from turnspec.export.exporting import Exported, ExportOptions, ReasoningField, Refusal
from turnspec.export.response_template import CONFIG_FILE
from turnspec.export.targets import TARGETS, export_format, start_line
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.vendor import own_work
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.model import Spec

_ELSEWHERE = dict.fromkeys(
    ("llama.cpp", "llama-cpp", "llama-server"),
    "for llama-server: turnspec grammar, or examples/proxy",
)


class _Target(click.Choice[str]):
    """A target's name; of programs that read no export it says what is for them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.lower() in _ELSEWHERE:
            self.fail(_ELSEWHERE[value.lower()], param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@click.option(
    *("--to", "target"),
    required=True,
    type=_Target([*TARGETS], case_sensitive=False),
    help="The program that is to read it.",
)
@click.option("--into", type=common.FOLDER, help="The folder to write into (default: print).")
@click.option(
    "--reasoning-field",
    type=click.Choice([field.value for field in ReasoningField]),
    default=ReasoningField.THINKING.value,
    help="The key for reasoning in messages: vLLM and SGLang take only the first.",
)
@click.option(
    "--tokenizer-config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Put the template into a model's tokenizer_config.json.",
)
@common.TOOLS
@TOOL_CHOICE
@common.TOKENIZER
@PARALLEL
@common.THINKING
@click.option(
    "--force",
    is_flag=True,
    help="Export a format that isn't verified, too, and write over edited modules.",
)
@common.JSON
@common.HUB_OFFLINE
@common.ROOT
def export(
    fmt: str,
    target: str,
    into: Path | None,
    reasoning_field: str,
    tokenizer_config: Path | None,
    tools: common.FileText | None,
    tool_choice: str,
    tokenizer: Vocabulary | None,
    parallel: bool,
    thinking: bool | None,
    force: bool,
    as_json: bool,
    root: Path | None,
) -> None:
    """Write a format as another program reads it; what that can't say is told, or refused.

    FORMAT is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a template (a
    .jinja file, a model folder, a GGUF file), or the path of a spec.

    \b
    Example:
      turnspec export qwen3-coder --to response-template
      turnspec export qwen3-coder --to response-template --tokenizer-config tokenizer_config.json
      turnspec export qwen3-coder --to pair --tokenizer-config model/tokenizer_config.json
      turnspec export glm-4-6 --to xgrammar --tools tools.json --into build
    """  # noqa: D301
    known = find(fmt, catalog_of(root))
    spec = spec_of(known)
    judgement = known.judgement()
    if not judgement.is_verified:
        if not force:
            raise Fault(f"{known.name} is {judgement}; to export it all the same, use --force")
        console.print_notice(f"{known.name} is {judgement}")
    options = ExportOptions(
        reasoning_field=ReasoningField(reasoning_field),
        tokenizer_config=_config(tokenizer_config, spec) if tokenizer_config else None,
        request=GrammarRequest(
            tools=common.tool_definitions(tools) or (),
            tool_choice=tool_choice,
            parallel=parallel,
            thinking=thinking,
        ),
        token_ids=tokenizer.added if tokenizer else {},
        module=console.or_fault(known.module()),
        asked=known.asked,
    )
    exported = export_format(spec, target, options)
    if isinstance(exported, Refusal):
        raise Fault(f"{known.name} can't be exported to {target}: {exported}")
    for loss in exported.losses:
        console.print_notice(f"loosened: {loss}")
    folder, in_model = into, False
    if into is None and tokenizer_config is not None:
        in_model = True
        exported = _in_place(exported, tokenizer_config)
        into, folder = Path(), tokenizer_config.parent
    _give(exported, into, as_json=as_json, force=force)
    if folder is not None:
        line = start_line(spec, target, folder, known.asked, in_model=in_model)
        console.print_error(f"to use it: {line}")


def _config(path: Path, spec: Spec) -> Mapping[str, Any]:
    # It brings the analysis along, which no other export needs.
    from turnspec.export.tokenizer_file import read_tokenizer_config

    return console.or_fault(read_tokenizer_config(path, spec))


def _in_place(exported: Exported, path: Path) -> Exported:
    """Return the export with the tokenizer's file in its place, and all others beside it."""
    files = exported.files.items()
    places = {
        str(path if name == CONFIG_FILE else path.parent / name): text for name, text in files
    }
    return replace(exported, files=places)


def _give(exported: Exported, into: Path | None, *, as_json: bool, force: bool) -> None:
    """Write the files, or print them; a file that says the same is left alone."""
    paths = {(into or Path()) / name: text for name, text in exported.files.items()}
    if into is not None:
        # Modules alone tell by themselves whether somebody edited them.
        edited = [] if force else own_work(path for path in paths if path.suffix == ".py")
        if edited:
            raise Fault(*map(str, edited))
        write_all_atomically(paths)
    if as_json:
        losses = [{"what": loss.what, "why": loss.why} for loss in exported.losses]
        console.put_json({"files": dict(exported.files), "losses": losses}, indent=2)
    elif into is not None:
        console.say_written(paths)
    elif len(paths) > 1:
        names = ", ".join(map(str, paths))
        raise console.Misuse(f"these are several files ({names}); give a folder: --into DIR")
    else:
        console.put(*paths.values())
