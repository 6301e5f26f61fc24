"""The row of `benchmarks.gpu` beside torchkm, another package of kernel machines on a GPU, which stores K."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contestants import PeerMissing
from benchmarks.results import Row, row
from ordsvm import SVC

N, WITHOUT_GPU = 20_000, 1_000  # samples, and where there is no GPU, to try the program out
STEEPNESS, GAMMA = 0.75, 1 / 28


def beside_torchkm(measure: Any) -> Row:
    """One C on two overlapping classes of 28 columns; torchkm's fit has two folds besides, the fewest it takes."""
    from benchmarks.gpu import synthetic_classes

    try:
        from torchkm import TorchKMSVC
    except ImportError:
        raise PeerMissing("torchkm is not installed: pip install torchkm.") from None
    X, y = synthetic_classes(N if measure.is_cuda else WITHOUT_GPU, STEEPNESS)
    device = measure.device.removeprefix("torch:")
    other = TorchKMSVC(Cs=[1.0], cv=2, rbf_sigma=GAMMA / 2, tol=1e-5, device=device, random_state=0)  # exp(−2σ‖·‖²)
    seconds_of_other, other = measure.second(lambda: other.fit(X.astype(np.float64), y))
    facts = {"device_gigabytes_of_torchkm": measure.facts().get("device_gigabytes")}
    seconds, model = measure.fitted(SVC, 1.0, GAMMA, (X, y))
    return row(
        f"two classes {len(y):,} C=1: seconds of torchkm / ours",
        seconds_of_other / seconds,
        seconds=seconds,
        seconds_of_torchkm=seconds_of_other,
        objective=model.result_.objective,
        objective_of_torchkm=_objective(other, X, y),
        **facts,
        **measure.facts(),
    )


def _objective(other: Any, X: np.ndarray, y: np.ndarray) -> float:
    """The primal of its model: ½β'Kβ + Σ max(0, 1 − y f)."""
    score = np.asarray(other.decision_function(X.astype(np.float64)))
    norm2 = float(np.ravel(other.alpha_) @ (score - float(np.ravel(other.intercept_)[0])))
    return 0.5 * norm2 + float(np.maximum(0.0, 1.0 - np.where(y > 0, 1.0, -1.0) * score).sum())
