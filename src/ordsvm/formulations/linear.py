"""The tables of linear machines, from the formulations of kernel machines.

A table has a row for every label instead of one for every sample: a formulation that is given one sample of every label
gives its rows. In a lane the hinges of a label become one loss with two sides,

    cap₊ max(0, o₊ − g) + cap₋ max(0, o₋ + g)  =  upper · max(0, offset − g − ε) − lower · max(0, g − offset − ε)
    offset = (o₊ − o₋) / 2     ε = −(o₊ + o₋) / 2          one side alone: offset = ±o, ε = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ordsvm._typing import Floats
from ordsvm.formulations import threshold
from ordsvm.formulations.npsvor import npsvor as npsvor_problem
from ordsvm.formulations.svc import svc
from ordsvm.formulations.svr import svr
from ordsvm.linear_problem import LaneTable, ThresholdTable
from ordsvm.problem import Problem, Treatment


def npsvor(n_ranks: int, C1: float, C2: float, epsilon: float) -> LaneTable:
    """NPSVOR, a lane for every rank."""
    unit = _unit_npsvor(n_ranks)
    C = np.where(unit.epsilon > 0, C1, C2)
    return LaneTable(C * unit.lower, C * unit.upper, unit.offset, epsilon * unit.epsilon)


def binary(C: float) -> LaneTable:
    """C-SVC of two classes in one lane: beyond −1 on the first, beyond +1 on the second."""
    return _unit_binary().times(C)


def one_vs_rest(n_classes: int, C: float) -> LaneTable:
    """C-SVC of several classes, a lane for every class: beyond +1 on it, beyond −1 on all others."""
    return _unit_one_vs_rest(n_classes).times(C)


def regression(C: float, epsilon: float) -> LaneTable:
    """ε-SVR, one lane and one label: within ε of the offset, to which the target of a sample is added."""
    unit = _unit_regression()
    return LaneTable(C * unit.lower, C * unit.upper, unit.offset, epsilon * unit.epsilon)


def svor(n_ranks: int, C: float, cost_weight: Floats | None = None) -> ThresholdTable:
    """The concise SVOR and RedSVM."""
    unit = _unit_svor(n_ranks)
    return ThresholdTable(unit.sign, C * (unit.cap if cost_weight is None else cost_weight))


# The same with C = 1 and ε = 1, kept from fit to fit: a fit of few samples takes not much longer than its table


@lru_cache(maxsize=1)
def _unit_npsvor(n_ranks: int) -> LaneTable:
    ranks = np.arange(n_ranks)
    return lane_table([npsvor_problem(ranks, rank, 1.0, 1.0, 1.0) for rank in range(n_ranks)])


@lru_cache(maxsize=1)
def _unit_binary() -> LaneTable:
    return lane_table([svc(np.array([-1.0, 1.0]), 1.0, Treatment.PENALIZED)])


@lru_cache(maxsize=1)
def _unit_one_vs_rest(n_classes: int) -> LaneTable:
    return lane_table([svc(sign, 1.0, Treatment.PENALIZED) for sign in 2.0 * np.eye(n_classes) - 1.0])


@lru_cache(maxsize=1)
def _unit_regression() -> LaneTable:
    return lane_table([svr(np.zeros(1), 1.0, 1.0, Treatment.PENALIZED)])


@lru_cache(maxsize=1)
def _unit_svor(n_ranks: int) -> ThresholdTable:
    return threshold_table(threshold.svor(np.arange(n_ranks), n_ranks, 1.0))


def lane_table(problems: Sequence[Problem]) -> LaneTable:
    """Make a lane for each of these problems, which have one threshold and one sample for every label.

    Parameters
    ----------
    problems : sequence of Problem
        The problems.

    Returns
    -------
    LaneTable
        The table of a linear machine.

    See Also
    --------
    threshold_table : The table of a threshold model.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import lane_table, svc
    >>> from ordsvm.problem import Treatment
    >>> problem = svc(np.array([-1.0, 1.0]), 1.0, Treatment.PENALIZED)
    >>> lane_table([problem]).upper
    array([[0.],
           [1.]])
    """
    shape = problems[0].n_samples, len(problems)
    cap, offset = np.zeros((2, *shape)), np.zeros((2, *shape))
    for lane, problem in enumerate(problems):
        h = problem.hinges
        side = (h.sign > 0).astype(np.int64)
        cap[side, h.sample, lane], offset[side, h.sample, lane] = h.cap, h.offset
    both = (cap > 0).all(axis=0)
    return LaneTable(
        lower=0.0 - cap[0],
        upper=cap[1],
        offset=np.where(both, 0.5, 1.0) * (offset[1] - offset[0]),
        epsilon=np.where(both, 0.0 - 0.5 * (offset[1] + offset[0]), 0.0),
    )


def threshold_table(problem: Problem) -> ThresholdTable:
    """Make the table of a threshold model from a problem that has one sample for every label.

    Parameters
    ----------
    problem : Problem
        The problem.

    Returns
    -------
    ThresholdTable
        The table of a linear machine with thresholds.

    See Also
    --------
    lane_table : The table of machines with independent weight vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svor, threshold_table
    >>> threshold_table(svor(np.arange(3), n_ranks=3, C=1.0)).sign
    array([[-1., -1.],
           [ 1., -1.],
           [ 1.,  1.]])
    """
    shape = problem.n_samples, problem.n_thresholds
    above = np.arange(shape[0])[:, None] > np.arange(shape[1])  # gives hinges of cap 0, which are left out, a sign too
    sign, cap = np.where(above, 1.0, -1.0), np.zeros(shape)
    h = problem.hinges
    sign[h.sample, h.threshold], cap[h.sample, h.threshold] = h.sign, h.cap
    return ThresholdTable(sign, cap)
