"""How near the dual variables of a trained machine are to their bounds, all together.

With penalised thresholds, or none, nothing but C bounds a dual variable. Free and ordered thresholds need as much on
one side as on the other, so that the larger side cannot be at its bound as a whole, and one variable of every threshold
may be anywhere. Of the two hinges around a tube one at most is above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats, Labels
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.solution import DualVariables

AT_BOUND = 0.99  # share of its bound from which on a dual variable is at it: interior points stay below
NEARLY_ALL = 0.99  # share of what dual variables can sum up to
ROWS_AT_ONCE = 8_192
BOUNDED_BY_C = (Treatment.PENALIZED, Treatment.NONE)  # nothing else bounds dual variables


class Saturation(NamedTuple):
    """Where the dual variables are between 0 and their bounds.

    share      of the sum that bounds and constraints allow
    n_between  how many are at neither end, beyond those that the constraints on thresholds explain
    largest    the largest share that one has of its bound
    n          dual variables
    """

    share: float
    n_between: int
    largest: float
    n: int

    @property
    def is_full(self) -> bool:
        """Whether all are at their bounds."""
        return self.share >= NEARLY_ALL and self.n_between <= 0

    @property
    def is_empty(self) -> bool:
        """Whether none is at its bound."""
        return self.largest < AT_BOUND


def _not_full(share: float, n: int) -> Saturation:
    """Where nothing else was looked at."""
    return Saturation(share, n, 1.0, n)


def of_problems(problems: Sequence[Problem], alpha: Floats, brief: bool) -> Saturation:
    """Of kernel machines; `brief`: only as far as it takes to see that not all are at their bounds."""
    if len(problems) > 1 and brief and (share := _share_of_pairs(problems, alpha)) is not None and share < NEARLY_ALL:
        return _not_full(share, len(alpha))
    counted = [_counted(problem) for problem in problems]
    attainable = sum(_attainable(problem, which) for problem, which in zip(problems, counted, strict=True))
    which = counted[0] if len(counted) == 1 else np.concatenate(counted)
    share = float((alpha * which).sum()) / attainable if attainable > 0 else 0.0
    if brief and share < NEARLY_ALL:
        return _not_full(share, len(alpha))
    caps = [problem.hinges.cap for problem in problems]
    ratio = alpha / (caps[0] if len(caps) == 1 else np.concatenate(caps))
    between = int(np.count_nonzero((which > 0) & (ratio > 1 - AT_BOUND) & (ratio < AT_BOUND)))
    penalized = all(problem.treatment in BOUNDED_BY_C for problem in problems)
    explained = len(alpha) if penalized else sum(problem.n_thresholds for problem in problems)
    return Saturation(share, max(0, between - explained), float(ratio.max(initial=0.0)), len(alpha))


def _share_of_pairs(problems: Sequence[Problem], alpha: Floats) -> float | None:
    """The share of what dual variables of many problems can sum up to; None unless each has one threshold, and at most
    a hinge a sample. The same as by `_attainable`, for all problems at once."""
    tables = [problem.hinges for problem in problems]
    if any(p.n_thresholds > 1 or not 0 < len(h) <= p.n_samples for p, h in zip(problems, tables, strict=True)):
        return None
    begins = np.cumsum([0] + [len(table) for table in tables[:-1]])
    cap = np.concatenate([table.cap for table in tables])
    most = np.add.reduceat(cap, begins)
    if problems[0].treatment not in BOUNDED_BY_C:
        above = np.add.reduceat(cap * (np.concatenate([table.sign for table in tables]) > 0), begins)
        most = 2.0 * np.minimum(above, most - above)
    return float(alpha.sum() / most.sum()) if most.sum() > 0 else 0.0


def _counted(problem: Problem) -> Floats:
    """1 for every hinge that counts. Around a tube there are two of a sample, one after the other, neither of which is
    at its bound inside of it: these count where there are no others."""
    hinges = problem.hinges
    if len(hinges) <= problem.n_samples or problem.n_thresholds > 1:
        return np.ones(len(hinges))
    twice = hinges.sample[1:] == hinges.sample[:-1]
    in_tube = np.append(twice, False) | np.insert(twice, 0, False)
    return np.ones(len(hinges)) if in_tube.all() else (~in_tube).astype(np.float64)


def _attainable(problem: Problem, counted: Floats) -> float:
    """The largest sum of the dual variables that count."""
    hinges = problem.hinges
    cap = hinges.cap * counted
    is_tube = len(hinges) > problem.n_samples and problem.n_thresholds == 1 and counted.all()
    total = float(cap.sum()) / (2.0 if is_tube else 1.0)
    if problem.treatment in BOUNDED_BY_C:
        return total
    above = np.bincount(hinges.threshold, cap * (hinges.sign > 0), problem.n_thresholds)
    below = np.bincount(hinges.threshold, cap * (hinges.sign < 0), problem.n_thresholds)
    balancing = 0.5 * float((hinges.cap - cap).sum())  # of tubes: one of two hinges each
    return min(total, 2.0 * float(np.minimum(above, below).sum()) + balancing)


def of_rows(widths: Floats, labels: Labels, weight: Floats | None, beta: DualVariables, brief: bool) -> Saturation:
    """Of linear machines with hinges that are not squared; widths: of every label, in every lane."""
    attainable, taken = 0.0, 0.0
    for first in range(0, len(labels), ROWS_AT_ONCE):  # no array of all samples is made
        rows = slice(first, first + ROWS_AT_ONCE)
        counts = np.bincount(labels[rows], None if weight is None else weight[rows], len(widths))
        attainable += float(np.sum(counts @ widths))
        taken += sum(float(np.abs(part[rows]).sum(dtype=np.float64)) for part in beta.parts)
    share, n = taken / attainable if attainable > 0 else 0.0, int(np.prod(beta.shape))
    if brief:
        return _not_full(share, n) if share < NEARLY_ALL else Saturation(share, 0, 1.0, n)
    bound = widths[labels] * (1.0 if weight is None else weight[:, None])
    ratio = np.divide(np.abs(beta.array()), bound, out=np.zeros_like(bound), where=bound > 0)
    return Saturation(share, 0, float(ratio.max(initial=0.0)), n)
