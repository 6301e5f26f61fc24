"""What the command `ordsvm` starts: outside of the package, so that Ctrl-C is understood while that is imported."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    try:
        code = _run()
    except KeyboardInterrupt:
        print("ordsvm: Interrupted: nothing was written.", file=sys.stderr)
        code = INTERRUPTED
    if code == INTERRUPTED:  # threads may still be at work, and are not waited for
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run() -> int:
    try:
        import pandas  # noqa: F401
        import rich  # noqa: F401
        import safetensors  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(f"ordsvm: the command needs {error.name}: pip install 'ordsvm[cli]'.", file=sys.stderr)
        return 1
    try:
        from ordsvm.cli.app import run
    except ImportError as error:
        if not str(error).startswith("ORDSVM_ISA="):  # what the core says of a value that it cannot use
            raise
        print(f"ordsvm: {error}", file=sys.stderr)
        return 2

    return run(sys.argv[1:])
