"""RedSVM: SVOR under another name for absolute costs, SVOR with these costs for others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import SVOR, OrdinalSearchCV, RankDCD, RedSVM, certify
from tests.cases import N_RANKS, random_data, redsvm, v_shaped_cost
from tests.oracle import dual_optimum
from tests.test_estimators import expected_failed_checks

COSTS = ["absolute", "squared", "zero-one", v_shaped_cost(N_RANKS, seed=1)]


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@parametrize_with_checks([RedSVM()], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_default_is_absolute_cost_and_svor():
    X, y = random_data(70)
    expected = SVOR().fit(X, y)
    for model in (RedSVM(), RedSVM(cost="absolute")):
        np.testing.assert_array_equal(model.fit(X, y).result_.alpha, expected.result_.alpha)
        np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost if isinstance(cost, str) else "matrix")
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_costs_as_the_oracle_has_them(cost, C):
    X, y = random_data(71)
    fitted = RedSVM(C=C, cost=cost, gamma=0.4, tol=1e-7).fit(X, y)
    proof = certify(fitted, X, y)
    optimum = dual_optimum(redsvm(y, N_RANKS, C, cost), fitted.kernel_(X, X))
    assert proof.relative_gap <= 1e-7
    assert proof.primal == pytest.approx(optimum.objective, rel=1e-6)
    np.testing.assert_allclose(fitted.thresholds_, optimum.b, atol=1e-4)


def test_its_text_names_its_parameters():
    assert "RedSVM" in RedSVM.__doc__
    assert "cost :" in RedSVM.__doc__
    assert "thresholds_ :" in RedSVM.__doc__


# With a linear kernel, by the solver of linear machines


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost if isinstance(cost, str) else "matrix")
@pytest.mark.parametrize("C", [0.1, 0.7, 10.0])
def test_rank_dcd_is_the_oracle_s_solution(cost, C):
    X, y = random_data(72)
    fitted = RedSVM(C=C, cost=cost, kernel="linear", solver="rank-dcd", tol=1e-7).fit(X, y)
    proof = certify(fitted, X, y)
    optimum = dual_optimum(redsvm(y, N_RANKS, C, cost), X @ X.T)
    assert fitted.result_.status == "converged"
    assert fitted.result_.solver == "rank-dcd"
    assert max(proof.relative_gap, proof.violation) <= 1e-7
    assert proof.primal == pytest.approx(optimum.objective, rel=1e-6)
    np.testing.assert_allclose(fitted.thresholds_, optimum.b, atol=1e-4)


@pytest.mark.parametrize("model", [SVOR, RedSVM])
@pytest.mark.parametrize("sparse", [False, True])
def test_rank_dcd_and_kernel_rows_agree(model, sparse):
    X, y = random_data(73)
    weight = np.random.default_rng(73).integers(0, 3, len(y))
    X = sp.csr_array(X * (np.abs(X) > 0.5)) if sparse else X
    by_rows, by_weights = (
        model(kernel="linear", solver=solver, tol=1e-6, class_weight="balanced").fit(X, y, weight)
        for solver in ("gcd", "rank-dcd")
    )
    assert by_weights.result_.objective == pytest.approx(by_rows.result_.objective, rel=1e-5)
    np.testing.assert_allclose(by_weights.coef_, by_rows.coef_, atol=1e-3)
    np.testing.assert_allclose(by_weights.thresholds_, by_rows.thresholds_, atol=1e-3)
    np.testing.assert_allclose(by_weights.decision_function(X), X @ by_weights.coef_, atol=1e-9)


def test_auto_takes_rank_dcd_for_sparse_samples_and_a_linear_kernel():
    X, y = random_data(74, n=100)
    sparse = sp.csr_array(X)
    assert SVOR(kernel="linear").fit(sparse, y).result_.solver == "rank-dcd"
    assert SVOR(kernel="linear").fit(X, y).result_.solver != "rank-dcd"
    assert SVOR(kernel="rbf").fit(sparse, y).result_.solver != "rank-dcd"
    assert SVOR(kernel="linear").fit(sparse, y, validation=(sparse, y)).result_.solver != "rank-dcd"


@pytest.mark.parametrize("model", [SVOR, RedSVM])
def test_few_sparse_samples_without_a_scale_end(model):
    """Passes of rank-dcd would be too many; what auto takes has the interior-point method as its last resort."""
    X, y = random_data(75)
    fitted = model(kernel="linear", C=10.0, max_iter=10**7, time_limit=60).fit(sp.csr_array(1e3 * X), y)
    assert fitted.result_.status == "converged"


def test_rank_dcd_keeps_its_limits():
    X, y = random_data(75)
    short = RedSVM(C=1e4, kernel="linear", solver="rank-dcd", tol=1e-9, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="max_iter after 3 "):
        short.fit(X, y)
    assert certify(short, X, y).gap == pytest.approx(short.result_.gap, rel=1e-6)
    stopped = RedSVM(C=1e4, kernel="linear", solver="rank-dcd", tol=1e-9, callback=lambda progress: True)
    with pytest.warns(ConvergenceWarning, match="callback"):
        stopped.fit(X, y)


def test_rank_dcd_goes_on_from_where_it_was():
    X, y = random_data(76)
    model = RedSVM(kernel="linear", solver="rank-dcd", tol=1e-6, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first


@pytest.mark.parametrize("solver", ["rank-dcd", RankDCD()], ids=["name", "options"])
def test_rank_dcd_needs_a_linear_kernel_and_no_early_stopping(solver):
    X, y = random_data(77)
    with pytest.raises(ValueError, match=r"'rank-dcd' is for kernel='linear', not for kernel='rbf': use 'auto'"):
        RedSVM(solver=solver).fit(X, y)
    with pytest.raises(ValueError, match=r"'rank-dcd' has no early stopping"):
        RedSVM(kernel="linear", solver=solver, early_stopping=True).fit(X, y)


def test_rank_dcd_with_weights_ends_converged():
    """The solver's bounds are a rank's cap times a weight, which is the cap of a hinge but for rounding."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        X, y = random_data(seed, n=int(random.integers(20, 60)))
        weight, C = random.uniform(0.1, 3.0, size=len(y)), float(10 ** random.uniform(-2, 1))
        model = SVOR(C=C, kernel="linear", solver="rank-dcd").fit(X, y, weight)
        assert model.result_.status == "converged"
        assert certify(model, X, y, weight).violation <= 1e-3


def test_rank_dcd_for_another_kernel_is_refused_before_data_are_looked_at():
    X, y = random_data(77)
    with pytest.raises(ValueError, match=r"'rank-dcd' is for kernel='linear', not for kernel='rbf': use 'auto'"):
        SVOR(solver="rank-dcd").fit(np.full_like(X, np.nan), y)
    search = OrdinalSearchCV(SVOR(solver="rank-dcd"), {"C": [0.1, 1.0]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"'rank-dcd' is for kernel='linear', not for kernel='rbf': use 'auto'"):
        search.fit(X, y)
