"""What machines are trained on: a model, data, C and gamma; and one objective for the answers of all contestants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks import datasets, text

DATA = (
    "california, census (census_house16h), cpu_act, abalone, boston (boston_housing): rows shuffled with pandas' "
    "sample(frac=1, random_state=0), standardised columns, then the first n rows; SVOR, SVORIM, SVOREX: 5 "
    "equal-frequency ranks of the target (census: 10) cut on the whole set, SVR: the standardised target, epsilon 0.1, "
    "gamma 1 / number of columns. a9a, ijcnn1: "
    "training part as CSR, rows permuted (seed 0); treebank too, ranks 1 to 5, for SVC above 3 or not. "
    "dense: 20,000 rows of 500 standard normal columns (seed 0), the "
    "class is the sign of x'Ax - trace(A) with A a symmetrised standard normal matrix, plus normal noise of a tenth of "
    "its standard deviation. Gaussian kernel throughout, or x.y for linear works."
)
SECOND_CLASS = {"treebank": 3}  # labels above that


@dataclass(frozen=True)
class Source:
    """Where rows come from, and the gamma of the Gaussian kernel on them: 1 / columns unless given, and for SVR."""

    data: str
    columns: int
    gamma: float | None = None
    ranks: int = 5


SOURCES = {
    "california": Source("california_housing", 8, 0.5),
    "census": Source("census_house16h", 16, 0.125, ranks=10),
    "cpu_act": Source("cpu_act", 21),
    "abalone": Source("abalone", 10),
    "boston": Source("boston_housing", 13),
    "a9a": Source("a9a", 123),
    "w8a": Source("w8a", 300),
    "ijcnn1": Source("ijcnn1", 22),
    "treebank": Source("treebank", 8569, 0.5),
    "dense": Source("dense", 500),
    "imdb": Source("imdb", 304_584, ranks=8),
    "tripadvisor": Source("tripadvisor", 511_537, ranks=5),
}


@dataclass(frozen=True)
class Work:
    """One training problem. `model` is the name of the estimator that solves it in ordsvm.

    `intercept`, of SVC and SVR: free, or penalized. `shuffled`: whether svmlight rows are permuted before the cut to n.
    """

    name: str
    model: str
    source: str
    C: float
    gamma: float
    n: int | None = None
    ranks: int = 5
    kernel: str = "rbf"
    epsilon: float = 0.1
    intercept: str = "free"
    shuffled: bool = True

    def data(self) -> tuple[Any, np.ndarray]:
        X, y = _source(self.source, self.model, self.ranks, self.shuffled)
        return X[: self.n], y[: self.n]

    def reduced(self, n: int) -> Work:
        return replace(self, n=min(n, self.n or n))


def make(model: str, source: str, C: float = 1.0, n: int | None = None, **options: Any) -> Work:
    """A work on one of SOURCES, with its gamma and ranks, called as in `svor-california-5000-C10`; options of Work."""
    given = SOURCES[source]
    gamma = 1 / given.columns if given.gamma is None or model == "SVR" else given.gamma
    name = f"{model.lower()}-{source}" + (f"-{n}-C{C:g}" if n else "")
    return replace(Work(name, model, given.data, C, gamma, n, given.ranks), **options)


@lru_cache(maxsize=2)
def _source(source: str, model: str, ranks: int, shuffled: bool) -> tuple[Any, np.ndarray]:
    """All rows. The first n of them are the same whatever n is."""
    if source == "dense":
        return planted_quadratic_form(20_000, 500)
    if source in text.NAMES:
        X, y = text.reviews(source).training()
        return X, y.astype(np.float64) if model.endswith("SVR") else y
    if source in datasets.SVMLIGHT_COLUMNS:
        X, y = datasets.shuffled_svmlight(source) if shuffled else datasets.svmlight(source)
        if source == "treebank" and model != "SVC":
            return X, y.astype(np.int64)
        return X, (y > SECOND_CLASS.get(source, 0)).astype(np.int64)
    if model == "SVR":
        return datasets.regression(source)
    X, rank = datasets.ordinal(source, ranks=ranks)
    return X, (rank >= ranks // 2).astype(np.int64) if model == "SVC" else rank


def planted_quadratic_form(n: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, A = rng.standard_normal((n, n_features)), rng.standard_normal((n_features, n_features))
    A = (A + A.T) / 2
    form = np.einsum("ij,ij->i", X @ A, X) - np.trace(A)
    return X, (form + 0.1 * form.std() * rng.standard_normal(n) > 0).astype(np.int64)


@dataclass(frozen=True)
class Answer:
    """A trained machine, seen from its objective: ‖w‖², the scores of its training samples without thresholds, and b.

    The intercept of a classifier or regressor is −b.
    """

    square_norm: float
    score: np.ndarray
    thresholds: np.ndarray


def from_beta(work: Work, X: Any, support: np.ndarray, beta: np.ndarray, thresholds: np.ndarray) -> Answer:
    """The answer of a machine that has weights of samples: f = Kβ in float64 by the formula, ‖w‖² = β'f."""
    score = kernel(work).scores_in_numpy(X, X[support], beta)
    return Answer(float(beta @ score[support]), score, np.asarray(thresholds, dtype=np.float64))


def kernel(work: Work) -> Any:
    """The kernel of this work, from ordsvm's kernels."""
    from ordsvm.kernels import RBF, Linear

    return Linear() if work.kernel == "linear" else RBF(work.gamma)


def problem(work: Work, y: np.ndarray) -> Any:
    """The hinges of this work, from ordsvm's formulations."""
    from ordsvm import formulations
    from ordsvm.problem import Treatment

    if work.model == "SVC":
        return formulations.svc(np.where(y > 0, 1.0, -1.0), work.C, Treatment(work.intercept))
    if work.model == "SVR":
        return formulations.svr(y, work.epsilon, work.C, Treatment(work.intercept))
    return getattr(formulations, work.model.lower())(y, work.ranks, work.C)


def primal(work: Work, y: np.ndarray, answer: Answer) -> float:
    """½‖w‖² [+ ½‖b‖²] + Σ cap · max(0, −slope): what all contestants minimise, computed from its answer alone."""
    hinges = problem(work, y)
    losses = hinges.hinges.cap @ np.maximum(0.0, -hinges.slope(answer.score, answer.thresholds))
    penalty = answer.thresholds @ answer.thresholds if hinges.treatment.value == "penalized" else 0.0
    return float(0.5 * (answer.square_norm + penalty) + losses)
