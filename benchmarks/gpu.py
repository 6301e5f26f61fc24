"""Kernel machines on one GPU by the proximal Newton method: seconds of whole fits, with certificates.

Seconds are those of a second fit, from NumPy arrays to a certified model: transfers to and from the device, the table
of hinges and the judge on the CPU are in them. `solver_seconds` leaves out what the estimator does before and after.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.contestants import PeerMissing
from benchmarks.datasets import ordinal, shuffled_svmlight
from benchmarks.results import Row, row
from ordsvm import SVC, SVOR, SVOREX, SVORIM, SVR, ProximalNewton

DATA = (
    "california_housing in 5 ranks (gamma 0.5), a9a, ijcnn1 and skin_nonskin (gamma 1/d, C = 1), and synthetic sets: "
    "46 normal columns, 5 ranks of sin(x0) + x1·x2 + x3/2 + 0.3·noise, gamma 0.02; two overlapping classes of 28 "
    "columns, gamma 1/28"
)
TOL = 1e-3
SLOWER = "Launches, and work on the CPU before and after the solver (labels, table of hinges, the judge)."

Samples = tuple[np.ndarray, np.ndarray]


def synthetic_ranks(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and the noisy quantity whose quintiles are the ranks."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 46), dtype=np.float32)
    noise = 0.3 * random.standard_normal(n, dtype=np.float32)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2 + noise


def synthetic_classes(n: int, steepness: float) -> Samples:
    """Two classes that overlap: 30 % Bayes error at steepness 0.75, 5 % at 10."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 28), dtype=np.float32)
    t = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * (X[:, 3] ** 2 - 1) + 0.7 * X[:, 4] + 0.5 * X[:, 5] * X[:, 6]
    return X, (random.uniform(size=n) < 1 / (1 + np.exp(-steepness * t))).astype(np.int64)


def _ranks(n: int) -> Samples:
    X, t = synthetic_ranks(n)
    return X, np.argsort(np.argsort(t)) * 5 // n


def _classes(name: str) -> Samples:
    X, y = shuffled_svmlight(name)
    return X.toarray().astype(np.float32), y


def _california() -> Samples:
    return ordinal("california_housing")


# name: samples, estimator, C, gamma, seconds at most
Case = tuple[Callable[[], Samples], Any, float, float, float | None]
CASES: dict[str, Case] = {
    "california_housing C=1": (_california, SVOR, 1.0, 0.5, 0.2),
    "california_housing C=10": (_california, SVOR, 10.0, 0.5, 0.4),
    "california_housing C=100": (_california, SVOR, 100.0, 0.5, 1.0),
    "a9a": (lambda: _classes("a9a"), SVC, 1.0, 1 / 123, 0.15),
    "ijcnn1": (lambda: _classes("ijcnn1"), SVC, 1.0, 1 / 22, 0.17),
    "skin_nonskin": (lambda: _classes("skin_nonskin"), SVC, 1.0, 1 / 3, 0.3),
    "synthetic 75,000 SVOR C=1": (lambda: _ranks(75_000), SVOR, 1.0, 0.02, 0.4),
    "synthetic 75,000 SVOR C=10": (lambda: _ranks(75_000), SVOR, 10.0, 0.02, 2.0),
    "synthetic 75,000 SVORIM C=1": (lambda: _ranks(75_000), SVORIM, 1.0, 0.02, None),
    "synthetic 75,000 SVOREX C=1": (lambda: _ranks(75_000), SVOREX, 1.0, 0.02, None),
    "synthetic 75,000 SVR C=1": (lambda: synthetic_ranks(75_000), SVR, 1.0, 0.02, None),
    "synthetic 250,000 SVOR C=1": (lambda: _ranks(250_000), SVOR, 1.0, 0.02, 1.5),
    "synthetic 1,000,000 SVOR C=1": (lambda: _ranks(1_000_000), SVOR, 1.0, 0.02, 12.0),
    "two classes 200,000 C=1": (lambda: synthetic_classes(200_000, 0.75), SVC, 1.0, 1 / 28, 5.9 / 6),
    "two classes 1,000,000 C=1": (lambda: synthetic_classes(1_000_000, 0.75), SVC, 1.0, 1 / 28, 6.0),
}
ROWS = tuple(CASES)


def run(quick: bool, names: Sequence[str] = ("",)) -> list[Row]:
    """Every case whose name begins so; quick: the smallest one."""
    torch = _torch()
    chosen = [name for name in CASES if any(name.startswith(part) for part in names)]
    return [_measured(torch, name) for name in (chosen[:1] if quick else chosen)]


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise PeerMissing("torch is not installed: pip install 'ordsvm[gpu]'.") from None
    if not torch.cuda.is_available():
        raise PeerMissing("torch finds no GPU.")
    return torch


def _measured(torch: Any, name: str) -> Row:
    samples, kind, C, gamma, most = CASES[name]
    X, y = samples()
    model = kind(C=C, gamma=gamma, tol=TOL, solver=ProximalNewton(device="cuda"), time_limit=300)
    model.fit(X, y)  # compiles
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    model.fit(X, y)
    seconds, result = time.perf_counter() - start, model.result_
    return row(
        f"{name}: seconds",
        seconds,
        at_most=most,
        explanation=SLOWER,
        solver_seconds=result.seconds,
        newton_steps=result.n_iter,
        status=result.status,
        violation=result.violation,
        relative_gap=result.relative_gap,
        objective=result.objective,
        n_support=len(model.support_),
        device=torch.cuda.get_device_name(),
        device_gigabytes=torch.cuda.max_memory_allocated() / 2**30,
    )
