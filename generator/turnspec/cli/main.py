"""The command line: its verbs, and what becomes of errors that no verb expects.

Exit codes: 0 all well; 1 something was wrong with a template, a spec or a file, or files aren't
fresh; 2 the command was used wrongly.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

import click
from rich.markup import escape

from turnspec import __version__
from turnspec.cli.output import ERR

#: The verbs, by what they are for. Each has a module of its name that holds the command.
VERBS = {
    "Formats": {
        "parse": "Parse a model's output with a generated parser.",
        "grammar": "Print a format's grammar for real tools.",
        "vendor": "Copy parsers and grammars into another project, or check the copies.",
        "explain": "Say why a format is what it is, or what its parser does with a text.",
        "render": "Render messages as a model's prompt.",
    },
    "Templates": {
        "analyze": "Analyse any template; write spec, parser and grammar into a folder.",
        "add": "Bring a template into this checkout.",
        "regen": "Analyse all templates; write and verify specs, parsers and grammars.",
        "check": "Say whether specs and generated files are fresh.",
    },
    "Review": {
        "diff": "Say what changed in the formats, by meaning.",
        "report": "Write or serve a page that shows all formats.",
        "live": "Run llama.cpp, and stream what it writes into the parsers.",
    },
}


class Verbs(click.Group):
    """Loads a verb's module when it is used, as most need but a part of the tool."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        return [name for verbs in VERBS.values() for name in verbs]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a verb's command, or None where there is no such verb."""
        if name not in self.list_commands(context):
            return None
        command = getattr(import_module(f"turnspec.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with a sentence each, without loading them."""
        for title, verbs in VERBS.items():
            with formatter.section(title):
                formatter.write_dl(list(verbs.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnspec")
def turnspec() -> None:
    """Find the output format of chat templates; write specs, parsers and grammars.

    \b
    Example:
      turnspec regen                        all templates of this checkout
      turnspec analyze model.jinja --into out   one template, into a folder
    """  # noqa: D301


def main() -> None:
    """Run the command; an unexpected error is one line unless -v is given."""
    try:
        sys.exit(turnspec.main(standalone_mode=False) or 0)
    except click.ClickException as fault:
        fault.show()
        sys.exit(fault.exit_code)
    except (KeyboardInterrupt, click.Abort):
        ERR.print("interrupted; files already written are whole")
        sys.exit(130)
    except Exception as error:
        if "-v" in sys.argv or "--verbose" in sys.argv:
            traceback.print_exc()
        ERR.print(f"[red]internal error:[/red] {type(error).__name__}: {escape(str(error))}")
        ERR.print("(run with -v for the traceback)", style="dim")
        sys.exit(1)
