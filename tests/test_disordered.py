"""Chu & Keerthi's Figure 4: free adjacent thresholds cross, the explicit constraint ties them, implicit ones hold."""

import numpy as np
import pytest

from ordsvm import SVOREX, SVORIM, ShashuaLevinSVOR, certify
from tests.example_parts import functions_of

patients = functions_of("models/disordered_thresholds.py").patients


@pytest.fixture(scope="module")
def machines():
    X, y = patients()
    models = {kind: kind(C=3.0, gamma=0.25, tol=1e-6).fit(X, y) for kind in (ShashuaLevinSVOR, SVOREX, SVORIM)}
    assert all(certify(model, X, y).relative_gap < 1e-6 for model in models.values())
    return models


def test_shashua_levin_comes_out_disordered(machines):
    b = machines[ShashuaLevinSVOR].thresholds_
    assert b[1] < b[0] - 1.0


def test_svorex_ties_the_thresholds_that_would_cross(machines):
    b = machines[SVOREX].thresholds_
    assert b[0] == b[1] < b[2]


def test_svorim_needs_no_constraint(machines):
    assert np.all(np.diff(machines[SVORIM].thresholds_) > 0.5)


def test_the_constraint_has_its_price(machines):
    """SVOREX minimises the same objective over fewer thresholds."""
    assert machines[SVOREX].result_.objective > machines[ShashuaLevinSVOR].result_.objective + 0.1


def test_disordered_thresholds_still_predict_by_the_paper_s_rule(machines):
    """The first k with f < b_k: here rank 1 can't be reached, for b_1 < b_0."""
    X, _ = patients()
    model = machines[ShashuaLevinSVOR]
    expected = [next((k for k, b in enumerate(model.thresholds_) if f < b), 3) for f in model.decision_function(X)]
    assert model.predict(X).tolist() == expected
    assert 1 not in expected
