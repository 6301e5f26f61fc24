"""Thresholds for given scores: minimisers of a piecewise linear function, checked by brute force and by an LP."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from ordsvm.problem import penalized_thresholds, undetermined
from ordsvm.problem.thresholds import Levels, free_thresholds, minimisers, ordered_thresholds


def loss(levels: Levels, b: float) -> float:
    """Σ cap · max(0, sign · (b − level)), which is what the hinges of one threshold cost."""
    return float(levels.cap @ np.maximum(0.0, levels.sign * (b - levels.level)))


def total_loss(levels: list[Levels], b: np.ndarray) -> float:
    return sum(loss(part, at) for part, at in zip(levels, b, strict=True))


def least_total_loss(levels: list[Levels], ordered: bool) -> float:
    """min Σ cap ξ over b and ξ ≥ 0 with ξ ≥ sign (b − level), by linear programming."""
    m, counts = len(levels), [len(part.level) for part in levels]
    level, sign, cap = (np.concatenate(column) for column in zip(*levels, strict=True))
    of_b = np.zeros((len(level), m))
    of_b[np.arange(len(level)), np.repeat(np.arange(m), counts)] = sign
    rows, right = np.hstack([of_b, -np.eye(len(level))]), sign * level
    if ordered:
        rows = np.vstack([rows, np.pad(-np.diff(np.eye(m), axis=0), ((0, 0), (0, len(level))))])
        right = np.append(right, np.zeros(m - 1))
    bounds = [(None, None)] * m + [(0, None)] * len(level)
    found = linprog(np.append(np.zeros(m), cap), A_ub=rows, b_ub=right, bounds=bounds)
    assert found.status == 0, found.message
    return found.fun


def random_levels(rng: np.random.Generator, two_sided: bool = True) -> Levels:
    n = rng.integers(2, 9)
    sign = rng.choice([-1.0, 1.0], size=n)
    if two_sided:
        sign[:2] = [-1.0, 1.0]
    whole_numbers = rng.random() < 0.5  # then levels tie, and caps sum to the same from both sides
    level = rng.integers(-3, 4, size=n).astype(float) if whole_numbers else rng.normal(size=n)
    cap = rng.integers(1, 4, size=n).astype(float) if whole_numbers else rng.uniform(0.1, 2, size=n)
    return Levels(level, sign, cap)


def floats(low: float, high: float):
    return st.integers(round(low * 4), round(high * 4)).map(lambda number: number / 4)


hinges = st.tuples(floats(-3, 3), st.sampled_from([-1.0, 1.0]), floats(0.25, 2))
tables = st.lists(hinges, min_size=1, max_size=8).map(lambda rows: Levels(*np.array(rows).T))


@given(tables)
def test_minimisers_are_exactly_the_points_of_least_loss(levels):
    low, high = minimisers(levels)
    assert low <= high
    # The loss is convex and has its corners at the levels: corners, their midpoints and beyond tell all.
    corners = np.unique(levels.level)
    grid = np.concatenate([corners, (corners[1:] + corners[:-1]) / 2, [corners[0] - 1, corners[-1] + 1]])
    losses = np.array([loss(levels, b) for b in grid])
    np.testing.assert_array_equal(losses <= losses.min() + 1e-9, (low <= grid) & (grid <= high))


@given(tables)
def test_minimisers_reach_to_infinity_only_where_nothing_holds_the_threshold(levels):
    low, high = minimisers(levels)
    assert np.isneginf(low) == (not np.any(levels.sign < 0))
    assert np.isposinf(high) == (not np.any(levels.sign > 0))
    assert bool(undetermined([levels], ordered=False)[0]) == (np.isinf(low) or np.isinf(high))


def test_minimisers_do_not_trip_over_rounding():
    """Ten times 0.1 on either side: the flat piece between the levels must not be lost to rounding."""
    levels = Levels(np.repeat([2.0, 1.0], 10), np.repeat([1.0, -1.0], 10), np.full(20, 0.1))
    assert minimisers(levels) == (1.0, 2.0)


def test_minimisers_of_no_hinges_are_everything():
    assert minimisers(Levels(*np.empty((3, 0)))) == (-np.inf, np.inf)


@pytest.mark.parametrize("seed", range(20))
def test_free_thresholds_cost_least_and_lie_in_the_middle(seed):
    rng = np.random.default_rng(seed)
    levels = [random_levels(rng) for _ in range(rng.integers(1, 6))]
    b = free_thresholds(levels)
    assert total_loss(levels, b) == pytest.approx(least_total_loss(levels, ordered=False), abs=1e-8)
    np.testing.assert_allclose(b, [np.mean(minimisers(part)) for part in levels])


@pytest.mark.parametrize("seed", range(60))
def test_ordered_thresholds_ascend_and_cost_least(seed):
    rng = np.random.default_rng(seed)
    levels = [random_levels(rng) for _ in range(rng.integers(1, 7))]
    b = ordered_thresholds(levels)
    assert np.all(np.diff(b) >= 0)
    assert total_loss(levels, b) == pytest.approx(least_total_loss(levels, ordered=True), abs=1e-8)
    free = free_thresholds(levels)
    if np.all(np.diff([minimisers(part) for part in levels], axis=0) >= 0):
        np.testing.assert_allclose(b, free)


@given(st.lists(tables, min_size=2, max_size=4))
def test_ordered_thresholds_cost_least_on_a_grid(levels):
    """Brute force over ascending combinations of the levels: where the corners are, a minimiser is."""
    if undetermined(levels, ordered=True).any():
        return
    b = ordered_thresholds(levels)
    assert np.all(np.diff(b) >= 0)
    corners = np.unique(np.concatenate([part.level for part in levels]))
    best = np.zeros(len(corners))  # the least cost so far with the last threshold at or below each corner
    for part in levels:
        best = np.minimum.accumulate(best + [loss(part, corner) for corner in corners])
    assert total_loss(levels, b) == pytest.approx(best[-1], abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_one_sided_thresholds_are_held_by_their_ordered_neighbours(seed):
    """As in SVOREX where a rank has no samples: below it only sign −1, above it only +1."""
    rng = np.random.default_rng(seed)
    below, above = random_levels(rng), random_levels(rng)
    levels = [
        random_levels(rng),
        below._replace(sign=-np.ones_like(below.sign)),
        Levels(*np.empty((3, 0))),
        above._replace(sign=np.ones_like(above.sign)),
    ]
    assert not undetermined(levels, ordered=True).any()
    np.testing.assert_array_equal(undetermined(levels, ordered=False), [False, True, True, True])
    b = ordered_thresholds(levels)
    assert np.all(np.isfinite(b))
    assert np.all(np.diff(b) >= 0)
    assert total_loss(levels, b) == pytest.approx(least_total_loss(levels, ordered=True), abs=1e-8)


def test_undetermined_at_the_ends():
    up, down, both = (Levels(np.zeros(2), np.array(sign), np.ones(2)) for sign in ([1, 1], [-1, -1], [-1, 1]))
    assert undetermined([up, both, down], ordered=True).tolist() == [True, False, True]
    assert undetermined([down, both, up], ordered=True).tolist() == [False, False, False]
    assert undetermined([down, both, up], ordered=False).tolist() == [True, False, True]


@given(tables)
def test_the_penalised_minimiser_is_where_the_slope_changes_its_sign(levels):
    """In quarters, so that sums are exact."""
    below = np.array([levels.cap[levels.sign < 0].sum()])
    (b,) = penalized_thresholds([levels], below)
    passed = levels.cap[levels.level < b].sum()
    at = levels.cap[levels.level == b].sum()
    assert b + passed - below[0] <= 0.0 <= b + passed + at - below[0]


def test_a_penalised_threshold_without_hinges_is_zero():
    nothing = Levels(np.empty(0), np.empty(0), np.empty(0))
    assert penalized_thresholds([nothing], np.zeros(1)).tolist() == [0.0]
