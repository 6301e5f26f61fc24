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
from ordsvm.problem import Problem, Treatment
from ordsvm.problem.label_table import LabelTable


def npsvor(n_ranks: int, C1: float, C2: float, epsilon: float) -> LabelTable:
    """NPSVOR, a lane for every rank."""
    unit = _unit_npsvor(n_ranks)
    C = np.where(unit.epsilon > 0, C1, C2)
    return LabelTable(C * unit.lower, C * unit.upper, unit.offset, epsilon * unit.epsilon)


def binary(C: float) -> LabelTable:
    """C-SVC of two classes in one lane: beyond −1 on the first, beyond +1 on the second."""
    return _unit_binary().times(C)


def one_vs_rest(n_classes: int, C: float) -> LabelTable:
    """C-SVC of several classes, a lane for every class: beyond +1 on it, beyond −1 on all others."""
    return _unit_one_vs_rest(n_classes).times(C)


def regression(C: float, epsilon: float) -> LabelTable:
    """ε-SVR, one lane and one label: within ε of the offset, to which the target of a sample is added."""
    unit = _unit_regression()
    return LabelTable(C * unit.lower, C * unit.upper, unit.offset, epsilon * unit.epsilon)


def svor(n_ranks: int, C: float, cost_weight: Floats | None = None) -> LabelTable:
    """The concise SVOR and RedSVM, a threshold between any two neighbouring ranks."""
    unit = _unit_svor(n_ranks)
    return LabelTable.of_thresholds(unit.offset, C * (unit.widths() if cost_weight is None else cost_weight))


# The same with C = 1 and ε = 1, kept from fit to fit: a fit of few samples takes not much longer than its table


@lru_cache(maxsize=1)
def _unit_npsvor(n_ranks: int) -> LabelTable:
    ranks = np.arange(n_ranks)
    return label_table([npsvor_problem(ranks, rank, 1.0, 1.0, 1.0) for rank in range(n_ranks)])


@lru_cache(maxsize=1)
def _unit_binary() -> LabelTable:
    return label_table([svc(np.array([-1.0, 1.0]), 1.0, Treatment.PENALIZED)])


@lru_cache(maxsize=1)
def _unit_one_vs_rest(n_classes: int) -> LabelTable:
    return label_table([svc(sign, 1.0, Treatment.PENALIZED) for sign in 2.0 * np.eye(n_classes) - 1.0])


@lru_cache(maxsize=1)
def _unit_regression() -> LabelTable:
    return label_table([svr(np.zeros(1), 1.0, 1.0, Treatment.PENALIZED)])


@lru_cache(maxsize=1)
def _unit_svor(n_ranks: int) -> LabelTable:
    return label_table([threshold.svor(np.arange(n_ranks), n_ranks, 1.0)], shared=True)


def label_table(problems: Sequence[Problem], shared: bool = False) -> LabelTable:
    """Make the table of a linear machine from problems that have one sample for every label.

    Parameters
    ----------
    problems : sequence of Problem
        Problems of one threshold each, which become lanes; with `shared`, one problem.
    shared : bool, default=False
        The columns are the thresholds of one problem, which share its weight vector.

    Returns
    -------
    LabelTable
        The table of a linear machine.

    See Also
    --------
    svor : A formulation whose thresholds share a weight vector.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import label_table, svc, svor
    >>> from ordsvm.problem import Treatment
    >>> label_table([svc(np.array([-1.0, 1.0]), 1.0, Treatment.PENALIZED)]).upper
    array([[0.],
           [1.]])
    >>> label_table([svor(np.arange(3), n_ranks=3, C=1.0)], shared=True).offset
    array([[-1., -1.],
           [ 1., -1.],
           [ 1.,  1.]])
    """
    shape = problems[0].n_samples, problems[0].n_thresholds if shared else len(problems)
    cap, offset = np.zeros((2, *shape)), np.zeros((2, *shape))
    for lane, problem in enumerate(problems):
        h = problem.hinges
        side, column = (h.sign > 0).astype(np.int64), h.threshold if shared else lane
        cap[side, h.sample, column], offset[side, h.sample, column] = h.cap, h.offset
    both = (cap > 0).all(axis=0)
    return LabelTable(
        lower=0.0 - cap[0],
        upper=cap[1],
        offset=np.where(both, 0.5, 1.0) * (offset[1] - offset[0]),
        epsilon=np.where(both, 0.0 - 0.5 * (offset[1] + offset[0]), 0.0),
        shared=shared,
    )
