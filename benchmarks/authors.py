"""Chu and Keerthi's own C program for SVORIM and SVOREX, as wrapped by skordinal, run as a black box.

What was found by experiment:

- `gamma` is used as it stands, K(x, x') = exp(-gamma ||x - x'||^2). (The paper's kappa is twice that. The
  fitted model stores this gamma under the name "kappa".)
- `C` and `tol` are the paper's C and tau; inputs are not rescaled; repeated rows are kept.
- labels may be any sorted numbers; `thresholds_` are on the scale of `predict_projection`, without an
  offset.
- `model_["alpha"]` is one number a sample, the signed beta of f = K beta. `_check_kernel` tests that on
  every fit, because the objective computed for this program rests on it.
- it trains with 0.001 added to the diagonal of K, but scores with K. Seen from its thresholds, which
  minimise the hinges of (K + 0.001 I) beta to within tol, however small tol is, and not those of K beta:
  there they are off by up to 0.06 at C = 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

CONSTRAINTS = {"SVORIM": "implicit", "SVOREX": "explicit"}
RIDGE = 1e-3


@dataclass(frozen=True)
class AuthorsFit:
    """What the program found: the signed coefficient of every training sample, and the thresholds."""

    beta: np.ndarray
    thresholds: np.ndarray


def estimator(model: str, C: float, gamma: float, tol: float) -> Any:
    """The unfitted estimator for SVORIM or SVOREX with a Gaussian kernel."""
    from skordinal.classifiers import SVOR

    return SVOR(C=C, gamma=gamma, tol=tol, kernel="rbf", constraints=CONSTRAINTS[model])


def found(model: Any, X: np.ndarray, gamma: float) -> AuthorsFit:
    """Takes coefficients and thresholds out of a fitted skordinal SVOR."""
    beta = np.asarray(model.model_["alpha"], float)
    _check_kernel(model, X[:200], X, beta, gamma)
    return AuthorsFit(beta, np.asarray(model.thresholds_, float))


def _check_kernel(model: Any, some: np.ndarray, X: np.ndarray, beta: np.ndarray, gamma: float) -> None:
    """Should another version mean something else by gamma or alpha, the figures computed for it would be void."""
    score = np.asarray(model.predict_projection(some), float)
    expected = rbf_kernel(some, X, gamma=gamma) @ beta
    if not np.allclose(expected, score, rtol=0.0, atol=1e-8 * max(1.0, float(np.abs(beta).sum()))):
        raise RuntimeError("skordinal's SVOR no longer scores by exp(-gamma d^2) times its alpha.")
