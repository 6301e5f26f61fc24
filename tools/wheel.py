"""A wheel as users get it: built from the source archive, checked, and used where there is no compiler.

    python tools/wheel.py [--python PYTHON]   all of it (make wheel); PYTHON is the interpreter that the wheel is for
    python tools/wheel.py --check             the second step alone, of all that is in dist
    python tools/wheel.py --installed         the last step alone, with the ordsvm that this Python has

Steps: `build` makes a source archive and a wheel of it, in dist, whose instruction sets must share no function
(tools/shared_symbols.py); auditwheel names the oldest Linux that the wheel runs on; twine, check-wheel-contents and,
for a wheel that serves several versions of Python, abi3audit look at it. Then it is installed into an environment of
its own, without any compiler on the path, where `ordsvm demo` and some tests run.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARE = ROOT / "build" / "bare"
MAX_BYTES = 3 << 20
SLICE = ("certify", "labels", "output", "predictors", "problem", "thresholds")  # tests of some seconds
NEEDS = ("pytest", "hypothesis", "clarabel", "polars")  # of these tests; pyproject.toml repeats them for cibuildwheel


def run(*command: object, **options: object) -> None:
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def build(python: str) -> Path:
    """Makes dist anew and returns the wheel there; what it was built of is in build/wheel."""
    dist, objects = ROOT / "dist", ROOT / "build" / "wheel"
    shutil.rmtree(dist, ignore_errors=True)
    shutil.rmtree(objects, ignore_errors=True)
    environment = dist / "build"
    run(python, "-m", "venv", environment)
    run(environment / "bin" / "python", "-m", "pip", "install", "-q", "build")
    run(environment / "bin" / "python", "-m", "build", "--outdir", dist, f"-Cbuild-dir={objects}", ROOT)
    shutil.rmtree(environment)
    if sys.platform == "linux":
        run(sys.executable, ROOT / "tools" / "shared_symbols.py", objects)
    return next(dist.glob("*.whl"))


def check(wheel: Path) -> None:
    tool = Path(sys.executable).parent
    archive = next(wheel.parent.glob("*.tar.gz"))
    if "linux" in wheel.name and sys.platform == "linux":
        run(tool / "auditwheel", "show", wheel)
    run(tool / "twine", "check", "--strict", wheel, archive)
    run(tool / "check-wheel-contents", wheel)
    if "-abi3-" in wheel.name:
        run(tool / "abi3audit", "--strict", "--report", wheel)
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB", flush=True)
    if size > MAX_BYTES:
        raise SystemExit(f"A wheel of {size:,} bytes is larger than {MAX_BYTES:,}.")


def install_and_demonstrate(wheel: Path, python: str) -> tuple[float, float]:
    """Seconds of `pip install` and of `ordsvm demo` in BARE, without a compiler; it is installed twice, so that the
    second time, which is measured, shows what a warm cache gives."""
    for _ in range(2):
        shutil.rmtree(BARE, ignore_errors=True)
        run(python, "-m", "venv", BARE)
        start = time.monotonic()
        install(f"{wheel}[cli]")
    installed = time.monotonic()
    run(BARE / "bin" / "ordsvm", "demo", env=bare_environment(), cwd=BARE)
    return installed - start, time.monotonic() - installed


def install(*packages: str) -> None:
    command = [BARE / "bin" / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:"]
    run(*command, *packages, env=bare_environment())


def bare_environment() -> dict[str, str]:
    return os.environ | {"PATH": str(BARE / "bin"), "CC": "/bin/false", "CXX": "/bin/false"}


def use_without_compiler(wheel: Path, python: str) -> None:
    """The demo and a slice of the tests in an environment of their own."""
    installation, demonstration = install_and_demonstrate(wheel, python)
    print(f"Installed in {installation:.1f} s, demonstrated in {demonstration:.1f} s.", flush=True)
    install(*NEEDS)
    run(BARE / "bin" / "python", Path(__file__), "--installed", env=bare_environment(), cwd=BARE)


def use_installed() -> None:
    """Runs the demo and the slice of the tests, in a copy of them that does not see the sources."""
    run(sys.executable, "-m", "ordsvm.cli", "demo")
    tests = Path.cwd() / "ordsvm_tests"
    shutil.rmtree(tests, ignore_errors=True)
    shutil.copytree(
        ROOT / "tests", tests / "tests", ignore=shutil.ignore_patterns("stored_models", "cpp", "__pycache__")
    )
    files = [f"tests/test_{name}.py" for name in SLICE]
    run(sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-o", "markers=slow: long", *files, cwd=tests)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="A wheel as users get it.")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--installed", action="store_true")
    given = parser.parse_args(arguments)
    if given.check:
        for wheel in sorted((ROOT / "dist").glob("*.whl")):
            check(wheel)
        return 0
    if given.installed:
        use_installed()
        return 0
    wheel = build(given.python)
    check(wheel)
    use_without_compiler(wheel, given.python)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
