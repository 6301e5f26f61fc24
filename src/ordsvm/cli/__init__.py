"""The `ordsvm` command."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point: everything heavy is imported after this."""
    try:
        import pandas  # noqa: F401
        import rich  # noqa: F401
        import safetensors  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(f"ordsvm: the command needs {error.name}: pip install 'ordsvm[cli]'.", file=sys.stderr)
        sys.exit(1)
    from ordsvm.cli.app import run

    sys.exit(run(sys.argv[1:]))
