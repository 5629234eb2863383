"""`turnspec live`: real llama.cpp inference, streamed into the generated parsers."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli import common
from turnspec.cli.console import Misuse, or_fault
from turnspec.cli.formats import catalog_of, format_names

_SEEDS = 4
_FREE_SEEDS = 5
_REAL_SEEDS = 2  # with so many tokens a turn takes a while
_QUESTION = "What is the weather like in Paris today?"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=format_names)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help=f"How many turns of each kind (default: {_SEEDS}; with --model 1, or "
    f"{_FREE_SEEDS} with --free).",
)
@click.option(
    "--real-vocabularies",
    "real",
    is_flag=True,
    help="Only formats with a vocabulary of real models, on models of random weights over it.",
)
@click.option("--record", is_flag=True, help="Write specs/live.json and the index table.")
@common.OFFLINE
@common.JSON
@click.option(
    "--model", type=click.Path(path_type=Path), metavar="PATH.gguf", help="Run a model of yours."
)
@click.option("--prompt", help="What to ask the model.")
@common.TOOLS
@click.option("--free", is_flag=True, help="No grammar: how often does the model keep its format?")
@common.THINKING
@click.option("--max-tokens", type=click.IntRange(min=1), default=512)
@click.option("--threads", type=click.IntRange(min=1), help="For --model (default: all cores).")
@common.ROOT
def live(
    names: tuple[str, ...],
    seeds: int | None,
    real: bool,
    record: bool,
    offline: bool,
    as_json: bool,
    model: Path | None,
    prompt: str | None,
    tools: common.FileText | None,
    free: bool,
    thinking: bool | None,
    max_tokens: int,
    threads: int | None,
    root: Path | None,
) -> None:
    """Run llama.cpp on real prompts, and stream what it writes into the parsers.

    Without --model a tiny model of random weights runs for each format, under a grammar for a few
    tools: nothing that it writes may be a problem for the parser, or may break the tools' schemas.
    With --real-vocabularies it writes in the tokens of real models (Qwen, Llama, Gemma, …), where a
    format has the markers of one. With --model, shows how your model answers: reasoning, content,
    and calls, which are not executed. Its format follows from the template that it carries. Exit
    code 1 if a turn failed; with --free turns are only counted.

    \b
    Example:
      turnspec live qwen3-coder --seeds 8
      turnspec live google-gemma-4-31b-it --real-vocabularies
      turnspec live --model model.gguf --prompt 'Is it raining in Oslo?' --tools tools.json
    """  # noqa: D301
    if model is None and (prompt or tools or free or thinking is not None):
        raise Misuse("--prompt, --tools, --free and --thinking go with --model")
    if model is not None and (names or record or real):
        raise Misuse("--model goes without names, --record and --real-vocabularies")
    if real and (record or as_json):
        raise Misuse("--real-vocabularies goes without --record and --json")
    if names and record:
        raise Misuse("--record keeps the figures of all formats: give no names")
    from turnspec.verification.llama_cpp_library import llama_library

    or_fault(llama_library())
    # numpy, which the rest needs, takes a while to load.
    from turnspec.cli.live_runs import run_formats, run_model
    from turnspec.live.user_model import Wish

    if model is not None:
        wish = Wish(
            prompt or _QUESTION,
            common.tool_definitions(tools) or (),
            thinking=thinking,
            free=free,
            limit=max_tokens,
            threads=threads or 0,
        )
        turns = seeds or (_FREE_SEEDS if free else 1)
        run_model(model, wish, turns, catalog_of(root), as_json=as_json)
        return
    if record:
        common.find_project(root)
    seeds = seeds or (_REAL_SEEDS if real else _SEEDS)
    options = {"real": real, "record": record, "offline": offline, "as_json": as_json}
    run_formats(catalog_of(root), names, seeds, **options)
