"""The models of the papers as tables of hinges, written from the papers: cost, labels and weights → hinges.

    min  ½‖w‖² [+ ½‖b‖²]  +  Σ_v c_v · max(0, o_v − s_v (f_i − b_k))        squared losses: c_v · max(…)²

The order of the hinges is that of `result_.alpha`: by threshold, then by sample, a hinge from below before one from
above; hinges without cost are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Columns of hinges; treatment of the thresholds: "none", "penalized", "free" or "ordered"."""

    sample: np.ndarray
    threshold: np.ndarray
    sign: np.ndarray
    offset: np.ndarray
    cap: np.ndarray
    treatment: str
    n_samples: int
    n_thresholds: int = 1
    squared: bool = False

    def __len__(self) -> int:
        return len(self.sample)


THRESHOLD_MODELS = {  # thresholds at which a sample has hinges, and their treatment
    "SVOR": ("all", "penalized"),  # Gu et al. 2020, (6)
    "RedSVM": ("all", "penalized"),  # Lin & Li 2012
    "LinearSVOR": ("all", "penalized"),
    "SVORIM": ("all", "free"),  # Chu & Keerthi 2007, §4
    "SVOREX": ("adjacent", "ordered"),  # Chu & Keerthi 2007, §2
    "ShashuaLevinSVOR": ("adjacent", "free"),  # Chu & Keerthi 2007, (2)-(3)
}


def tables_of(answer: dict[str, Any]) -> list[Table]:
    """The problems of a trained model, in its order."""
    name = answer["estimator"]
    if name in THRESHOLD_MODELS:
        return [_threshold_model(answer, *THRESHOLD_MODELS[name])]
    if name in ("NPSVOR", "LinearNPSVOR"):
        return _npsvor(answer)
    if name in ("SVC", "LinearSVC"):
        return _svc(answer)
    return [_svr(answer)]


def sample_costs(answer: dict[str, Any], C: float) -> np.ndarray:
    """C × sample weight × class weight."""
    weight = answer["sample_weight"]
    cost = C * (np.ones(len(answer["y"])) if weight is None else np.asarray(weight, dtype=np.float64))
    class_weight = answer["parameters"].get("class_weight")
    if class_weight is None:
        return cost
    labels, counts = np.unique(answer["y"], return_counts=True)
    if class_weight == "balanced":
        class_weight = dict(zip(labels.tolist(), len(answer["y"]) / (len(labels) * counts), strict=True))
    return cost * np.array([class_weight.get(label, 1.0) for label in answer["y"].tolist()])


def cost_matrix(cost: Any, n_ranks: int) -> np.ndarray:
    """cost[true, predicted]"""
    distance = np.abs(np.arange(n_ranks)[:, None] - np.arange(n_ranks))
    named = {"absolute": distance, "zero-one": distance > 0, "squared": distance**2}
    return np.asarray(named[cost] if isinstance(cost, str) else cost, dtype=np.float64)


def _threshold_model(answer: dict[str, Any], hinges: str, treatment: str) -> Table:
    """Sample of rank y at threshold k: sign +1 if y > k else −1, cap C |cost(y, k+1) − cost(y, k)|."""
    C = sample_costs(answer, answer["parameters"]["C"])
    ranks, order = _ranks(answer, C), np.arange(len(C))
    if hinges == "adjacent" and not answer["precomputed"]:
        order = np.argsort(_given_ranks(answer), kind="stable")
    m = len(answer["classes"]) - 1
    every = _given_labels(answer)
    kept = [every.index(label) for label in answer["classes"].tolist()]
    costs = cost_matrix(answer["parameters"].get("cost", "absolute"), len(every))[np.ix_(kept, kept)]
    share = np.abs(costs[:, 1:] - costs[:, :-1])
    rows = []
    for k in range(m):
        for i in order:
            cap = C[i] * share[ranks[i], k]
            if hinges == "adjacent":
                cap = C[i] * (k in (ranks[i] - 1, ranks[i]))
            rows.append((i, k, 1.0 if ranks[i] > k else -1.0, 1.0, cap))
    return _table(rows, treatment, answer, m)


def _npsvor(answer: dict[str, Any]) -> list[Table]:
    """Shi et al. 2021, (4): |f| ≤ ε on the rank, f ≤ −1 below it, f ≥ 1 above; the intercept is penalised."""
    p = answer["parameters"]
    own = sample_costs(answer, p["C"] if p.get("C1") is None else p["C1"])
    other = sample_costs(answer, p["C"] if p.get("C2") is None else p["C2"])
    ranks = _ranks(answer, own)
    tables = []
    for rank in range(len(answer["classes"])):
        rows = []
        for i, y in enumerate(ranks):
            if y == rank:
                rows += [(i, 0, 1.0, -p["epsilon"], own[i]), (i, 0, -1.0, -p["epsilon"], own[i])]
            else:
                rows.append((i, 0, 1.0 if y > rank else -1.0, 1.0, other[i]))
        tables.append(_table(rows, _intercept(answer), answer))
    return tables


def _svc(answer: dict[str, Any]) -> list[Table]:
    """One question for two classes; one for every pair, or for every class against the rest, of more."""
    C, y, classes = sample_costs(answer, answer["parameters"]["C"]), answer["y"], answer["classes"].tolist()
    if any(label not in classes and cost > 0 for label, cost in zip(y.tolist(), C, strict=True)):
        raise ValueError("a class with samples of positive weight is missing")
    keeps_order = answer["precomputed"] or answer["estimator"] == "LinearSVC"
    order = np.arange(len(y)) if keeps_order else np.argsort(y, kind="stable")
    questions: list[tuple[list[Any], list[Any]]] = [([classes[1]], [classes[0]])]
    if len(classes) > 2 and answer["parameters"].get("multi_class", "ovr") == "ovo":
        questions = [([first], [second]) for first, second in combinations(classes, 2)]
    elif len(classes) > 2:
        questions = [([one], [label for label in classes if label != one]) for one in classes]
    tables = []
    for yes, no in questions:
        chosen = [i for i in order if y[i] in yes or y[i] in no]
        rows = [(i, 0, 1.0 if y[i] in yes else -1.0, 1.0, C[i]) for i in chosen]
        tables.append(_table(rows, _intercept(answer), answer))
    return tables


def _svr(answer: dict[str, Any]) -> Table:
    """Gu et al. 2018, (2), with its ½: |z − f| ≤ ε."""
    p, z = answer["parameters"], np.asarray(answer["y"], dtype=np.float64)
    weight = answer["sample_weight"]
    C = p["C"] * (np.ones(len(z)) if weight is None else weight)
    rows = []
    for i in range(len(z)):
        rows += [(i, 0, 1.0, z[i] - p["epsilon"], C[i]), (i, 0, -1.0, -z[i] - p["epsilon"], C[i])]
    return _table(rows, _intercept(answer), answer)


def _intercept(answer: dict[str, Any]) -> str:
    p = answer["parameters"]
    if answer["linear"]:
        return "penalized" if p.get("fit_intercept", True) else "none"
    return "penalized" if answer["estimator"] == "NPSVOR" else p["intercept"]


def _table(rows: list[tuple[int, int, float, float, float]], treatment: str, answer: Any, m: int = 1) -> Table:
    kept = [row for row in rows if row[4] > 0]
    sample, threshold, sign, offset, cap = np.array(kept, dtype=np.float64).reshape(-1, 5).T
    squared = answer["parameters"].get("loss", "hinge").startswith("squared")
    columns = sample.astype(int), threshold.astype(int), sign, offset, cap
    return Table(*columns, treatment, len(answer["y"]), m, squared)


def _given_labels(answer: dict[str, Any]) -> list[Any]:
    """The labels, lowest first, before ranks that nothing determines are dropped."""
    categories = answer["parameters"].get("categories")
    return np.unique(answer["y"]).tolist() if categories is None else list(categories)


def _given_ranks(answer: dict[str, Any]) -> np.ndarray:
    every = _given_labels(answer)
    return np.array([every.index(label) for label in answer["y"].tolist()])


def _ranks(answer: dict[str, Any], C: np.ndarray) -> np.ndarray:
    """Ranks among the model's classes; 0 for samples of a dropped rank, which must have no weight."""
    classes = answer["classes"].tolist()
    if [label for label in _given_labels(answer) if label in classes] != classes:
        raise ValueError("the classes of the model are not labels in their order")
    dropped = np.array([label not in classes for label in answer["y"].tolist()])
    if np.any(C[dropped] > 0):
        raise ValueError("a rank with samples of positive weight is missing")
    return np.array([0 if label not in classes else classes.index(label) for label in answer["y"].tolist()])
