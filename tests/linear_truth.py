"""What dual variables of a linear machine prove in extended precision."""

import numpy as np
import scipy.sparse as sp

from ordsvm.solvers.linear.losses import Losses

Long = np.longdouble


def true_gap(model, X, y, weight=None) -> float:
    """P − D of the machine's own weights and intercepts or thresholds."""
    fit = model._retrace(X, y, weight)
    given = model._losses_of(fit.task)
    beta = np.clip(model._beta.array(), *given.bounds()).astype(Long)
    loss, rows = in_extended_precision(given), np.asarray(X.toarray() if sp.issparse(X) else X, dtype=Long)
    coef, b = np.atleast_2d(model.coef_).T.astype(Long), model._biases().astype(Long)
    if fit.task.table.shared:
        own, best, score = rows.T @ beta.sum(axis=1, keepdims=True), -beta.sum(axis=0), rows @ coef - b
    else:
        own, best, score = rows.T @ beta, beta.sum(axis=0) * bool(model.fit_intercept), rows @ coef + b
    terms = loss.of(score) + loss.conjugate(beta) + beta * score
    return float(terms.sum() + (np.sum((coef - own) ** 2) + np.sum((b - best) ** 2)) / 2)


def in_extended_precision(loss: Losses) -> Losses:
    arrays = (np.asarray(part, dtype=Long) for part in (loss.lower, loss.upper, loss.offset, loss.epsilon))
    return Losses(*arrays, loss.squared)
