"""The commands, and what becomes of errors: one line for a mistake of the user, a traceback for one of the program."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer
from sklearn.exceptions import ConvergenceWarning

from ordsvm import __version__
from ordsvm.cli import commands
from ordsvm.cli.machines import machine_classes
from ordsvm.cli.output import Interrupted, messages, note
from ordsvm_command import INTERRUPTED

FAILED = 1

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Support vector ordinal regression: from a file with an ordered column to a model with a proof of quality.",
)
for command in commands.ALL:
    models = f"Models: {', '.join(machine_classes())}." if command.__name__ in ("train", "tune", "compare") else None
    app.command(epilog=models)(command)


def _version(is_given: bool) -> None:
    if is_given:
        print(f"ordsvm {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code."""
    messages.as_json = "--json" in arguments
    said: set[str] = set()
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, kind, *rest, **more: _warn(message, kind, said)
        try:
            code = int(app(args=list(arguments), prog_name="ordsvm", standalone_mode=False) or 0)
            if code == INTERRUPTED:  # Typer has caught a KeyboardInterrupt
                raise KeyboardInterrupt
            return code
        except (Exception, KeyboardInterrupt) as error:
            failure = _failure(error, arguments)
            if failure is None or (failure[1] == FAILED and os.environ.get("ORDSVM_TRACEBACK")):
                raise
            message, code = failure
            if message:
                messages.complain(message, code)
            return code


def _failure(error: BaseException, arguments: Sequence[str]) -> tuple[str, int] | None:
    """The line about an error and the exit code; None if the user could not have avoided it."""
    match error:
        case Interrupted():
            return str(error), INTERRUPTED
        case KeyboardInterrupt() | typer.Abort():
            kept = _checkpoint(arguments)
            what = f"no model was written; the same command goes on from {kept!r}" if kept else "nothing was written"
            return f"Interrupted: {what}.", INTERRUPTED
        case MemoryError():
            return "There is not enough memory for this: give fewer rows, or a smaller cache_size.", FAILED
        case ValueError() | TypeError() | OSError() | ImportError():
            return str(error), FAILED
        case _ if hasattr(error, "format_message"):  # a mistake in the command line itself
            context = getattr(error, "ctx", None)
            where = context.command_path if context is not None else "ordsvm"
            mistake = error.format_message()  # none where the help was shown in its place
            return mistake and f"{mistake} Try '{where} --help'.", int(getattr(error, "exit_code", 2))
    return None


def _checkpoint(arguments: Sequence[str]) -> str:
    """Return the folder given as --checkpoint, if the command has kept something there."""
    folder = ""
    for before, argument in pairwise(["", *arguments]):
        if before == "--checkpoint":
            folder = argument
        elif argument.startswith("--checkpoint="):
            folder = argument.partition("=")[2]
    return folder if folder and os.path.exists(os.path.join(folder, "identity.json")) else ""


def _warn(message: Warning | str, kind: type[Warning], said: set[str]) -> None:
    """A note, unless the command has said it before, as of other rows."""
    if issubclass(kind, UserWarning | ConvergenceWarning) and str(message) not in said:
        said.add(str(message))
        note(str(message))
