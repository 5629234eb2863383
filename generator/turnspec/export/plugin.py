"""Plugins: a format's parser, its spec, and a file that joins them to what serves models.

That file is a banner, the facts of the format, and else what stands in `plugins/`, verbatim.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from importlib import resources

from turnspec.codegen.banner import banner, sealed, with_command
from turnspec.export import plugins
from turnspec.export.exporting import ExportOptions
from turnspec.spec.files import SPEC_SUFFIX, dump_spec, spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.naming import module_name
from turnspec.spec.recipe import Recipe

# Between these lines of a plugin's source stand the stand-ins for the facts.
_FACTS = "# Here an export has the facts of its format.\n"
_COMMON = "# What follows is the same for every format.\n"

#: Constants of a plugin by their names.
Facts = Mapping[str, object]


def plugin_files(
    spec: Spec, options: ExportOptions, *, target: str, about: str, facts: Facts
) -> dict[str, str]:
    """Return the files of a plugin: parser, spec and plugin, by name.

    ``target`` is its name, and that of its source in `plugins/`, as a module's. ``about`` is its
    docstring, with places for the format's ``{name}`` and for its own ``{file}`` and ``{module}``.
    Of ``facts``, its constants, mappings stand on several lines; of ``options`` the parser's
    source is needed.
    """
    module = module_name(spec.name)
    parser = (
        f"import {module} as turn_format  # noqa: E402\n"
        f"from {module} import Parser as StreamingParser  # noqa: E402\n"
    )
    return {
        f"{module}.py": with_command(options.module, _command(spec, options, target)),
        **spec_file(spec, options, target),
        plugin_name(spec, target): plugin_text(spec, options, target, about, facts, parser),
    }


def spec_file(spec: Spec, options: ExportOptions, target: str) -> dict[str, str]:
    """Return the file of the spec that a plugin needs beside it."""
    return {f"{spec.name}{SPEC_SUFFIX}": dump_spec(spec, Recipe(_command(spec, options, target)))}


def plugin_text(
    spec: Spec, options: ExportOptions, target: str, about: str, facts: Facts, parser: str = ""
) -> str:
    """Return the text of a plugin alone, as in `plugin_files`; ``parser`` imports the format's."""
    imports, common = _source(target)
    file = plugin_name(spec, target)
    about = about.format(name=spec.name, file=file, module=file.removesuffix(".py"))
    own = "\n".join(_constants({"NAME": spec.name, **facts}))
    head = f'{_banner(spec, options, target)}"""{about.strip()}\n"""\n\n{imports}{parser}\n'
    return sealed(f"{head}{own}\n\n{_COMMON}{common}")


def plugin_part(spec: Spec, options: ExportOptions, target: str, part: str) -> tuple[str, str]:
    """Return a further file of a plugin, its name and text; it imports the first one."""
    name = f"{_identifier(target)}_{part}"
    source = resources.files(plugins).joinpath(f"{name}.py").read_text("utf-8")
    first = plugin_name(spec, target).removesuffix(".py")
    theirs = source.replace(f"from {plugins.__name__}.{_identifier(target)} ", f"from {first} ")
    return f"{module_name(spec.name)}_{name}.py", sealed(_banner(spec, options, target) + theirs)


def plugin_name(spec: Spec, target: str) -> str:
    """Return the name of a plugin's file."""
    return f"{module_name(spec.name)}_{_identifier(target)}.py"


def _banner(spec: Spec, options: ExportOptions, target: str) -> str:
    place = f"specs/{spec.name}{SPEC_SUFFIX}"
    return banner(place, spec_hash(spec), command=_command(spec, options, target), engine=())


def _command(spec: Spec, options: ExportOptions, target: str) -> str:
    asked = options.asked or spec.name
    return shlex.join(["turnspec", "export", asked, "--to", target, "--into", "."])


def _identifier(target: str) -> str:
    return target.replace("-", "_")


def _source(target: str) -> tuple[str, str]:
    """Return the imports of a plugin's source, and what is the same for every format."""
    file = resources.files(plugins).joinpath(f"{_identifier(target)}.py")
    head, _, common = file.read_text("utf-8").partition(_COMMON)
    imports = head.partition(_FACTS)[0]
    return imports[imports.index("from __future__") :], common


def _constants(facts: Facts) -> Iterator[str]:
    """Yield the lines that give constants their values."""
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield f"{name} = {{"
            yield from (f"    {key!r}: {_literal(item)}," for key, item in value.items())
            yield "}"
        else:
            yield f"{name} = {_literal(value)}"


def _literal(value: object) -> str:
    """Return a value as Python has it; markers are only ever texts between quotes."""
    if isinstance(value, str):
        quote = "'" if '"' in value and "'" not in value else '"'
        return quote + "".join(_character(char, quote) for char in value) + quote
    if isinstance(value, tuple):
        items = ", ".join(map(_literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    return repr(value)


def _character(character: str, quote: str) -> str:
    if character == quote:
        return f"\\{quote}"
    return character if character.isprintable() and character != "\\" else repr(character)[1:-1]
