"""From the scores of NPSVOR to ranks: the two predictors of Shi et al. 2021.

All functions take scores[i, k] = f_k(x_i), one column for each of two or more ranks, lowest first: f_k is near 0 on
rank k, positive above it and negative below it. The paper counts ranks from 1, this library from 0.

Besides ranks, a predictor gives margins: how far a sample is from losing a rank, or from getting it. The margin is
positive for the predicted rank and negative for all others; at a tie it is 0 for several, the first of which, the
lowest, is the predicted one. So the largest margin is always that of the predicted rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats, Ints


def ordered_ranks(scores: Floats) -> Ints:
    """r_new, (32)–(33): how many of the questions "above rank k?" are answered with yes.

    g_k(x) = f_k(x) + f_{k+1}(x),   r(x) = Σ_k I(g_k(x) > 0)   (+ 1 where ranks count from 1)

    No yes is the lowest rank and yes throughout the highest; g_k = 0 is a no. Answers may contradict each other
    ("not above 0, but above 1"): the paper counts them all the same.
    """
    return np.count_nonzero(_questions(scores) > 0, axis=1).astype(np.int64)


def ordered_margins(scores: Floats) -> Floats:
    """With the answers g sorted from the surest yes to the surest no, rank k is predicted where the first k are above
    0 and the others are not: its margin is the least of the k-th and of minus the one after it."""
    surest_first = -np.sort(-_questions(scores), axis=1)
    answers = np.pad(surest_first, ((0, 0), (1, 1)), constant_values=(np.inf, -np.inf))
    return np.minimum(answers[:, :-1], -answers[:, 1:])


def nearest_ranks(scores: Floats) -> Ints:
    """r_old, (5): r(x) = argmin_k |f_k(x)|.

    The paper calls |f_k(x)| the distance to the hyperplane of rank k, but does not divide it by ‖w_k‖; nor is it
    here. Of equally near ranks, on which the paper is silent, the lowest is taken.
    """
    return np.abs(scores).argmin(axis=1)


def nearest_margins(scores: Floats) -> Floats:
    """How much nearer a rank is than the nearest of the others."""
    distance = np.abs(scores)
    least, second = np.partition(distance, 1, axis=1)[:, :2].T[:, :, np.newaxis]
    return np.where(distance > least, least, second) - distance


def _questions(scores: Floats) -> Floats:
    """g of (32)."""
    return scores[:, :-1] + scores[:, 1:]


class Predictor(NamedTuple):
    """What makes ranks of scores, and the margins of these ranks."""

    ranks: Callable[[Floats], Ints]
    margins: Callable[[Floats], Floats]


PREDICTORS = {
    "ordered": Predictor(ordered_ranks, ordered_margins),
    "nearest": Predictor(nearest_ranks, nearest_margins),
}
