"""Programs that `soak` interrupts, kills or leaves while they work, each in a process of its own.

`python -m benchmarks.soak_children NAME SEED [FOLDER]` prints "begun", is then sent what its entry in `CHILDREN` says,
and must end as that says too, with an empty standard error.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.soak_works import TOL, check, endless, machine, samples
from ordsvm import SVOR, OrdinalSearchCV, load, save

LIMIT = 240  # seconds for a child


@dataclass(frozen=True)
class Child:
    """A program, the signal it is sent within the first second, and how it has to end."""

    program: Callable[[np.random.Generator, Path], None]
    sent: signal.Signals | None
    answer: str
    status: int = 0
    share: float = 1.0


def begun() -> None:
    print("begun", flush=True)


def interrupted_search(random: np.random.Generator, folder: Path) -> None:
    X, y = samples(random, n=1500)
    try:
        begun()
        OrdinalSearchCV(SVOR(), n_jobs=2).fit(X, y)
    except KeyboardInterrupt:
        X, y = samples(random, n=100)
        check(SVOR(tol=TOL).fit(X, y), X, y)
        print("healthy", flush=True)


def left_threads(random: np.random.Generator, folder: Path) -> None:
    """Ends while daemon threads train and predict."""
    X, y = samples(random, n=800)
    model, many = SVOR().fit(X, y), np.repeat(X, 100, axis=0)

    def work(task: Callable[[], Any]) -> None:
        while True:
            task()

    tasks = [
        lambda: model.predict(many),
        lambda: endless(random).fit(X, np.arange(800) % 3),
        lambda: machine(random).fit(X, y),
    ]
    for task in tasks:
        threading.Thread(target=work, args=(task,), daemon=True).start()
    begun()
    time.sleep(float(random.uniform(0.0, 1.0)))
    print("healthy", flush=True)


def killed_writer(random: np.random.Generator, folder: Path) -> None:
    """Saves for ever; the file has to be whole when it is killed."""
    X, y = samples(random, n=400)
    models = [SVOR(C=C).fit(X, y) for C in (0.1, 1.0)]
    save(models[0], folder / "written.ordsvm")
    begun()
    while True:
        for model in models:
            save(model, folder / "written.ordsvm")


def killed_worker(random: np.random.Generator, folder: Path) -> None:
    """A Dask worker is killed in the middle of a fit."""
    import dask
    from distributed import Client, LocalCluster

    from ordsvm import distributed

    X, y = samples(random, n=600)
    halves = [(X[:300], y[:300]), (X[300:], y[300:])]
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(silence_logs=logging.CRITICAL, **options) as cluster, Client(cluster) as client:
        begun()
        victims = list(client.run(os.getpid).values())[:1]

        def kill(progress: Any) -> None:
            if victims:
                os.kill(victims.pop(), signal.SIGKILL)

        blocks = [dask.delayed(lambda half: half)(half) for half in halves]
        model = distributed.LinearSVOR(tol=TOL, callback=kill).fit(blocks, client=client)
    if model.result_.converged and not victims:
        check(model, X, y)
        print("healthy", flush=True)


CHILDREN = {
    "search": Child(interrupted_search, signal.SIGINT, "healthy"),
    "threads at exit": Child(left_threads, None, "healthy"),
    "killed while saving": Child(killed_writer, signal.SIGKILL, "", -signal.SIGKILL),
    "killed Dask worker": Child(killed_worker, None, "healthy", share=0.2),
}


def run(name: str, random: np.random.Generator, folder: Path) -> str:
    """Runs a child, and returns what was wrong with its end; empty: nothing."""
    child = CHILDREN[name]
    command = [sys.executable, "-m", "benchmarks.soak_children", name, str(random.integers(1 << 30)), str(folder)]
    # Without a buffer: `communicate` does not see what a buffered `readline` has read ahead.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    try:
        assert process.stdout is not None
        if process.stdout.readline() == b"begun\n" and child.sent is not None:
            time.sleep(float(random.uniform(0.0, 1.0)))
            process.send_signal(child.sent)
        answer, errors = (pipe.decode() for pipe in process.communicate(timeout=LIMIT))
    except subprocess.TimeoutExpired:
        return f"{name}: no end within {LIMIT} s"
    finally:
        process.kill()
        process.wait()
    if name == "killed while saving":
        _check_written(folder)
    if (answer.strip(), process.returncode) == (child.answer, child.status) and not errors.strip():
        return ""
    return f"{name}: status {process.returncode}, answer {answer!r}, errors {errors[-2000:]!r}"


def _check_written(folder: Path) -> None:
    load(folder / "written.ordsvm")
    for left in folder.glob(".written.ordsvm.*"):  # a killed process can't remove its temporary file
        left.unlink()


def main(name: str, seed: str, folder: str) -> None:
    warnings.simplefilter("ignore")
    CHILDREN[name].program(np.random.default_rng(int(seed)), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
