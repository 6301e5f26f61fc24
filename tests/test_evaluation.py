"""Metrics with intervals."""

import numpy as np
import pytest
from scipy import stats

from ordsvm.evaluation import evaluate, score_quantiles, score_shift
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


def test_a_shift_of_scores_is_the_distance_of_two_samples():
    """Against SciPy's statistic, up to the hundredth that quantiles leave open."""
    rng = np.random.default_rng(0)
    before = rng.normal(size=2000)
    for new in (rng.normal(size=500), rng.normal(0.5, 1.0, size=500), 3 * rng.normal(size=80), before + 9):
        expected = stats.ks_2samp(before, new).statistic
        assert score_shift(score_quantiles(before), new) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("scores", [[], [[1.0]], [np.nan], 1.0])
def test_scores_that_are_none(scores):
    with pytest.raises(ValueError, match="finite number"):
        score_shift(score_quantiles([0.0, 1.0]), scores)
