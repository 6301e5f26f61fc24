"""Dual variables that add up to given weights, to the last digit: w = Σβx where features are large.

The interior-point method moves α by v·(…), where v is up to C/τ and the bracket has the rounding of scores. With
features of 1e8 what that leaves of Σβx − w is large, though w itself is right: ½‖Σβx‖² is in the dual. A correction of
β by least squares is as small as that difference, and its rounding is a share of it, so that a few of them bring it
down to the rounding of β itself. It is distributed by the squared distance to the bounds, which it keeps within these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ordsvm._typing import Floats
from ordsvm.problem import Certificate
from ordsvm.solvers.linear.losses import Losses, certificate

MOST_VALUES = 300_000  # of the rows, once for every threshold: more are left as they are
CORRECTIONS = 6
CUTS = 16  # numbers of directions that are tried
MOST_OF_THE_WAY = 0.9  # to a bound
LEAST_SINGULAR_VALUE = 1e-14  # as a share of the largest: directions below it are rounding


class Refined(NamedTuple):
    """β, the weights and biases that it adds up to, and what they prove."""

    beta: Floats
    coef: Floats
    biases: Floats
    proof: Certificate


def refined(X: Any, loss: Losses, start: tuple[Floats, Floats, Floats], thresholds: bool, intercept: bool) -> Refined:
    """From β, weights and biases: the best of some corrections of β."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    beta, coef, biases = start
    best: Refined | None = None
    for _ in range(CORRECTIONS):
        beta = _corrected(rows, loss, (beta, coef, biases), thresholds, intercept)
        proof = certificate(rows, beta, loss, thresholds, intercept, biases, coef)
        if best is None or proof.gap < best.proof.gap:
            best = Refined(beta, coef, biases, proof)
    assert best is not None
    return best


def can_be_refined(X: Any, n_thresholds: int) -> bool:
    """Whether the rows are in memory, and so few that singular values take well below a second."""
    if not (isinstance(X, np.ndarray) or sp.issparse(X)):
        return False
    n, d = X.shape
    return n * n_thresholds * (d + n_thresholds) <= MOST_VALUES


def _corrected(X: Floats, loss: Losses, at: tuple[Floats, Floats, Floats], thresholds: bool, intercept: bool) -> Floats:
    """β of every weight vector, nearer to its weights."""
    beta, coef, biases = at
    lower, upper = loss.bounds()
    distance = np.minimum(np.minimum(beta - lower, upper - beta), np.abs(beta))  # no side of a loss is left
    if thresholds:
        return beta + _correction(X, distance, coef[:, 0], biases, beta)
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else X
    wanted = np.vstack([coef, biases]) if intercept else coef
    lanes = zip(distance.T, (wanted - rows.T @ beta).T, strict=True)
    return beta + np.stack([_least_squares(rows, *lane) for lane in lanes], axis=1)


def _correction(X: Floats, distance: Floats, coef: Floats, thresholds: Floats, beta: Floats) -> Floats:
    """Of one weight vector with thresholds: w = Σβx over samples and thresholds, b = −Σβ over samples."""
    n, m = beta.shape
    rows = np.hstack([np.repeat(X, m, axis=0), -np.tile(np.eye(m), (n, 1))])
    wanted = np.concatenate([coef, thresholds]) - np.concatenate([beta.sum(axis=1) @ X, -beta.sum(axis=0)])
    return _least_squares(rows, distance.ravel(), wanted).reshape(n, m)


def _least_squares(rows: Floats, distance: Floats, wanted: Floats) -> Floats:
    """δ with Σδx near `wanted` and a small Σ(δ / distance)², within the bounds.

    Directions that only variables near their bounds have are left out where they would take too much of the way.
    """
    weighted = rows * distance[:, np.newaxis]
    scale = np.sqrt((weighted**2).sum(axis=0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    try:
        left, values, right = np.linalg.svd(weighted * inverse, full_matrices=False)
    except np.linalg.LinAlgError:
        return np.zeros(len(rows))
    n_kept = int(np.count_nonzero(values > LEAST_SINGULAR_VALUE * values[:1]))
    along = (right @ (wanted * inverse))[:n_kept] / values[:n_kept]
    choices = {n_kept - int(cut) for cut in np.linspace(0, n_kept, CUTS, endpoint=False)} if n_kept else set()
    best, least = np.zeros(len(rows)), float(np.linalg.norm(wanted))
    for kept in sorted(choices):
        share = left[:, :kept] @ along[:kept]
        change = distance * share * min(1.0, MOST_OF_THE_WAY / max(float(np.abs(share).max()), MOST_OF_THE_WAY))
        apart = float(np.linalg.norm(wanted - change @ rows))
        if apart < least:
            best, least = change, apart
    return best
