"""Models are the same after pickling, copying and cloning."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ordsvm import GCD, SMO, SVOR, certify
from tests.process_cases import ESTIMATORS, assert_same_model, module_callback, module_kernel, ordinal_data


def numbers(certificate):
    return certificate.primal, certificate.dual, certificate.gap, certificate.violation


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", ["dense", "csr", "linear", "linear-csr", "precomputed", "callable"])
def test_models_are_the_same_after_a_round_trip(estimator, kind):
    X, y = ordinal_data()
    kernel = {"precomputed": "precomputed", "callable": module_kernel}.get(kind, kind.split("-")[0])
    kernel = "rbf" if kernel in ("dense", "csr") else kernel
    X = module_kernel(X, X) if kind == "precomputed" else sp.csr_array(X) if "csr" in kind else X
    solver = GCD() if estimator is SVOR else SMO(selection="mvp")
    model = estimator(C=2.0, kernel=kernel, solver=solver, callback=module_callback).fit(X, y)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        returned = pickle.loads(pickle.dumps(model, protocol))
        assert_same_model(model, returned, X)
        assert np.array_equal(model.classes_, returned.classes_)
        assert returned.get_params() == model.get_params()
        assert numbers(certify(returned, X, y)) == numbers(certify(model, X, y))
    for returned in (copy.deepcopy(model), copy.copy(model)):
        assert_same_model(model, returned, X)
    assert not np.shares_memory(copy.deepcopy(model).dual_coef_, model.dual_coef_)
    assert_same_model(model, clone(model).fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("trip", [clone, copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))])
def test_an_unfitted_model_survives_a_round_trip_unfitted(estimator, trip):
    X, y = ordinal_data()
    model = estimator(C=3.0, gamma=0.2, categories=[0, 1, 2], class_weight={1: 2.0}, tol=1e-4)
    returned = trip(model)
    assert returned.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        returned.predict(X)
    assert_same_model(model.fit(X, y), returned.fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_clone_of_a_fitted_model_is_not_fitted(estimator):
    X, y = ordinal_data()
    with pytest.raises(NotFittedError):
        clone(estimator().fit(X, y)).predict(X)
