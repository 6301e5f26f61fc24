"""Programs by others, run as black boxes: what goes in, what comes out, and how long it took.

skordinal wraps Chu and Keerthi's own C program for SVORIM and SVOREX. What was found by experiment:

- `gamma` is used as it stands, K(x, x') = exp(-gamma ||x - x'||^2). (The paper's kappa is twice that. The
  fitted model stores this gamma under the name "kappa".)
- `C` and `tol` are the paper's C and tau; inputs are not rescaled; repeated rows are kept.
- labels may be any sorted numbers; `thresholds_` are on the scale of `predict_projection`, without an
  offset.
- `model_["alpha"]` is one number a sample, the signed beta of f = K beta. `_check_kernel` tests that on
  every fit, because the objective we compute for this program rests on it.
- it trains with 0.001 added to the diagonal of K, but scores with K. Seen from its thresholds, which
  minimise the hinges of (K + 0.001 I) beta to within tol, however small tol is, and not those of K beta:
  there they are off by up to 0.06 at C = 100.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

CONSTRAINTS = ("implicit", "explicit")
AUTHORS_RIDGE = 1e-3


class PeerMissing(ImportError):
    """A program to compare with is not installed."""


def _skordinal_svor() -> Any:
    try:
        from skordinal.classifiers import SVOR
    except ImportError as error:
        raise PeerMissing(
            "This benchmark compares with skordinal, which is not installed: pip install skordinal==0.2.0."
        ) from error
    return SVOR


@dataclass(frozen=True)
class AuthorsFit:
    """A model trained by the authors' program; `seconds` is the time of the call of fit alone."""

    model: Any
    seconds: float
    beta: np.ndarray
    score_train: np.ndarray
    thresholds: np.ndarray

    def score(self, X: np.ndarray) -> np.ndarray:
        """The score f(x) of every row."""
        return np.asarray(self.model.predict_projection(X), float)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The predicted rank of every row, in the labels of the training set."""
        return self.model.predict(X)


def authors_estimator(constraints: str, C: float, gamma: float, tol: float = 1e-3) -> Any:
    """The unfitted estimator, for those who time the call of fit themselves."""
    if constraints not in CONSTRAINTS:
        raise ValueError(f"constraints must be one of {CONSTRAINTS}, not {constraints!r}.")
    return _skordinal_svor()(C=C, gamma=gamma, tol=tol, kernel="rbf", constraints=constraints)


def authors_svor(
    X: np.ndarray, y: np.ndarray, constraints: str, C: float, gamma: float, tol: float = 1e-3
) -> AuthorsFit:
    """Trains SVORIM ("implicit") or SVOREX ("explicit") with the authors' program and a Gaussian kernel."""
    model = authors_estimator(constraints, C, gamma, tol)
    start = time.perf_counter()
    model.fit(X, y)
    return authors_fit(model, X, gamma, time.perf_counter() - start)


def authors_fit(model: Any, X: np.ndarray, gamma: float, seconds: float) -> AuthorsFit:
    """Takes coefficients, scores and thresholds out of a fitted skordinal SVOR."""
    beta = np.asarray(model.model_["alpha"], float)
    score = np.asarray(model.predict_projection(X), float)
    _check_kernel(X, beta, score, gamma)
    return AuthorsFit(model, seconds, beta, score, np.asarray(model.thresholds_, float))


def _check_kernel(X: np.ndarray, beta: np.ndarray, score: np.ndarray, gamma: float, rows: int = 200) -> None:
    """Should another version mean something else by gamma or alpha, our figures for it would be void."""
    ours = rbf_kernel(X[:rows], X, gamma=gamma) @ beta
    if not np.allclose(ours, score[:rows], rtol=0.0, atol=1e-8 * max(1.0, float(np.abs(beta).sum()))):
        raise RuntimeError("skordinal's SVOR no longer scores by exp(-gamma d^2) times its alpha.")
