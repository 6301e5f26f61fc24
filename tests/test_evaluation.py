"""Metrics with intervals."""

import numpy as np
import pytest

from ordsvm.evaluation import evaluate
from ordsvm.metrics import SCORERS, mean_absolute_error, ranked_probability_score


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=300)
    return true, np.clip(true + rng.integers(-1, 2, size=300), 0, 3)


def test_values_are_the_metrics(answers):
    true, predicted = answers
    found = evaluate(true, predicted, range(4), n_draws=20)
    for name, scorer in SCORERS.items():
        assert found.metrics[name].value == pytest.approx(scorer.metric(true, predicted, categories=range(4)))
    assert found.confusion.sum() == 300
    assert found.confusion[1, 2] == np.sum((true == 1) & (predicted == 2))


def test_intervals_are_those_of_rows_drawn_again(answers):
    """Drawing cells of the confusion matrix is drawing rows."""
    true, predicted = answers
    found = evaluate(true, predicted, range(4), n_draws=1000).metrics["mae"]
    rng = np.random.default_rng(1)
    drawn = (rng.integers(300, size=300) for _ in range(1000))
    values = [mean_absolute_error(true[rows], predicted[rows]) for rows in drawn]
    np.testing.assert_allclose([found.low, found.high], np.quantile(values, [0.025, 0.975]), atol=0.012)


def test_perfect_predictions_have_no_spread():
    found = evaluate(["a", "b", "a"], ["a", "b", "a"], ["b", "a"]).metrics["mae"]
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


def test_probabilities(answers):
    true, predicted = answers
    probabilities = np.full((300, 4), 0.25)
    found = evaluate(true, predicted, range(4), probabilities, n_draws=50).metrics["rps"]
    assert found.value == pytest.approx(ranked_probability_score(true, probabilities, categories=range(4)))
    assert found.low < found.value < found.high
