"""The commands, and what becomes of errors: one line for the user's, a traceback only for ours."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer
from sklearn.exceptions import ConvergenceWarning

from ordsvm import __version__
from ordsvm.cli import commands
from ordsvm.cli.output import Interrupted, complain, note

FAILED, INTERRUPTED = 1, 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Support vector ordinal regression: from a file with an ordered column to a model with a proof of quality.",
)
for command in commands.ALL:
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
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
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, kind, *rest, **more: _warn(message, kind)
        try:
            return int(app(args=list(arguments), prog_name="ordsvm", standalone_mode=False) or 0)
        except Interrupted as interruption:
            complain(str(interruption))
            return INTERRUPTED
        except KeyboardInterrupt:
            complain("Interrupted: nothing was written.")
            return INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read the output has seen enough
            return 128 + signal.SIGPIPE
        except MemoryError:
            complain("There is not enough memory for this: give fewer rows, or a smaller cache_size.")
            return FAILED
        except (ValueError, TypeError, OSError, ImportError) as error:
            if os.environ.get("ORDSVM_TRACEBACK"):
                raise
            complain(str(error))
            return FAILED
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            context = getattr(error, "ctx", None)  # a mistake in the command line itself
            where = context.command_path if context is not None else "ordsvm"
            complain(f"{error.format_message()} Try '{where} --help'.")
            return int(getattr(error, "exit_code", 2))


def _warn(message: Warning | str, kind: type[Warning]) -> None:
    if issubclass(kind, UserWarning | ConvergenceWarning):
        note(str(message))
