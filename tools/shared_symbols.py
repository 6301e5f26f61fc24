"""Functions that object files of different instruction sets define under one name.

    python tools/shared_symbols.py BUILD [--own]

A linker keeps one of several equal inline functions. Were that one compiled with instructions that a processor lacks,
it would end the process there. So every symbol that files compiled for a set define must bear the set's name:
namespaces see to that, and functions that are always inlined define none. BUILD is a folder of CMake's;
offences are printed, a line each, and the exit status is then 1. With --own those of the standard library do not count:
for builds without optimisation, which show that functions of the core do not rely on it.
"""

import argparse
import platform
import subprocess
import sys
from pathlib import Path

SETS = ("avx2", "avx512") if platform.machine() in ("x86_64", "AMD64") else ()
LOCAL = set("abdrtn")  # kinds of nm that no other file can see


def is_of_library(symbol: str) -> bool:
    """Whether a function is one of the standard library, with types of the core in it or not."""
    return symbol.startswith("std::") or "ordsvm::" not in symbol


def offences(build: Path, own: bool = False) -> list[str]:
    """One line for every symbol that is visible without its set's name, or for objects that are missing."""
    found = []
    for name in SETS:
        objects = sorted(build.glob(f"CMakeFiles/ordsvm_{name}.dir/**/*.o"))
        if not objects:
            found.append(f"{build} has no objects for {name}: build it first")
        for file in objects:
            listed = subprocess.run(
                ["nm", "-C", "--defined-only", str(file)], capture_output=True, text=True, check=True
            )
            for line in listed.stdout.splitlines():
                _, kind, symbol = line.split(maxsplit=2)
                if kind not in LOCAL and f"{name}::" not in symbol and not (own and is_of_library(symbol)):
                    found.append(f"{file.relative_to(build)}: {symbol}")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Functions that files of different instruction sets share.")
    parser.add_argument("build", type=Path)
    parser.add_argument("--own", action="store_true", help="of the core alone")
    given = parser.parse_args(arguments)
    found = offences(given.build, given.own)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
