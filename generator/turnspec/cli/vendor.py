"""`turnspec vendor`: copies of parsers and grammars in other projects."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from turnspec.cli import console
from turnspec.cli.common import FOLDER, HUB_OFFLINE, JSON, ROOT
from turnspec.cli.console import Misuse
from turnspec.cli.formats import catalog_of, find, format_names
from turnspec.codegen.left_out import Extra
from turnspec.pipeline.vendor import CopyState, Vendored, VendoredCopy, check_copies, update_copies
from turnspec.pipeline.vendor import vendor as vendor_parsers
from turnspec.pipeline.vendored_texts import Language
from turnspec.spec.naming import naming_faults

_SHORT = {"ts": Language.TYPESCRIPT, "js": Language.JAVASCRIPT}


@click.command()
@click.argument("names", nargs=-1, metavar="[FORMAT]...", shell_complete=format_names)
@click.option("--into", type=FOLDER, help="The folder to copy into.")
@click.option(
    "--check",
    "checked",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Say which copies in a folder are fresh, stale or edited; 1 if any isn't fresh.",
)
@click.option(
    "--update",
    "updated",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Make the stale copies in a folder anew, each with the options that it was made with.",
)
@click.option("--as", "name", metavar="NAME", help="What to call the files of one format after.")
@click.option(
    "--language",
    type=click.Choice([*(language.value for language in Language), *_SHORT], case_sensitive=False),
    default=Language.PYTHON.value,
    help="The language of the parsers.",
)
@click.option(
    "--typescript",
    "language",
    flag_value=Language.TYPESCRIPT.value,
    help="The same as --language typescript: a .ts file.",
)
@click.option(
    "--javascript",
    "language",
    flag_value=Language.JAVASCRIPT.value,
    help="The same as --language javascript: a plain .mjs file, and its types beside it.",
)
@click.option("--no-grammar", is_flag=True, help="Copy the parsers only.")
@click.option("--protocol", is_flag=True, help="Copy the types that all parsers have in common.")
@click.option(
    "--shared-engine",
    is_flag=True,
    help="Write the engine once, and small parsers that import it from beside them.",
)
@click.option(
    "--without",
    metavar="PARTS",
    callback=lambda _context, _option, value: parts_in(value),
    help="Leave out special-tokens, other-syntax, or both with a comma between them.",
)
@click.option(
    "--force", is_flag=True, help="Copy formats that aren't verified, and write over edited files."
)
@JSON
@HUB_OFFLINE
@ROOT
def vendor(
    names: tuple[str, ...],
    into: Path | None,
    checked: Path | None,
    updated: Path | None,
    name: str | None,
    language: str,
    no_grammar: bool,
    protocol: bool,
    shared_engine: bool,
    without: frozenset[Extra],
    force: bool,
    as_json: bool,
    root: Path | None,
) -> None:
    """Copy generated parsers, with their grammars, into another project; or check the copies.

    FORMAT is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a template (a
    .jinja file, a model folder, a GGUF file), or the path of a spec. Copies all that is asked for
    or nothing, never over a file that somebody edited, and no format that isn't verified; with
    --force it does, and the copies say so.

    \b
    Example:
      turnspec vendor qwen3-coder --into ../my-app/formats
      turnspec vendor SomeOrg/BrandNew-7B model.gguf --into formats
      turnspec vendor qwen3-coder --language typescript --into ../my-page/formats
      turnspec vendor qwen3-coder --without special-tokens,other-syntax --into formats
      turnspec vendor Qwen/Qwen3-32B --as qwen3_32b --into formats
      turnspec vendor --check ../my-app/formats
      turnspec vendor --update ../my-app/formats
    """  # noqa: D301
    common = protocol or shared_engine
    if protocol and language != Language.PYTHON:
        raise Misuse("--protocol is for parsers in Python; others declare their types themselves")
    if without and shared_engine:
        raise Misuse("--without is for whole parsers: a shared engine is that of all formats")
    if name is not None and (len(names) != 1 or naming_faults([name])):
        raise Misuse("--as names the files of one format, with a letter or a digit at least")
    if (names or common) and into is not None and checked is updated is None:
        catalog = catalog_of(root)
        formats = {known.name: known for known in (find(name, catalog) for name in names)}
        done = vendor_parsers(
            formats.values(),
            into,
            language=_SHORT.get(language) or Language(language),
            with_grammar=not no_grammar,
            with_protocol=protocol,
            with_shared_engine=shared_engine,
            without=without,
            name=name or "",
            force=force,
            root=root,
        )
        print_vendored(done, as_json=as_json)
        console.finish(done.problems)
    elif names or into or common or (checked is None) is (updated is None):
        raise Misuse("give formats and --into DIR, or --check DIR or --update DIR alone")
    elif updated is not None:
        done = update_copies(catalog_of(root), updated, force=force)
        print_vendored(done, as_json=as_json)
        console.finish(done.problems)
    elif checked is not None:
        copies = console.or_fault(check_copies(catalog_of(root), checked))
        print_copies(copies, checked, as_json=as_json)
        console.finish((), failed=any(copy.state is not CopyState.FRESH for copy in copies))


def parts_in(value: str | None) -> frozenset[Extra]:
    """Return the parts that an option's value names."""
    words = [] if value is None else [word.strip() for word in value.split(",")]
    if unknown := [word for word in words if word not in list(Extra)]:
        known = " and ".join(Extra)
        raise click.BadParameter(f"{unknown[0]!r} can't be left out; {known} can")
    return frozenset(map(Extra, words))


_COPY_STYLES = {
    CopyState.FRESH: "green",
    CopyState.STALE: "yellow",
    CopyState.EDITED: "red",
    CopyState.GONE: "red",
}


def print_vendored(done: Vendored, *, as_json: bool) -> None:
    """Print which files were copied."""
    if as_json:
        paths = {"written": done.written, "unchanged": done.unchanged}
        data: dict[str, object] = {key: [*map(str, files)] for key, files in paths.items()}
        data["unverified"] = {name: str(known) for name, known in done.unverified.items()}
        console.put_told(data, done.problems)
        return
    console.say_written(done.written)
    for path in done.unchanged:
        console.say(f"{path} is fresh already")
    for name, known in done.unverified.items():
        if not done.problems:
            console.print_notice(f"{name} is {known}; the copies say so")


def print_copies(copies: Sequence[VendoredCopy], folder: Path, *, as_json: bool) -> None:
    """Print what each copy in a folder is, and how to renew those that are stale."""
    if as_json:
        shown = ("name", "state", "reason")
        data = [{"path": str(it.path), **{key: getattr(it, key) for key in shown}} for it in copies]
        console.put_json({"copies": data}, indent=2)
        return
    for copy in copies:
        style = _COPY_STYLES[copy.state]
        reason = f": {copy.reason}" if copy.reason else ""
        console.say_parts([(f"{copy.state:6}", style), (f" {copy.path}{reason}", "")])
    update = shlex.join(["turnspec", "vendor", "--update", str(folder)])
    stale = (copy for copy in copies if copy.state is CopyState.STALE)
    for command in dict.fromkeys(copy.export or update for copy in stale):
        console.print_error(f"to renew what is stale, run: {command}")
