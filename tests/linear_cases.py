"""What the tests of linear machines share: small data, how to look at a machine, and its optimum by the oracle."""

import numpy as np
import pytest

from ordsvm import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, formulations
from ordsvm.formulations import cost_matrix, cost_weights
from ordsvm.problem import Treatment
from tests.cases import N_RANKS, random_data
from tests.oracle import primal_optimum

MACHINES = [LinearNPSVOR, LinearSVOR, LinearSVC, LinearSVR]
CLASSIFIERS = MACHINES[:3]
ORDINAL = MACHINES[:2]
TIGHT = {"tol": 1e-11, "max_iter": 100_000}  # scores differ by the root of the gap

every_machine = pytest.mark.parametrize("model", MACHINES)
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS)
both_losses = pytest.mark.parametrize("squared", [False, True], ids=["plain", "squared"])


def loss_name(model, squared: bool) -> str:
    return model._loss_names[squared]


def data(model, seed: int = 0, n: int = 30, n_features: int = 3):
    """Ranks, or numbers for a regression."""
    X, y = random_data(seed, n=n, n_features=n_features)
    return (X, y + 0.3 * np.sin(np.arange(n))) if model is LinearSVR else (X, y)


def values(fitted, X):
    """What the machine is: one column for every score."""
    if isinstance(fitted, LinearNPSVOR):
        return fitted.rank_scores(X)
    return fitted.predict(X) if isinstance(fitted, LinearSVR) else fitted.decision_function(X)


def assert_same_machine(first, second, X, atol: float = 1e-4) -> None:
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-7)
    np.testing.assert_allclose(values(first, X), values(second, X), rtol=0, atol=atol)
    if isinstance(first, LinearSVOR):
        np.testing.assert_allclose(first.thresholds_, second.thresholds_, rtol=0, atol=atol)


def half_sparse(model, seed: int):
    X, y = data(model, seed=seed, n_features=6)
    X[np.random.default_rng(seed).random(X.shape) < 0.4] = 0.0
    return X, y


def problems(fitted, y, weight):
    """The hinges of every lane, or of the one problem with thresholds."""
    kind = Treatment.PENALIZED if fitted.fit_intercept else Treatment.NONE
    if isinstance(fitted, LinearSVOR):
        cost_weight = cost_weights(cost_matrix(fitted.cost, N_RANKS))
        return [formulations.svor(y, N_RANKS, fitted.C * weight, cost_weight)]
    if isinstance(fitted, LinearSVR):
        return [formulations.svr(y, fitted.epsilon, fitted.C * weight, kind)]
    if isinstance(fitted, LinearSVC):
        return [formulations.svc(np.where(y == k, 1.0, -1.0), fitted.C * weight, kind) for k in range(N_RANKS)]
    C1, C2 = (fitted.C if given is None else given for given in (fitted.C1, fitted.C2))
    lanes = [formulations.npsvor(y, k, fitted.epsilon, C1 * weight, C2 * weight) for k in range(N_RANKS)]
    return [type(lane)(lane.hinges, kind, lane.n_samples) for lane in lanes]


def optimum(fitted, X, y, weight=None) -> float:
    squared = fitted.loss.startswith("squared")
    weight = np.ones(len(y)) if weight is None else weight
    return sum(primal_optimum(problem, X @ X.T, squared).objective for problem in problems(fitted, y, weight))
