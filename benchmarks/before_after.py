"""Two wheels of ordsvm in two environments: the seconds of a fit after a change over those before it.

    python -m benchmarks before-after --before OLD.whl --after NEW.whl [--cache DIR] [--alternations 15]

Data are loaded and prepared here and stored in files; a process in each environment (before_after_worker.py, with
nothing but ordsvm's public estimators) reads them once, and then fits one work after the other in turn with the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import works
from benchmarks.contestants import CACHE, TOL
from benchmarks.peer_calls import SMALL_FITS, small_parts, small_work
from benchmarks.results import Row, row
from benchmarks.timing import median_paired_ratio, race
from benchmarks.works import Work, make

ALTERNATIONS, AT_MOST, SMALL = 15, 1.05, 50
WORKER = Path(__file__).with_name("before_after_worker.py")
DEPENDENCIES = ("numpy", "scipy", "scikit-learn")
WORKS = (
    make("SVOR", "california", 10.0, 5000),
    make("SVORIM", "california", 10.0, 2000),
    make("SVC", "a9a"),
    small_work("SVC", SMALL),
)
EXPLANATION = "See seconds: the change made these fits slower, unless the paired ratios scatter around 1."
DATA = (
    f"{works.DATA} small-svc-50: {SMALL_FITS} fits of {SMALL} consecutive rows of california, gamma 1/8. Solver "
    f"'auto', tol {TOL:g}, {CACHE:g} MB of cache, all cores. One wheel in each of two virtual environments "
    "with the same versions of all else; a process in each that has loaded ordsvm and the data and has fitted the work "
    "once beforehand. Seconds of a call of fit; alternations of one call in each, another one first every time. The "
    "figure is the median over the alternations of the ratio of the two."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, required=True, metavar="WHEEL", help="the wheel to compare with")
    parser.add_argument("--after", type=Path, required=True, metavar="WHEEL", help="the wheel that is judged")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keeps the environments here, to be used again")
    parser.add_argument("--alternations", type=int, default=ALTERNATIONS, help="default: %(default)s")


def run(
    quick: bool, before: Path, after: Path, cache: Path | None = None, alternations: int = ALTERNATIONS
) -> list[Row]:
    """A row for every work. Quick: three alternations on 400 rows, no bounds."""
    wheels = {"before": before, "after": after}
    temporary = nullcontext(cache) if cache else tempfile.TemporaryDirectory(prefix="ordsvm-before-after-")
    with temporary as folder, tempfile.TemporaryDirectory(prefix="ordsvm-data-") as data:
        pythons = {side: environment(Path(folder) / side, wheel.resolve()) for side, wheel in wheels.items()}
        tasks = {work.name: _store(work, Path(data), quick) for work in WORKS}
        with ExitStack() as stack:
            workers = {side: stack.enter_context(_worker(python)) for side, python in pythons.items()}
            rows = [
                _compare(name, workers, task, 3 if quick else alternations, None if quick else AT_MOST)
                for name, task in tasks.items()
            ]
    return [one | {"wheels_sha256": {side: _digest(wheel)[:16] for side, wheel in wheels.items()}} for one in rows]


def environment(folder: Path, wheel: Path) -> Path:
    """The Python of a virtual environment that has this very wheel, and of all else what runs here."""
    python, stamp = folder / "bin" / "python", folder / "wheel.sha256"
    if stamp.is_file() and stamp.read_text() == _digest(wheel):
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    same = [f"{name}=={metadata.version(name)}" for name in DEPENDENCIES]
    subprocess.run([str(python), "-m", "pip", "install", "-q", str(wheel), *same], check=True)
    stamp.write_text(_digest(wheel))
    return python


def _digest(wheel: Path) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _store(work: Work, folder: Path, quick: bool) -> dict[str, Any]:
    """Writes the samples of a work to a file, and returns what a worker needs to train it."""
    path = folder / f"{work.name}.npz"
    if work.name.startswith("small"):
        parts = small_parts(work, SMALL, 20 if quick else SMALL_FITS)
        X, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    else:
        X, y = (work.reduced(400) if quick else work).data()
        parts = [(X, y)]
    if sparse.issparse(X):
        np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    else:
        np.savez(path, X=X, y=y)
    options = {"C": work.C, "kernel": work.kernel, "gamma": work.gamma, "tol": TOL, "cache_size": CACHE}
    return {"data": str(path), "model": work.model, "options": options, "rows_a_fit": len(parts[0][1])}


@contextmanager
def _worker(python: Path) -> Iterator[subprocess.Popen[str]]:
    """Started in the environment's own folder, so that nothing of this repository is on its path."""
    command = [str(python), "-I", str(WORKER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _reply(worker: subprocess.Popen[str], message: Mapping[str, Any]) -> Any:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(message) + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise RuntimeError("The process in one of the environments has ended: see its error above.")
    return json.loads(line)


def _compare(
    name: str,
    workers: Mapping[str, subprocess.Popen[str]],
    task: dict[str, Any],
    alternations: int,
    bound: float | None,
) -> Row:
    versions = {side: _reply(worker, {"load": task}) for side, worker in workers.items()}
    fits = {side: partial(_reply, worker, {"fit": True}) for side, worker in workers.items()}
    seconds = race(fits, alternations, threads=None).returned  # as the workers took them
    return row(
        f"{name}: seconds after / before, median of paired ratios",
        median_paired_ratio(seconds["after"], seconds["before"]),
        at_most=bound,
        explanation=EXPLANATION,
        alternations=alternations,
        median_seconds={side: float(np.median(taken)) for side, taken in seconds.items()},
        seconds=seconds,
        versions=versions,
    )
