"""Who takes part in the races: ordsvm and programs by others, each with what it trains and how its answer is read.

Every one but ordsvm and scikit-learn is optional; who is absent says so in a sentence.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers import PeerMissing, authors_estimator
from benchmarks.works import Answer, Work, from_beta

CACHE = 2000.0  # megabytes of kernel rows for everybody who has a cache
TOL = 1e-3


@dataclass(frozen=True)
class Contestant:
    """`make(work, tol)` gives an unfitted estimator, `answer(work, model, X)` what it found, if it can be known."""

    name: str
    title: str
    trains: tuple[tuple[str, str], ...]  # pairs of model and kernel
    package: str
    make: Callable[[Work, float], Any]
    answer: Callable[[Work, Any, Any], Answer] | None = None
    why_no_answer: str = ""

    def missing(self) -> str:
        """Why it can't take part; nothing if it can."""
        module = {"scikit-learn-intelex": "sklearnex", "scikit-learn": "sklearn"}.get(self.package, self.package)
        try:
            importlib.import_module(module)
        except ImportError:
            return f"{self.title} is not installed: pip install {self.package}."
        return ""

    def refuses(self, work: Work) -> str:
        """Why it is no match for this work; nothing if it is."""
        if (work.model, work.kernel) not in self.trains:
            return f"{self.title} does not train {work.model} with the {work.kernel} kernel."
        return self.missing()

    def estimator(self, work: Work, tol: float = TOL) -> Any:
        if self.refuses(work):
            raise PeerMissing(self.refuses(work))
        return self.make(work, tol)


def _ours(work: Work, tol: float) -> Any:
    import ordsvm

    parameters = {"epsilon": work.epsilon} if work.model == "SVR" else {}
    options = {"kernel": work.kernel, "gamma": work.gamma, "tol": tol, "cache_size": CACHE} | parameters
    return getattr(ordsvm, work.model)(C=work.C, solver="auto", **options)


def _libsvm(module: str) -> Callable[[Work, float], Any]:
    def make(work: Work, tol: float) -> Any:
        kind = getattr(importlib.import_module(module), work.model)
        parameters = {"epsilon": work.epsilon} if work.model == "SVR" else {}
        return kind(C=work.C, kernel=work.kernel, gamma=work.gamma, tol=tol, cache_size=CACHE, **parameters)

    return make


def _authors(work: Work, tol: float) -> Any:
    return authors_estimator({"SVORIM": "implicit", "SVOREX": "explicit"}[work.model], work.C, work.gamma, tol)


def _redsvm(work: Work, tol: float) -> Any:
    from skordinal.classifiers import REDSVM

    return REDSVM(C=work.C, kernel="rbf", gamma=work.gamma, tol=tol, cache_size=CACHE)


def _liblinear(work: Work, tol: float) -> Any:
    from sklearn.svm import LinearSVC, LinearSVR

    if work.model == "SVR":
        return LinearSVR(C=work.C, epsilon=work.epsilon, loss="epsilon_insensitive", tol=tol, max_iter=100_000)
    return LinearSVC(C=work.C, loss="hinge", tol=tol, max_iter=100_000)


def _support_vectors(work: Work, model: Any, X: Any) -> Answer:
    """Of estimators with scikit-learn's attributes; a threshold model has its thresholds in `thresholds_`."""
    thresholds = model.thresholds_ if hasattr(model, "thresholds_") else -np.ravel(model.intercept_)
    beta = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return from_beta(work, X, np.asarray(model.support_), np.ravel(beta), thresholds)


def _authors_answer(work: Work, model: Any, X: Any) -> Answer:
    beta = np.asarray(model.model_["alpha"], dtype=np.float64)
    return from_beta(work, X, np.arange(len(beta)), beta, model.thresholds_)


def _weights(work: Work, model: Any, X: Any) -> Answer:
    w = np.ravel(model.coef_)
    return Answer(float(w @ w), np.asarray(X @ w), -np.ravel(model.intercept_))


_ORDINAL = (("SVOR", "rbf"), ("SVORIM", "rbf"), ("SVOREX", "rbf"))
_SVM = (("SVC", "rbf"), ("SVR", "rbf"), ("SVC", "linear"), ("SVR", "linear"))

CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant("ordsvm", "ordsvm", _ORDINAL + _SVM, "ordsvm", _ours, _support_vectors),
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
        Contestant("liblinear", "LIBLINEAR (scikit-learn)", _SVM[2:], "scikit-learn", _liblinear, _weights),
    )
}
