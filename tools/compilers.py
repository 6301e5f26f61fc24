"""The core's tests, compiled by several compilers, warnings being errors: `make test-clang`, `make test-gcc`.

    python tools/compilers.py g++-11 clang++-15:libc++ [--cmake CMAKE]

A name after a colon is that of clang's standard library (libstdc++ or libc++). Compilers and libraries that are not
found are named and left out. The exit status is 1 where a compiler fails, warns, makes a core that fails its tests or
one whose instruction sets share functions (tools/shared_symbols.py), and where none was found.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_there(name: str) -> bool:
    """Whether the compiler is found, and compiles a program with its library."""
    compiler, _, library = name.partition(":")
    if not shutil.which(compiler):
        return False
    command = [compiler, *([f"-stdlib={library}"] if library else []), "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=b"#include <vector>\n", stderr=subprocess.DEVNULL).returncode == 0


def build(compiler: str, library: str, cmake: str) -> Path:
    """Compiles the core's tests and returns the program."""
    folder = ROOT / "build" / f"core-{compiler}{'-' + library if library else ''}"
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"]
    if library:
        options.append(f"-DCMAKE_CXX_FLAGS=-stdlib={library}")
    subprocess.run([cmake, "-S", ROOT, "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", folder, "-j", "2"], check=True, stdout=subprocess.DEVNULL)
    return folder / "core_tests"


def passes(name: str, cmake: str) -> bool:
    compiler, _, library = name.partition(":")
    try:
        program = build(compiler, library, cmake)
        subprocess.run([sys.executable, ROOT / "tools" / "shared_symbols.py", program.parent], check=True)
        subprocess.run([program], check=True)
    except subprocess.CalledProcessError as error:
        print(f"{name}: {' '.join(Path(part).name for part in error.cmd[:2])} failed", flush=True)
        return False
    print(f"{name}: the core's tests pass", flush=True)
    return True


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="The core's tests by several compilers.")
    parser.add_argument("compilers", nargs="+", metavar="COMPILER[:LIBRARY]")
    parser.add_argument("--cmake", default="cmake")
    given = parser.parse_args(arguments)
    found = [name for name in given.compilers if is_there(name)]
    missing = [name for name in given.compilers if name not in found]
    if missing:
        print(f"not found, and left out: {', '.join(missing)}", flush=True)
    results = [passes(name, given.cmake) for name in found]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
