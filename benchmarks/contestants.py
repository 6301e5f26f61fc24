"""The contestants of the races: ordsvm and programs by others, with what they train and how their answers are read.

All but ordsvm and scikit-learn are optional; a sentence says which package is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import authors
from benchmarks.works import Answer, Work, from_beta

CACHE = 2000.0  # megabytes of kernel rows, for all contestants that have a cache
TOL = 1e-3


class PeerMissing(ImportError):
    """A program to compare with is not installed, or does not train what it is compared on."""


@dataclass(frozen=True)
class Contestant:
    """`make(work, tol)` gives an unfitted estimator, `answer(work, model, X)` what it found, if it shows that."""

    name: str
    title: str
    trains: tuple[tuple[str, str], ...]  # pairs of model and kernel
    package: str
    make: Callable[[Work, float], Any]
    answer: Callable[[Work, Any, Any], Answer] | None = None
    why_no_answer: str = ""

    def missing(self) -> str:
        """Why it can't take part; empty if it can."""
        module = {"scikit-learn-intelex": "sklearnex", "scikit-learn": "sklearn"}.get(self.package, self.package)
        try:
            importlib.import_module(module)
        except ImportError:
            return f"{self.title} is not installed: pip install {self.package}."
        return ""

    def refuses(self, work: Work) -> str:
        """Why it does not train this work; empty if it does."""
        if (work.model, work.kernel) not in self.trains:
            return f"{self.title} does not train {work.model} with the {work.kernel} kernel."
        return self.missing()

    def estimator(self, work: Work, tol: float = TOL) -> Any:
        if self.refuses(work):
            raise PeerMissing(self.refuses(work))
        return self.make(work, tol)

    def fit(self, work: Work, X: Any, y: Any) -> Any:
        return self.estimator(work).fit(X, y)


def _ours(work: Work, tol: float) -> Any:
    import ordsvm

    options = {"C": work.C, "tol": tol, "solver": "auto"} | _epsilon(work)
    if not work.model.startswith("Linear"):
        options |= {"kernel": work.kernel, "gamma": work.gamma, "cache_size": CACHE}
    return getattr(ordsvm, work.model)(**options)


def _epsilon(work: Work) -> dict[str, float]:
    return {"epsilon": work.epsilon} if work.model.endswith("SVR") else {}


def _libsvm(module: str) -> Callable[[Work, float], Any]:
    def make(work: Work, tol: float) -> Any:
        kind = getattr(importlib.import_module(module), work.model)
        return kind(C=work.C, kernel=work.kernel, gamma=work.gamma, tol=tol, cache_size=CACHE, **_epsilon(work))

    return make


def _authors(work: Work, tol: float) -> Any:
    return authors.estimator(work.model, work.C, work.gamma, tol)


def _redsvm(work: Work, tol: float) -> Any:
    from skordinal.classifiers import REDSVM

    return REDSVM(C=work.C, kernel="rbf", gamma=work.gamma, tol=tol, cache_size=CACHE)


def _liblinear(work: Work, tol: float) -> Any:
    from sklearn.svm import LinearSVC, LinearSVR

    if work.model.endswith("SVR"):
        return LinearSVR(C=work.C, loss="epsilon_insensitive", tol=tol, max_iter=100_000, **_epsilon(work))
    return LinearSVC(C=work.C, loss="hinge", tol=tol, max_iter=100_000)


def _support_vectors(work: Work, model: Any, X: Any) -> Answer:
    """Of estimators with scikit-learn's attributes; a threshold model has its thresholds in `thresholds_`."""
    thresholds = _thresholds(model) if hasattr(model, "thresholds_") else -np.ravel(model.intercept_)
    beta = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return from_beta(work, X, np.asarray(model.support_), np.ravel(beta), thresholds)


def _thresholds(model: Any) -> Any:
    """Return the thresholds that cut f itself; wheels of before `intercept_` have these in `thresholds_`."""
    return model.thresholds_ - getattr(model, "intercept_", 0.0)


def _authors_answer(work: Work, model: Any, X: Any) -> Answer:
    found = authors.found(model, X, work.gamma)
    return from_beta(work, X, np.arange(len(found.beta)), found.beta, found.thresholds)


def _weights(work: Work, model: Any, X: Any) -> Answer:
    w = np.ravel(model.coef_)
    return Answer(float(w @ w), np.asarray(X @ w), -np.ravel(model.intercept_))


_ORDINAL = (("SVOR", "rbf"), ("SVORIM", "rbf"), ("SVOREX", "rbf"))
_SVM = (("SVC", "rbf"), ("SVR", "rbf"), ("SVC", "linear"), ("SVR", "linear"))
_LINEAR = (("LinearSVC", "linear"), ("LinearSVR", "linear"), ("LinearNPSVOR", "linear"))

CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant("ordsvm", "ordsvm", _ORDINAL + _SVM + _LINEAR, "ordsvm", _ours, _support_vectors),
        Contestant("libsvm", "LIBSVM (scikit-learn)", _SVM, "scikit-learn", _libsvm("sklearn.svm"), _support_vectors),
        Contestant(
            "onedal",
            "oneDAL (scikit-learn-intelex)",
            _SVM,
            "scikit-learn-intelex",
            _libsvm("sklearnex.svm"),
            _support_vectors,
        ),
        Contestant("authors", "the authors' program (skordinal)", _ORDINAL[1:], "skordinal", _authors, _authors_answer),
        Contestant(
            "redsvm",
            "REDSVM (skordinal)",
            _ORDINAL[:1],
            "skordinal",
            _redsvm,
            why_no_answer="REDSVM has a free common offset besides: its time can be compared, not its objective.",
        ),
        Contestant(
            "liblinear", "LIBLINEAR (scikit-learn)", _SVM[2:] + _LINEAR[:2], "scikit-learn", _liblinear, _weights
        ),
    )
}
