"""deterministic=True: the same model, bit by bit, whatever the number of threads."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVORIM,
    SVR,
    AsyGCD,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    RedSVM,
)
from ordsvm.problem import Treatment
from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS

THREADS_WORK_APART = ("asygcd", "asyagcd")  # they do not wait for each other
THREADS_CHANGE_NOTHING = ("smo", "gcd", "parsmo-light", "parsmo-cache", "decomposition", "dcd-1", "dcd-2")

DENSE = (SVOR(), SVORIM(), RedSVM(solver=AsyGCD()), NPSVOR(), SVC(), SVR(), NystroemSVOR(n_landmarks=40), LinearSVOR())
SPARSE = (LinearSVOR(), LinearNPSVOR(), LinearSVC(), LinearSVR(), SVOR(kernel="linear"))


def data(is_sparse):
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 8))
    y = np.digitize(X[:, 0] + 0.5 * random.normal(size=700), [-0.7, 0.0, 0.7])
    if is_sparse:
        X = sparse.csr_matrix(np.hstack([X, random.normal(size=(700, 400))]) * (random.random((700, 408)) < 0.2))
    return X, y


@pytest.mark.parametrize(("machine", "is_sparse"), [(m, False) for m in DENSE] + [(m, True) for m in SPARSE], ids=str)
def test_the_model_is_the_same_with_any_number_of_threads(machine, is_sparse):
    X, y = data(is_sparse)
    models = [clone(machine).set_params(n_threads=n, deterministic=True).fit(X, y) for n in (1, 2, 4, None)]
    for model in models[1:]:
        assert model.result_.objective == models[0].result_.objective
        assert model.result_.n_iter == models[0].result_.n_iter
        assert np.array_equal(model.predict(X), models[0].predict(X))
        for name in ("dual_coef_", "coef_", "thresholds_", "intercept_"):
            if hasattr(model, name):
                assert np.array_equal(getattr(model, name), getattr(models[0], name))


def alpha_of(name, n_threads):
    """The dual variables that a solver ends with, without `deterministic`."""
    X, y = data(is_sparse=False)
    if name in LINEAR_SOLVERS:
        return LinearNPSVOR(solver=name, n_threads=n_threads).fit(X, y).coef_
    machine = SVOR if Treatment.PENALIZED in SOLVERS[name].accepts else SVORIM
    return machine(solver=name, n_threads=n_threads, gamma=0.1, tol=1e-2).fit(X[:300], y[:300]).result_.alpha


@pytest.mark.parametrize("name", [*SOLVERS, *LINEAR_SOLVERS])
def test_a_solver_repeats_its_bits(name):
    """The first column of the table in docs/guide/reproducibility.md."""
    first, second = (alpha_of(name, 1 if name in THREADS_WORK_APART else 2) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", THREADS_CHANGE_NOTHING)
def test_no_number_of_threads_changes_a_bit_of(name):
    """The second column of that table, where it says so."""
    np.testing.assert_array_equal(alpha_of(name, 1), alpha_of(name, 3))


def test_the_flag_is_checked():
    with pytest.raises(ValueError, match="deterministic='yes' is not valid"):
        LinearSVOR(deterministic="yes").fit([[0.0], [1.0]], [0, 1])


def test_distributed_machines_refuse_it():
    distributed = pytest.importorskip("ordsvm.distributed")
    with pytest.raises(ValueError, match="deterministic=True is not possible"):
        distributed.LinearSVOR(deterministic=True).fit([np.eye(4)], [np.array([0, 0, 1, 1])])
