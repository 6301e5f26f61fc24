"""Checkpoints: a fit, a stream and a search, killed at random moments, go on and end with the same answer."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import Row, row

DATA = (
    "Standard normal columns, 5 equal-frequency ranks of x0 + x1 x2 + normal noise. fit: 8 columns, SVOR, RBF gamma "
    "0.1, GCD, tol 1e-3. stream: 40 columns in an svmlight file, LinearSVOR, tol 1e-5. search: 8 columns, two stages "
    "by OrdinalSearchCV with 3 folds. One thread each. A kill is SIGKILL, after a random time from the start of "
    "the work or from where it goes on; the kills of a work follow each other in one folder until the work has ended, "
    "and then in a new one."
)
PRELOADED = ["benchmarks.checkpoint_worker"]  # by the process that workers are forked from
ROWS = ("fit", "stream", "search")
SIZES: dict[str, dict[str, Any]] = {
    "fit": {"n": 1200, "C": 200.0},
    "stream": {"n": 30_000, "C": 0.1},
    "search": {"n": 250},
}
QUICK: dict[str, dict[str, Any]] = {
    "fit": {"n": 600, "C": 100.0},
    "stream": {"n": 3000, "C": 0.1},
    "search": {"n": 200, "grid": {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}},
}
TOL = 1e-3
LOOK = 1.0  # seconds that a look and a write may take together, on a machine with other work


@dataclass
class Killed:
    """How a work went that was killed over and over: its answers, and for every kill the age of what was kept."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    kills, interval = (3, 0.2) if quick else (20, 1.0)
    chosen = [name for name in ROWS if names is None or any(name.startswith(start) for start in names)]
    with tempfile.TemporaryDirectory() as folder:
        return [
            r for name in chosen for r in _rows_of(name, (QUICK if quick else SIZES)[name], kills, interval, folder)
        ]


def _rows_of(name: str, size: dict[str, Any], kills: int, interval: float, place: str) -> list[Row]:
    size = size | {"file": str(Path(place) / f"{name}.svm")}
    reference, seconds = undisturbed(name, size)
    killed = kill_and_resume(name, size, Path(place), kills, interval, seconds)
    apart = max(differences(reference, answer) for answer in killed.answers)
    steps = [answer["steps"] / reference["steps"] for answer in killed.answers]
    about = {"kills": kills, "interval": interval, "seconds_undisturbed": seconds, "ends": len(killed.answers)}
    return [
        row(f"{name}: objective after {kills} kills, relative difference", apart, at_most=TOL, **about),
        row(
            f"{name}: seconds of work that a kill has cost at most, states every {interval:g} s",
            max(killed.lost),
            at_most=interval + LOOK,
            lost_seconds=sorted(killed.lost),
        ),
        row(f"{name}: steps of the killed work / undisturbed", max(steps)),
    ]


def undisturbed(name: str, size: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """The answer of a work that nothing interrupts, and its seconds."""
    worker = Worker(name, size, None, 1.0)
    began = time.perf_counter()
    answer = worker.answer()
    return answer, time.perf_counter() - began


def kill_and_resume(
    name: str, size: dict[str, Any], place: Path, kills: int, interval: float, seconds: float, seed: int = 0
) -> Killed:
    """Kills a work of so many seconds so many times; whenever it has come to its end, it begins in a new folder."""
    killed, random, number = Killed(), np.random.default_rng(seed), 0
    while len(killed.lost) < kills or not killed.answers:
        folder = place / f"{name}-{number}"
        number += 1
        answer = None
        while answer is None:
            left = kills - len(killed.lost)
            delay = float(random.uniform(0.0, 2.0 * seconds / kills)) if left > 0 else None
            answer = _attempt(Worker(name, size, folder, interval), delay, folder, killed)
        killed.answers.append(answer)
    return killed


def differences(reference: dict[str, Any], answer: dict[str, Any]) -> float:
    """How far the objectives are apart, infinite where one has not converged or a search has another best."""
    if answer["status"] != "converged" or answer.get("best") != reference.get("best"):
        return float("inf")
    return abs(answer["objective"] - reference["objective"]) / abs(reference["objective"])


class Worker:
    """A work in a process of its own, which has begun."""

    def __init__(self, name: str, size: dict[str, Any], folder: Path | None, interval: float) -> None:
        from benchmarks.checkpoint_worker import work

        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self._answers, sender = context.Pipe(duplex=False)
        place = None if folder is None else str(folder)
        self._process = context.Process(target=work, args=(name, size, place, interval, sender))
        self._process.start()
        sender.close()
        _received(self._answers)

    def answer(self) -> dict[str, Any]:
        """Waits for the end."""
        found = _received(self._answers)
        self._process.join()
        return found

    def killed_after(self, seconds: float) -> bool:
        """Kills it then, unless it has ended before."""
        if self._answers.poll(seconds):
            return False
        self._process.kill()
        return True

    def wait(self) -> None:
        self._process.join()


def _received(answers: Connection) -> Any:
    try:
        return answers.recv()
    except EOFError:
        raise RuntimeError("The work has ended without an answer.") from None


def _attempt(worker: Worker, delay: float | None, folder: Path, killed: Killed) -> dict[str, Any] | None:
    """The answer, or None where the worker was killed before."""
    began = time.time()
    if delay is None or not worker.killed_after(delay):
        return worker.answer()
    at = time.time()
    worker.wait()
    kept = [age for age in kept_at(folder) if age >= began]
    killed.lost.append(at - max([began, *kept]))
    return None


def kept_at(folder: Path) -> Iterator[float]:
    """When the files of a checkpoint were written, those aside that are written all the time."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith(".") and path.name not in ("lock", "rows.bin"):
            yield path.stat().st_mtime
