"""The threshold models, and what two fits of one problem have in common."""

import numpy as np
import pytest

from ordsvm import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR, formulations

MODELS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR]
COST_MODELS = [SVOR, SVORIM]
TIGHT = {"gamma": 0.4, "tol": 1e-8}  # so that two fits of one problem agree in many digits

FORMULATION = dict(
    zip(MODELS, [formulations.svor, formulations.svorim, formulations.svorex, formulations.shashua_levin], strict=True)
)

every_model = pytest.mark.parametrize("model", MODELS)


def assert_same_machine(first, second, X, atol: float = 1e-5) -> None:
    """The same score, which is unique, and the same thresholds, which are where a hinge is inside its box."""
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), rtol=0, atol=atol)
    np.testing.assert_allclose(first.thresholds_, second.thresholds_, rtol=0, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


def assert_same_objective(first, second) -> None:
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-6)


def sorted_by_rank(X, y):
    order = np.argsort(y, kind="stable")
    return X[order], y[order]
