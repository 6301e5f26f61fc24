"""What the command `ordsvm` starts: outside of the package, so that Ctrl-C is understood while that is imported."""

from __future__ import annotations

import codecs
import os
import sys
from typing import Any

INTERRUPTED, NOT_READ = 130, 1
# What stands for signs that an output cannot hold, as ASCII and cp1252 cannot hold the minus sign.
SIGNS = {"–": "-", "—": "-", "−": "-", "…": "...", "±": "+-", "·": ".", "×": "x", "≤": "<=", "█": "#", "━": "-"}
FIRST_BYTE = 0xDC00  # a byte of a file's name that is not UTF-8 is a character from here on


def main() -> None:
    prepare_streams()
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("ordsvm: Interrupted: nothing was written.", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:  # as of `ordsvm predict ... | head`
        code = NOT_READ
    except OSError as error:
        print(f"ordsvm: standard output can't be written ({error.strerror}).", file=sys.stderr)
        code = NOT_READ
    try:
        sys.stdout.flush()
    except OSError:  # said above; Python would say it again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == INTERRUPTED:  # threads may still be at work, and are not waited for
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def prepare_streams() -> None:
    """Make standard output and standard error take any text, also where they are closed or hold few signs."""
    if None in (sys.stdin, sys.stdout, sys.stderr):  # or files that are opened later would take their numbers
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    codecs.register_error("ordsvm", _plain_signs)
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="ordsvm")


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII for what an output cannot hold: similar signs, or escapes as in Python."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    return "".join(SIGNS.get(sign) or _escaped(sign) for sign in signs), error.end


def _escaped(sign: str) -> str:
    byte = ord(sign) - FIRST_BYTE
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else sign.encode("ascii", "backslashreplace").decode()


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
