"""The predictors of NPSVOR against the paper's formulas, written out sample by sample."""

from itertools import product

import numpy as np
import pytest

from ordsvm.problem.predictors import PREDICTORS, nearest_ranks, ordered_ranks

every_predictor = pytest.mark.parametrize("name", PREDICTORS)


def r_new(f) -> int:
    """(32)–(33), with ranks from 1 as in the paper."""
    p = len(f)
    return 1 + sum(1 for k in range(1, p) if f[k - 1] + f[k] > 0)


def r_old(f) -> int:
    """(5); of equally small ones the first."""
    return 1 + min(range(len(f)), key=lambda k: abs(f[k]))


PAPER = {"ordered": r_new, "nearest": r_old}


def random_scores(n_ranks: int, seed: int = 0, n: int = 500) -> np.ndarray:
    """Half of them any numbers, half of them small whole ones, among which there are many ties and zeros."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n, n_ranks)), rng.integers(-2, 3, size=(n, n_ranks))])


@every_predictor
@pytest.mark.parametrize("n_ranks", [2, 3, 4, 7])
def test_ranks_are_the_papers(name, n_ranks):
    scores = random_scores(n_ranks)
    ranks = PREDICTORS[name].ranks(scores)
    assert ranks.dtype == np.int64
    np.testing.assert_array_equal(ranks + 1, [PAPER[name](row) for row in scores])
    assert set(ranks) == set(range(n_ranks))  # else this would not be much of a test


@every_predictor
@pytest.mark.parametrize("n_ranks", [2, 3, 4, 7])
def test_the_largest_margin_is_that_of_the_rank_and_the_only_positive_one(name, n_ranks):
    scores = random_scores(n_ranks)
    ranks, margins = PREDICTORS[name].ranks(scores), PREDICTORS[name].margins(scores)
    assert margins.shape == scores.shape
    np.testing.assert_array_equal(margins.argmax(axis=1), ranks)
    own = np.arange(n_ranks) == ranks[:, None]
    assert np.all(margins[own] >= 0)
    assert np.all(margins[~own] <= 0)
    if n_ranks == 2:
        np.testing.assert_array_equal(margins[:, 1] > 0, ranks == 1)
        np.testing.assert_array_equal(margins[:, 0], -margins[:, 1])


@every_predictor
@pytest.mark.parametrize("n_ranks", [2, 3, 5])
def test_a_margin_is_how_much_it_takes_to_lose_the_rank(name, n_ranks):
    """Scores that change by less than half of it leave the rank as it is, and some change by just more does not."""
    scores = random_scores(n_ranks, seed=1, n=40)[:40]
    margin = PREDICTORS[name].margins(scores).max(axis=1, keepdims=True)
    ranks = PREDICTORS[name].ranks(scores)
    lost = np.zeros(len(scores), dtype=bool)
    for corner in product([-1.0, 1.0], repeat=n_ranks):
        np.testing.assert_array_equal(PREDICTORS[name].ranks(scores + 0.499 * margin * np.array(corner)), ranks)
        lost |= PREDICTORS[name].ranks(scores + 0.501 * margin * np.array(corner)) != ranks
    if name == "ordered":  # |f| has a kink at 0, over which the nearest rank may survive
        assert lost.all()
    assert lost.any()


def test_first_and_last_rank_ties_and_contradictions():
    """What is left to say about r_new and r_old beside their formulas."""
    scores = np.array(
        [
            [-1.0, -2.0, -3.0],  # below all ranks
            [3.0, 2.0, 1.0],  # above all
            [1.0, -1.0, -2.0],  # g_1 = 0 is not above
            [-3.0, 1.0, 4.0],  # not above the first, but above the second: one yes
            [0.0, 0.0, 0.0],
            [2.0, 0.5, -0.5],  # equally near to two ranks
        ]
    )
    np.testing.assert_array_equal(ordered_ranks(scores), [0, 2, 0, 1, 0, 1])
    np.testing.assert_array_equal(nearest_ranks(scores), [0, 2, 0, 1, 0, 1])
    ambiguous = np.array([[0.2, 3.0, 2.0], [-2.0, -3.0, 0.1]])  # the paper's Figure 3: they differ by two ranks
    np.testing.assert_array_equal(ordered_ranks(ambiguous), [2, 0])
    np.testing.assert_array_equal(nearest_ranks(ambiguous), [0, 2])


@every_predictor
def test_reversing_the_ranks_mirrors_the_prediction(name):
    scores = random_scores(5)[:500]  # no ties
    mirrored = -scores[:, ::-1]
    np.testing.assert_array_equal(PREDICTORS[name].ranks(mirrored), 4 - PREDICTORS[name].ranks(scores))
    np.testing.assert_array_equal(PREDICTORS[name].margins(mirrored), PREDICTORS[name].margins(scores)[:, ::-1])


def test_both_agree_where_the_scores_fall_from_rank_to_rank():
    """Then just one question separates the two ranks next to 0, and the nearer of them wins."""
    scores = -np.sort(-random_scores(6)[:500], axis=1)
    np.testing.assert_array_equal(ordered_ranks(scores), nearest_ranks(scores))


@every_predictor
def test_no_samples_no_ranks(name):
    assert PREDICTORS[name].ranks(np.empty((0, 3))).shape == (0,)
    assert PREDICTORS[name].margins(np.empty((0, 3))).shape == (0, 3)
