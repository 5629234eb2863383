"""The command line: its verbs, and what becomes of errors that no verb expects.

Exit codes: 0 all well; 1 something was wrong with a template, a spec or a file, or files aren't
fresh; 2 the command was used wrongly, or nothing is known by a name; 130 interrupted;
141 nobody reads on.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import signal
import sys
import traceback
from importlib import import_module
from types import FrameType
from typing import NoReturn

import click

from turnspec.cli.console import AS_JSON, Fault, print_error, print_fault, put_json, tell
from turnspec.cli.extras import missing_extra
from turnspec.cli.versions import print_versions
from turnspec.spec.os_reasons import os_message

#: The exit code of a program that Ctrl-C ended, as shells have it.
INTERRUPTED = 130
#: And that of one whose reader has seen enough.
ENOUGH = 141

#: The verbs, by what they are for. Each has a module of its name that holds the command.
VERBS = {
    "Formats": {
        "list": "List the formats that are known.",
        "identify": "Say which known format a model, a template or an output has.",
        "vendor": "Copy parsers and grammars into another project, or check the copies.",
        "parse": "Parse a model's output with a generated parser.",
        "grammar": "Print a format's grammar for real tools.",
        "export": "Write a format as another program reads it.",
        "flags": "Say with which options servers read a model's turns.",
        "explain": "Say why a format is what it is, or what its parser does with a text.",
        "cases": "Write cases of a format for suites that test parsers.",
        "tokens": "Say which tokens a format's markers are.",
        "render": "Render messages as a model's prompt.",
        "mask": "Say which characters of rendered conversations the model wrote.",
    },
    "Templates": {
        "analyze": "Analyse any template; write spec, parser and grammar into a folder.",
        "init": "Make a folder a repository of formats of your own.",
        "add": "Bring a template into this repository, or pin an edited one anew.",
        "remove": "Take a template out of this repository, with all that was made from it.",
        "rename": "Give a template of this repository another name.",
        "regen": "Analyse all templates; write and verify specs, parsers and grammars.",
        "check": "Say whether specs and generated files are fresh.",
        "outdated": "Say which pinned templates have a newer text, and what it changes.",
        "upgrade": "Write specs of an older form in today's.",
    },
    "Review": {
        "diff": "Say what changed in the formats, by meaning.",
        "report": "Write or serve a page that shows all formats.",
        "live": "Run llama.cpp, and stream what it writes into the parsers.",
        "report-problem": "Print what an issue about a template or an output needs to say.",
    },
}

#: Those that build templates, each in a process of its own.
BUILDING = ("analyze", "add", "regen", "check", "explain", "outdated", "report-problem")


#: Of verbs that say nothing more by themselves; `main` looks for it.
_TRACEBACKS = click.Option(
    ("-v", "--verbose"), is_flag=True, expose_value=False, help="Show tracebacks."
)


class Verbs(click.Group):
    """Loads a verb's module when it is used, as most need but a part of the tool."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        return [name for verbs in VERBS.values() for name in verbs]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a verb's command, or None where there is no such verb."""
        if name not in self.list_commands(context):
            return None
        if name in BUILDING and not {"-h", "--help"} & {*sys.argv}:
            from turnspec.rendering.starting import begin_loading

            begin_loading("turnspec.pipeline.processes")
        verb = name.replace("-", "_")
        module = import_module(f"turnspec.cli.{verb}")
        command = getattr(module, verb, None) or getattr(module, f"{verb}_")
        assert isinstance(command, click.Command)
        if not any(option.name == "verbose" for option in command.params):
            command.params.append(_TRACEBACKS)
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that is asked for, or say which may be meant."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError:
            asked, known = args[0], self.list_commands(context)
            close = [verb for verb in known if verb.startswith(asked)]
            close = close or difflib.get_close_matches(asked, known)
            hint = f" (did you mean {' or '.join(close)}?)" if close else ""
            context.fail(f"no command is called {asked!r}{hint}")

    def invoke(self, context: click.Context) -> object:
        """Run a verb. What it can't do is also said in the document that --json promises."""
        try:
            return super().invoke(context)
        except click.UsageError as misuse:  # of a missing value click doesn't say whose it is
            misuse.ctx = misuse.ctx or click.Context(self, context, context.invoked_subcommand)
            raise
        except (Fault, OSError, ModuleNotFoundError) as error:
            fault = _fault(error)
            if fault is None:
                raise
            if context.meta.get(AS_JSON):
                put_json({"problems": fault.lines}, indent=2)
            raise fault from error

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with a sentence each, without loading them."""
        for title, verbs in VERBS.items():
            with formatter.section(title):
                formatter.write_dl(list(verbs.items()))


@click.group(
    cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_versions,
    help="Show the versions of the tool, of specs and of the engines, and exit.",
)
def turnspec() -> None:
    """Find the output format of chat templates; write specs, parsers and grammars.

    \b
    Example:
      turnspec identify model.gguf              which format does a model have?
      turnspec vendor qwen3-coder --into .      copy a parser and a grammar
      turnspec analyze model.jinja --into .     a parser for a template of yours
    """  # noqa: D301


def main() -> None:
    """Run the command; whatever goes wrong is one line unless -v is given."""
    _prepare_streams()
    if callable(signal.getsignal(signal.SIGINT)):  # else a shell has it ignored
        signal.signal(signal.SIGINT, _interrupt)
    try:
        code = turnspec.main(prog_name="turnspec", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as nothing:
        nothing.show()
        code = nothing.exit_code
    except click.UsageError as misuse:
        command = misuse.ctx.command_path if misuse.ctx else "turnspec"
        message = " ".join(misuse.format_message().split()).rstrip(".")
        print_fault(f"{message}; see: {command} --help")
        code = misuse.exit_code
    except click.ClickException as fault:
        fault.show()
        code = fault.exit_code
    except (KeyboardInterrupt, click.Abort):
        tell([("interrupted", "red"), ("; files already written are whole", "")])
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit):  # what click and rich make of the former
        code = ENOUGH
    except Exception as error:
        if "-v" in sys.argv or "--verbose" in sys.argv:
            print_error(traceback.format_exc().rstrip("\n"))
        _explain(error)
        code = 1
    _leave(code)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Have the command end; a further Ctrl-C doesn't disturb it as it does."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _prepare_streams() -> None:
    """Have standard streams show all text, in whatever encoding, and closed ones say so.

    A closed one would lend its number to the next file. So it is opened, but the other way round:
    what is read or written there is an error, which is told; what is told finds no ear.
    """
    modes = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_RDWR))
    for number, (name, mode, flags) in enumerate(modes):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.close(number)
            os.dup2(os.open(os.devnull, flags), number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fault(error: Exception) -> Fault | None:
    """Return what can be said of an error, None where nobody expects it, or is there to hear it."""
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error)
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return Fault(os_message(error))
    return error if isinstance(error, Fault) else None


def _explain(error: Exception) -> None:
    """Say what went wrong, and what to do."""
    if fault := _fault(error):
        fault.show()
    else:
        print_fault(f"{type(error).__name__}: {error}", "internal error:")
        tell([("(run with -v for the traceback)", "dim")])


def _leave(code: int) -> NoReturn:
    """End the program; what standard streams can't take any more isn't tried again.

    Nor does Ctrl-C end it otherwise, while Python takes it down.
    """
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)
