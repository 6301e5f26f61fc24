"""What the tests of SVC have in common: options, data that scikit-learn ships, and when two machines are the same."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from ordsvm.problem import Treatment
from tests.cases import random_data

TIGHT = {"gamma": 0.4, "tol": 1e-8}
INTERCEPTS = {"free": Treatment.FREE, "penalized": Treatment.PENALIZED, "none": Treatment.NONE}
SCHEMES = ["ovo", "ovr"]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_scheme = pytest.mark.parametrize("multi_class", SCHEMES)


def three_classes(seed: int = 0, n: int = 45):
    return random_data(seed, n=n, n_ranks=3, noise=1.0)


def assert_same_machine(first, second, X, atol: float = 1e-5) -> None:
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-6)
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), rtol=0, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


def shipped_sets():
    digits = load_digits()
    return {
        "iris": (scale(load_iris().data), load_iris().target),
        "wine": (scale(load_wine().data), load_wine().target_names[load_wine().target]),
        "breast_cancer": (scale(load_breast_cancer().data), load_breast_cancer().target),
        "digits": (digits.data[:700] / 16.0, digits.target[:700]),
    }


SHIPPED = shipped_sets()
