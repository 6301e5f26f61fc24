"""RedSVM: SVOR under another name for absolute costs, SVOR with these costs for others."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import SVOR, RedSVM, certify
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
