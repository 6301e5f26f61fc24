"""The threshold models as data: a score, cut into ranks by thresholds, and what a mistake costs.

Every threshold model is one of two tables of hinges, sign s_ik = +1 if y_i > k else −1, and a treatment of the
thresholds b:

    svor, redsvm     min ½‖w‖² + ½‖b‖² + Σ_i Σ_k C_i cost_weight[y_i, k] max(0, 1 − s_ik (f(x_i) − b_k))
    svorim           min ½‖w‖²         + the same
    svorex           min ½‖w‖²         + Σ_i C_i [max(0, 1 + f(x_i) − b_{y_i}) + max(0, 1 − f(x_i) + b_{y_i − 1})],
                     b ascending
    shashua_levin    min ½‖w‖²         + the same, b in any order

A cost is paid threshold by threshold: going from rank k to rank k + 1 in the prediction changes the cost of a sample of
rank y by cost[y, k + 1] − cost[y, k], and the hinge of that sample at threshold k gets the absolute value of that
change as its share of C. This is right for rows that fall up to the true rank and rise after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.problem import Hinges, Problem, Treatment
from ordsvm.problem.cost_labels import costs_by_rank
from ordsvm.problem.thresholds import RankRule

COSTS = ("absolute", "zero-one", "squared")


@dataclass(frozen=True)
class ThresholdFormulation:
    """A threshold model: at which thresholds a sample has hinges, how these are treated, and how they make ranks.

    Parameters
    ----------
    hinges : {"all", "adjacent"}
        "all": at every threshold, weighted by what a mistake there costs; "adjacent": at the two next to its rank, so
        that costs have no place.
    treatment : Treatment
        Of the thresholds.
    rule : {"count", "first"}, default="first"
        The predicted rank: the number of thresholds below the score, or the first threshold above it.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svor
    >>> problem = svor(np.array([0, 1, 2]), n_ranks=3, C=1.0)
    >>> problem.hinges.sign
    array([-1.,  1.,  1., -1., -1.,  1.])
    """

    hinges: Literal["all", "adjacent"]
    treatment: Treatment
    rule: RankRule = "first"

    def __call__(self, y: Ints, n_ranks: int, C: float | Floats, cost_weight: Floats | None = None) -> Problem:
        """Make the problem of samples with these ranks.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Ranks from 0 to n_ranks − 1.
        n_ranks : int
            One more than there are thresholds.
        C : float or ndarray of shape (n_samples,)
            C × sample weight × class weight.
        cost_weight : ndarray of shape (n_ranks, n_ranks − 1) or None, default=None
            See `cost_weights`; None is 1 everywhere. Only for "all".

        Returns
        -------
        Problem
            Hinges and treatment.
        """
        if self.hinges == "all":
            hinges = all_threshold_hinges(y, n_ranks, C, cost_weight)
        else:
            hinges = adjacent_threshold_hinges(y, n_ranks, C)
        return Problem(hinges, self.treatment, len(y), n_ranks - 1)


#: The concise SVOR (Gu et al. 2020, (6)–(8)): SVORIM's hinges with penalised thresholds. The dual has no equality
#: constraint, and b = −γ is unique.
svor = ThresholdFormulation("all", Treatment.PENALIZED, rule="count")

#: RedSVM (Lin & Li 2012; Shi et al. 2021): the ranks reduced to weighted binary questions "above k?". With absolute
#: costs this is the concise SVOR. (Existing programs add a free offset common to all thresholds.)
redsvm = ThresholdFormulation("all", Treatment.PENALIZED, rule="count")

#: SVORIM (Chu & Keerthi 2007, §4): hinges at every threshold; thresholds are free. They come out in order
#: where caps don't decrease with the distance from the rank (Lemma 1).
svorim = ThresholdFormulation("all", Treatment.FREE)

#: SVOREX (Chu & Keerthi 2007, §2): only the thresholds next to the rank; b_1 ≤ … ≤ b_m is a constraint.
svorex = ThresholdFormulation("adjacent", Treatment.ORDERED)

#: Shashua & Levin 2003 (Chu & Keerthi 2007, (2)–(3)): SVOREX without the order, so thresholds may come out disordered.
shashua_levin = ThresholdFormulation("adjacent", Treatment.FREE)


def all_threshold_hinges(y: Ints, n_ranks: int, C: float | Floats, cost_weight: Floats | None) -> Hinges:
    """Hinges of every sample at every threshold: its score should be above those below its rank, below the others."""
    ranks = np.arange(n_ranks - 1, dtype=np.int32)[:, np.newaxis]
    sign = np.where(y > ranks, 1.0, -1.0)
    sample, threshold = np.empty(sign.shape, dtype=np.int32), np.empty(sign.shape, dtype=np.int32)
    sample[:], threshold[:] = np.arange(len(y), dtype=np.int32), ranks
    cap = np.full(sign.shape, C, dtype=np.float64)
    if cost_weight is not None:
        cap *= cost_weight.T[:, y]
    return Hinges.in_order(sample.ravel(), threshold.ravel(), sign.ravel(), np.ones(sign.size), cap.ravel())


def adjacent_threshold_hinges(y: Ints, n_ranks: int, C: float | Floats) -> Hinges:
    """Hinges at the thresholds next to the rank only: the score should be below the upper, above the lower one."""
    all_samples = np.arange(len(y))
    has_upper, has_lower = y < n_ranks - 1, y > 0
    sample = np.concatenate([all_samples[has_upper], all_samples[has_lower]])
    sign = np.repeat([-1, 1], [has_upper.sum(), has_lower.sum()])
    threshold = np.where(sign < 0, y[sample], y[sample] - 1)
    return Hinges.table(sample, threshold, sign, offset=1.0, cap=np.broadcast_to(C, len(y))[sample])


class Cuts(NamedTuple):
    """The scores of a model and where they are cut: `intercept` is added to f, and `thresholds` cut the sum."""

    thresholds: Floats
    intercept: Floats


def public_cuts(thresholds: Floats) -> Cuts:
    """Return `thresholds_` and `intercept_` of a model whose thresholds on f are these.

    The score of two ranks is cut at 0, as scikit-learn's tools expect of two classes: its threshold b becomes the
    intercept −b. Ranks stay the same in every bit, as f > b where f − b > 0. For more ranks the intercept is 0.
    """
    if len(thresholds) == 1:
        return Cuts(np.zeros(1), 0.0 - thresholds)
    return Cuts(thresholds, np.zeros(1))


def cost_matrix(cost: str | ArrayLike, n_ranks: int, classes: NDArray[Any] | None = None) -> Floats:
    """Return the matrix of costs that a name stands for, or a checked copy of a given matrix.

    Parameters
    ----------
    cost : {"absolute", "zero-one", "squared"} or array-like of shape (n_ranks, n_ranks)
        The name, or cost[true, predicted].
    n_ranks : int
        The number of ranks.
    classes : ndarray of shape (n_ranks,) or None, default=None
        Their labels, lowest first, by which rows and columns of a labelled frame are put into order; None: they are in
        order.

    Returns
    -------
    ndarray of shape (n_ranks, n_ranks)
        The costs.

    Raises
    ------
    ValueError
        Where the matrix has another shape, other labels than the classes, or rows that are not V-shaped.

    See Also
    --------
    cost_weights : What the costs make of C.

    Examples
    --------
    >>> from ordsvm.formulations import cost_matrix
    >>> cost_matrix("absolute", 3)
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    if isinstance(cost, str):
        distance = np.abs(np.subtract.outer(np.arange(n_ranks), np.arange(n_ranks))).astype(float)
        named = {"absolute": distance, "zero-one": (distance > 0).astype(float), "squared": distance**2}
        if cost not in named:
            raise ValueError(f"cost={cost!r} is unknown: give one of {', '.join(map(repr, COSTS))} or a matrix.")
        return named[cost]
    return _v_shaped(costs_by_rank(cost, n_ranks, classes), n_ranks)


def _v_shaped(matrix: Floats, n_ranks: int) -> Floats:
    steps = np.diff(matrix, axis=1)
    before_truth = np.arange(n_ranks - 1)[None, :] < np.arange(n_ranks)[:, None]
    wrong = np.where(before_truth, steps > 0, steps < 0).any(axis=1)
    if wrong.any():
        raise ValueError(
            f"Row {int(np.flatnonzero(wrong)[0])} of the cost matrix is not V-shaped: every row must fall (or stay) "
            "up to the true rank on the diagonal and rise (or stay) after it."
        )
    return matrix


def cost_weights(matrix: Floats) -> Floats:
    """Return the factors of C at every threshold, abs(cost[y, k + 1] − cost[y, k]).

    Parameters
    ----------
    matrix : ndarray of shape (n_ranks, n_ranks)
        The costs, cost[true, predicted].

    Returns
    -------
    ndarray of shape (n_ranks, n_ranks - 1)
        The factor for a sample of rank y (row) at threshold k (column).

    See Also
    --------
    cost_matrix : The costs.

    Examples
    --------
    >>> from ordsvm.formulations import cost_matrix, cost_weights
    >>> cost_weights(cost_matrix("squared", 3))
    array([[1., 3.],
           [1., 1.],
           [3., 1.]])
    """
    return np.abs(np.diff(matrix, axis=1))
