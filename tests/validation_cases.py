"""Data with a validation part, and what runs that are looked at have in common."""

import numpy as np
import pytest

from ordsvm import SVOR, SVOREX, SVORIM, RedSVM, ShashuaLevinSVOR
from ordsvm.result import Progress
from tests.cases import N_RANKS, random_data

MODELS = [SVOR, RedSVM, SVORIM, SVOREX, ShashuaLevinSVOR]
BOX_SOLVERS = ["gcd", "asygcd", "asyagcd", "asyorgcd"]
SERIAL = [(SVOR, "gcd"), (RedSVM, "gcd"), (SVORIM, "smo"), (SVOREX, "smo"), (ShashuaLevinSVOR, "smo")]
EVERY_SOLVER = [(model, "smo") for model in (SVORIM, SVOREX, ShashuaLevinSVOR)] + [
    (model, solver) for model in (SVOR, RedSVM) for solver in BOX_SOLVERS
]
HARD = {"C": 100.0, "gamma": 1.0}  # takes many looks, and overfits
STOPPING = HARD | {"early_stopping": True, "random_state": 0, "n_iter_no_change": 5}

every_model = pytest.mark.parametrize("model", MODELS)


def data(seed: int = 1, n: int = 240, **options):
    return random_data(seed, n=n, noise=0.5, **options)


def split(n: int, seed: int = 0):
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[n // 5 :]), np.sort(order[: n // 5])


def parts(seed: int = 1, n: int = 240):
    """Samples and labels to train on, and a validation pair."""
    X, y = data(seed, n)
    train, test = split(n)
    return X[train], y[train], (X[test], y[test])


def maes(model) -> list[float]:
    return [progress.validation_mae for progress in model.result_.history]


def same_course(first, second) -> None:
    """Bit for bit the same steps, looks and machine."""
    assert first.result_.status == second.result_.status
    assert first.result_.n_iter == second.result_.n_iter
    assert first.result_.best_look == second.result_.best_look
    assert [look.n_iter for look in first.result_.history] == [look.n_iter for look in second.result_.history]
    assert maes(first) == maes(second)
    np.testing.assert_array_equal(first.result_.alpha, second.result_.alpha)
    np.testing.assert_array_equal(first.thresholds_, second.thresholds_)


def pairwise_rbf(A, B):
    """Value by value, so that it does not depend on the block it is computed in."""
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2))


def progress_with(gap: float) -> Progress:
    return Progress("none", 0, 0.0, 1.0, gap, gap, 1.0, 0, 0, 0, np.zeros(N_RANKS - 1))
