"""Linear machines on reviews: C by 5-fold search, errors, confusion and seconds (Shi et al. 2021, section 4)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from experiments.items import Outcome
from experiments.shi_2021 import texts
from experiments.shi_2021.texts import Part
from ordsvm import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, OrdinalSearchCV, RoundedRegressor
from ordsvm.problem.predictors import PREDICTORS

METHODS = ("SVC", "SVR", "RedSVM", "NPSVOR")
COSTS = [2.0**exponent for exponent in range(-5, 6)]
SEPARATE_COSTS = [2.0**exponent for exponent in range(-8, 6)]
FOLDS = 5
EPSILON = 0.1
PROTOCOL = (
    "As in the paper: words stemmed, without stop words, single letters and words of more than half of the texts; "
    "TF-IDF of words and pairs; 70 % of each rank for training (treebank: the authors' 80 %); C from 2^-5 to 2^5 with "
    "the least MAE on 5 stratified folds of the training rows; epsilon 0.1. SVC: one against the rest; SVR: rounded; "
    "RedSVM: absolute costs; NPSVOR: the summed-hyperplane prediction. The intercepts of SVC, SVR and NPSVOR are "
    "penalised, which is the same as an appended 1. Otherwise than in the paper: words in fewer than three texts are "
    "left out, there those that occur less than three times; vocabulary and weights of TF-IDF are fitted on all texts, "
    "those of the test rows included; training ends at a relative duality gap of the library's default tol. Seconds "
    "are of the processor, one thread, with the proof of the gap."
)


def machine(method: str, **parameters: Any) -> Any:
    kinds = {"SVC": LinearSVC, "SVR": LinearSVR, "RedSVM": LinearSVOR, "NPSVOR": LinearNPSVOR}
    fixed: dict[str, Any] = {"epsilon": EPSILON} if method in ("SVR", "NPSVOR") else {}
    return kinds[method](n_threads=1, random_state=0, **(fixed | parameters))


def ranks(predicted: Any, n_ranks: int) -> np.ndarray:
    return np.clip(np.floor(np.asarray(predicted, float) + 0.5), 0, n_ranks - 1).astype(np.int64)


def errors(predicted: np.ndarray, y: np.ndarray) -> dict[str, float]:
    distance = np.abs(predicted - y)
    return {"mae": float(distance.mean()), "mse": float((distance**2).mean())}


def errors_on_folds(method: str, part: Part, grid: Mapping[str, Sequence[Any]], trial: int, **fixed: Any) -> Any:
    """The mean MAE of every point of a grid, and the points."""
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=trial).split(part.X, part.y))

    def score(model: Any, X: Any, y: Any) -> float:
        return -errors(ranks(model.predict(X), part.n_ranks), y)["mae"]

    search = OrdinalSearchCV(machine(method, **fixed), dict(grid), scoring=score, cv=folds, refit=False)
    table = search.fit(part.X, part.y).cv_results_
    return -np.asarray(table["mean_test_score"]), list(table["params"])


def best(method: str, part: Part, grid: Mapping[str, Sequence[Any]], trial: int, **fixed: Any) -> dict[str, Any]:
    """The point of a grid with the least MAE on the folds: the first among equals."""
    means, points = errors_on_folds(method, part, grid, trial, **fixed)
    return dict(points[int(np.argmin(np.round(means, 9)))])


def tested(method: str, point: Mapping[str, Any], training: Part, test: Part) -> tuple[Any, Outcome]:
    """The machine trained at a point, and its errors, confusion and seconds."""
    model = machine(method, **point)
    if method == "SVR":
        model = RoundedRegressor(model, categories=range(training.n_ranks))
    began = time.process_time()
    model.fit(training.X, training.y)
    seconds = time.process_time() - began
    predicted = ranks(model.predict(test.X), test.n_ranks)
    confusion = np.zeros((test.n_ranks, test.n_ranks), dtype=int)
    np.add.at(confusion, (test.y, predicted), 1)
    return model, errors(predicted, test.y) | {"processor": seconds, "confusion": confusion.tolist()}


# Units of work


def trial(name: str, method: str, trial: int, epsilon: float = EPSILON, share: float = 1.0) -> Outcome:
    """C by search in the training rows, then the test rows; NPSVOR with both of its predictions."""
    training, test = texts.parts(name, trial, share)
    return searched(method, (training, test), COSTS, trial, epsilon)


def searched(method: str, parts: tuple[Part, Part], costs: Sequence[float], trial: int, epsilon: float) -> Outcome:
    """A trial on given rows, with C among these."""
    training, test = parts
    fixed = {"epsilon": epsilon} if method == "NPSVOR" else {}
    point = best(method, training, {"C": costs}, trial, **fixed)
    model, found = tested(method, point | fixed, training, test)
    found["C"] = point["C"]
    if method == "NPSVOR":
        scores = model.rank_scores(test.X)
        found["nearest"] = errors(PREDICTORS["nearest"].ranks(scores), test.y)
        found["support_vectors"] = _support_vectors(model.rank_scores(training.X), training.y, epsilon)
    return found


def _support_vectors(scores: np.ndarray, y: np.ndarray, epsilon: float) -> int:
    """Samples times ranks with a loss that is not flat: beyond epsilon on the own rank, inside the margin elsewhere."""
    side = np.sign(y[:, np.newaxis] - np.arange(scores.shape[1]))
    return int(np.where(side == 0, np.abs(scores) >= epsilon, side * scores <= 1.0).sum())


def near_C(name: str, epsilon: float, costs: Sequence[float]) -> Outcome:
    """NPSVOR at another epsilon: C by search among a few."""
    return searched("NPSVOR", texts.parts(name, 0), costs, 0, epsilon)


def along_C(name: str, method: str) -> Outcome:
    """Test errors at every C, trained on all training rows of the first partition."""
    training, test = texts.parts(name, 0)
    return {"mae": [tested(method, {"C": C}, training, test)[1]["mae"] for C in COSTS]}


def separate_costs(name: str, costs: Sequence[float] = SEPARATE_COSTS) -> Outcome:
    """C1 and C2 of NPSVOR sought apart, and together, by the same folds."""
    training, test = texts.parts(name, 0)
    found = {}
    for which, grid in (("C1 = C2", {"C": COSTS}), ("C1, C2", {"C1": costs, "C2": costs})):
        point = best("NPSVOR", training, grid, 0)
        outcome = tested("NPSVOR", point, training, test)[1]
        found[which] = {"point": point, "mae": outcome["mae"], "mse": outcome["mse"]}
    return found


def sizes(name: str) -> Outcome:
    """The left columns of Table 1."""
    part = texts.whole(name)
    counts = np.bincount(part.y)
    about = {"rows": part.X.shape[0], "features": part.X.shape[1], "nonzeros": int(part.X.nnz)}
    return about | {"classes": len(counts), "rows of a class, about": float(counts.mean())}
