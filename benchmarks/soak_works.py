"""What the threads of `soak` do: each work raises `Wrong` where an answer is not what its recomputation gives."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ordsvm
from ordsvm import OrdinalSearchCV, certify, load, save

TOL = 1e-3
AGREEMENT = 1e-6  # of an objective and its recomputation, relative
HINT = 0.01  # by which float32 rows may let a violation pass its tolerance, relative to it
ENDLESS = ["gcd", "asygcd"]
MACHINES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SVOR", {}),
    ("SVOR", {"solver": "gcd"}),
    ("SVOR", {"solver": "asygcd", "n_threads": 2}),
    ("SVOR", {"solver": "asyorgcd", "n_threads": 2}),
    ("SVORIM", {}),
    ("SVORIM", {"solver": "smo"}),
    ("SVORIM", {"solver": "parsmo-light", "n_threads": 2}),
    ("SVOREX", {}),
    ("SVOREX", {"solver": "decomposition", "n_threads": 2}),
    ("ShashuaLevinSVOR", {}),
    ("RedSVM", {}),
    ("NPSVOR", {}),
    ("SVC", {}),
    ("SVR", {}),
    ("LinearSVOR", {}),
    ("LinearNPSVOR", {}),
    ("LinearNPSVOR", {"solver": "dcd-2"}),
    ("LinearSVC", {}),
    ("LinearSVR", {}),
)


class Wrong(AssertionError):
    """An answer that its recomputation does not confirm."""


class Deliberate(Exception):
    """Raised by callbacks."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


def samples(random: np.random.Generator, n: int = 0) -> tuple[Any, Any]:
    """Noisy ranks."""
    n = n or int(random.integers(40, 400))
    X = random.normal(size=(n, int(random.integers(2, 9))))
    return X, np.digitize(X[:, 0] + 0.7 * random.normal(size=n), [-0.8, 0.0, 0.8])


def machine(random: np.random.Generator) -> Any:
    name, options = MACHINES[random.integers(len(MACHINES))]
    return getattr(ordsvm, name)(C=float(10.0 ** random.integers(-1, 2)), tol=TOL, **options)


def endless(random: np.random.Generator, **options: Any) -> Any:
    """With random labels these solvers are not done within minutes; others find in a second that nothing more can be
    proved."""
    return ordsvm.SVOR(C=1e6, tol=1e-9, solver=str(random.choice(ENDLESS)), **options)


def check(model: Any, X: Any, y: Any) -> None:
    """What the result claims is what α proves, recomputed by NumPy in float64; "converged" is within the tolerance."""
    proof, result = certify(model, X, y), model.result_
    scale = max(abs(proof.primal), abs(result.objective), 1e-300)
    what = f"{model!r}: {result.status}"
    require(abs(proof.primal - result.objective) <= AGREEMENT * scale, f"{what}, objective {result.objective!r}")
    if result.converged:
        require(proof.relative_gap <= (1 + HINT) * model.tol, f"{what}, relative gap {proof.relative_gap!r}")
        if not type(model).__name__.startswith("Linear"):  # of those the gap alone is promised
            require(proof.violation <= (1 + HINT) * model.tol, f"{what}, violation {proof.violation!r}")


@dataclass
class Bench:
    """What the works share: folders, one of them on a full disk, and what was found beside the answers."""

    folder: Path
    full: Path | None  # a disk of some kilobytes, where one could be mounted
    unconverged: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fit(self, random: np.random.Generator) -> None:
        self._trained(random)

    def predict(self, random: np.random.Generator) -> None:
        model, X = self._trained(random)
        many, few = model.predict(np.repeat(X, 20, axis=0)), np.repeat(model.predict(X), 20, axis=0)
        require(np.allclose(many, few, rtol=1e-9, atol=1e-9), f"{model!r}: predictions")

    def time_limit(self, random: np.random.Generator) -> None:
        X = random.normal(size=(500, 5))
        y = np.arange(500) % 4
        model = endless(random, time_limit=float(random.uniform(0.02, 0.4))).fit(X, y)
        require(model.result_.status == "time_limit", f"status {model.result_.status} for time_limit")
        check(model, X, y)

    def callback(self, random: np.random.Generator) -> None:
        """One that raises, or one that stops the fit."""
        X = random.normal(size=(300, 5))
        y = np.arange(300) % 4
        raises = bool(random.integers(2))

        def callback(progress: Any) -> bool:
            if raises:
                raise Deliberate
            return True

        model = endless(random, callback=callback)
        try:
            model.fit(X, y)
        except Deliberate:
            require(raises, "an exception out of nowhere")
            return
        require(not raises and model.result_.status == "callback", f"status {model.result_.status} for callback")
        check(model, X, y)

    def search(self, random: np.random.Generator) -> None:
        X, y = samples(random, n=90)
        found = OrdinalSearchCV(ordsvm.SVOR(tol=TOL), {"C": [0.1, 1.0], "gamma": [0.1, 0.5]}, cv=2, n_jobs=2).fit(X, y)
        check(found.best_estimator_, X, y)

    def store(self, random: np.random.Generator) -> None:
        """A model saved and loaded predicts the same; a file that all threads write is whole whenever it is read."""
        model, X = self._trained(random)
        own, common = self.folder / f"{threading.get_ident()}.ordsvm", self.folder / "common.ordsvm"
        save(model, own)
        require(np.array_equal(load(own).predict(X), model.predict(X)), f"{model!r}: predictions after loading")
        save(model, common)
        load(common)
        own.unlink()

    def full_disk(self, random: np.random.Generator) -> None:
        """A model that does not fit: an error, the file of before, and nothing else left behind."""
        X, y = samples(random, n=60)
        large = ordsvm.LinearSVOR().fit(random.normal(size=(60, 20_000)), y)
        if self.full is None:
            _require_no_space(large, Path("/dev/full"))
            return
        with self.lock:
            small = ordsvm.LinearSVOR().fit(X, y)
            path = self.full / "model.ordsvm"
            save(small, path)
            _require_no_space(large, path)
            require(os.listdir(self.full) == [path.name], "files left on a full disk")
            require(np.array_equal(load(path).predict(X), small.predict(X)), "the file of before a full disk")

    def works(self) -> dict[str, tuple[Callable[[np.random.Generator], None], float]]:
        """By name, with how often each is chosen."""
        return {
            "fit": (self.fit, 8),
            "predict": (self.predict, 4),
            "time limit": (self.time_limit, 2),
            "callback": (self.callback, 2),
            "search": (self.search, 1),
            "save and load": (self.store, 3),
            "full disk": (self.full_disk, 0.5),
        }

    def _trained(self, random: np.random.Generator) -> tuple[Any, Any]:
        X, y = samples(random)
        model = machine(random).fit(X, y)
        check(model, X, y)
        if model.result_.status not in ("converged", "max_iter"):  # linear machines have a limit of their own
            self.unconverged.append(f"{model!r}: {model.result_.status}, n = {len(X)}")
        return model, X


def _require_no_space(model: Any, path: Path) -> None:
    try:
        save(model, path)
    except OSError as error:
        require("can't be written" in str(error), f"the message {error}")
    else:
        raise Wrong(f"{path} had no space, and save returned")


def mounted(folder: Path) -> Path | None:
    """A disk of 64 KiB in memory; None where this user may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return folder


def unmount(folder: Path | None) -> None:
    if folder is not None:
        subprocess.run(["umount", str(folder)], check=False, capture_output=True)
