"""Exceptions of callbacks and kernels propagate from inside a fit; earlier models and later fits are unharmed."""

import copy

import numpy as np
import pytest

from ordsvm import SVOR
from tests.process_cases import (
    ENDLESS,
    ESTIMATORS,
    OddError,
    assert_same_model,
    endless_data,
    module_kernel,
    ordinal_data,
)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_exception_in_the_callback_propagates_and_later_fits_work(estimator):
    raised = OddError("from the callback")

    def callback(progress):
        raise raised

    X, y = ordinal_data()
    before = estimator().fit(X, y)
    with pytest.raises(OddError) as caught:
        estimator(callback=callback, **ENDLESS).fit(*endless_data())
    assert caught.value is raised
    assert_same_model(before, estimator().fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("rows", "at_call"), [("many", 0), ("many", 3), ("many", 8), ("single", 40)])
def test_an_exception_in_the_kernel_propagates_and_later_fits_work(estimator, rows, at_call):
    """Call 0 is made for the diagonal, the others for rows, from inside the core: by block many at a time."""
    solver = "block" if rows == "many" else "gcd" if estimator is SVOR else "smo"
    raised, calls = OddError("from the kernel"), []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) > at_call:
            raise raised
        return module_kernel(A, B)

    X, y = ordinal_data()
    before = estimator(kernel=module_kernel).fit(X, y)
    with pytest.raises(OddError) as caught:
        estimator(kernel=kernel, solver=solver).fit(X, y)
    assert caught.value is raised
    assert len(calls) == at_call + 1
    assert_same_model(before, estimator(kernel=module_kernel).fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_refit_that_fails_leaves_the_earlier_model_as_it_was(estimator):
    def callback(progress):
        raise OddError

    X, y = ordinal_data(d=5)
    model = estimator().fit(X, y)
    earlier = copy.deepcopy(model)
    with pytest.raises(OddError):
        model.set_params(callback=callback, **ENDLESS).fit(*endless_data())
    assert_same_model(earlier, model, X)
    assert np.array_equal(model.classes_, earlier.classes_)
