"""The core's tests compiled for Windows and macOS on Linux, warnings being errors: `make test-systems`.

    python tools/systems.py [SYSTEM ...] [--cmake CMAKE]    those of SYSTEMS, or all

The compiler is the clang of the package ziglang, with its libc++ and what it has of other systems' headers and
libraries: not Apple's clang and SDK, nor clang-cl with Microsoft's. A program for Windows is run where wine is found,
one for macOS cannot be: it is linked. The exit status is 1 where a compilation or a test fails.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {  # zig's name: CMake's names of system and processor
    "x86_64-windows-gnu": ("Windows", "AMD64"),
    "aarch64-macos": ("Darwin", "arm64"),
    "x86_64-macos": ("Darwin", "x86_64"),
}
WRAPPER = """#!{python}
import os, sys

arguments = ["-march=x86_64" if each == "-march=x86-64" else each for each in sys.argv[1:]]  # as zig spells it
os.execv({zig!r}, [{zig!r}, {tool!r}, *{options!r}, *arguments])
"""


def zig() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise SystemExit("The package ziglang is not installed: make test-systems installs it.")
    return Path(found.origin).parent / "zig"


def wrapper(folder: Path, tool: str, *options: str) -> Path:
    """A program that CMake takes for the compiler, or for what belongs to it."""
    script = folder / f"zig-{tool.replace('+', 'x')}"
    script.write_text(WRAPPER.format(python=sys.executable, zig=str(zig()), tool=tool, options=list(options)))
    script.chmod(0o755)
    return script


def build(system: str, cmake: str) -> Path:
    """Compiles the core's tests and returns the program."""
    folder = ROOT / "build" / f"core-{system}"
    folder.mkdir(parents=True, exist_ok=True)
    name, processor = SYSTEMS[system]
    options = {
        "SYSTEM_NAME": name,
        "SYSTEM_PROCESSOR": processor,
        "CXX_COMPILER": wrapper(folder, "c++", "-target", system),
        "AR": wrapper(folder, "ar"),
        "RANLIB": wrapper(folder, "ranlib"),
        "OSX_SYSROOT": "",
        "BUILD_TYPE": "Release",
        "COMPILE_WARNING_AS_ERROR": "ON",
    }
    given = [f"-DCMAKE_{key}={value}" for key, value in options.items()]
    environment = os.environ | {f"ZIG_{kind}_CACHE_DIR": str(ROOT / "build" / "zig") for kind in ("LOCAL", "GLOBAL")}
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "env": environment}
    subprocess.run([cmake, "-S", ROOT, "-B", folder, *given], **quiet)
    subprocess.run([cmake, "--build", folder, "-j", "2"], **quiet)
    return folder / ("core_tests.exe" if name == "Windows" else "core_tests")


def passes(system: str, cmake: str) -> bool:
    try:
        program = build(system, cmake)
        if system.endswith("macos"):
            print(f"{system}: the core's tests are compiled and linked; nothing here runs them", flush=True)
        elif not shutil.which("wine"):
            print(f"{system}: the core's tests are compiled and linked; wine would run them", flush=True)
        else:
            subprocess.run(["wine", program], check=True, env=os.environ | {"WINEDEBUG": "-all"})
            print(f"{system}: the core's tests pass", flush=True)
    except subprocess.CalledProcessError as error:
        print(f"{system}: {' '.join(Path(part).name for part in error.cmd[:2])} failed", flush=True)
        return False
    return True


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="The core's tests for other systems.")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--cmake", default="cmake")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.systems if name not in SYSTEMS]:
        parser.error(f"{', '.join(unknown)}: systems are {', '.join(SYSTEMS)}")
    results = [passes(name, given.cmake) for name in given.systems or SYSTEMS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
