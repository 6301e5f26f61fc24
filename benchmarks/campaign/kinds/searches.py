"""Searches: OrdinalSearchCV has the table, the winner and the refitted model of scikit-learn's GridSearchCV."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, MinMaxScaler, StandardScaler, TargetEncoder

from benchmarks.campaign.kinds.verdict import Verdict, quiet, refusal, verdict

MACHINES = ("SVOR", "SVORIM", "RedSVM", "LinearSVOR", "NPSVOR", "LinearNPSVOR", "SVC", "LinearSVC")
STEPS = ("none", "scaler", "target encoder", "bins", "batch centred", "fails on a fold", "predict fails", "exchanged")
SPLITTERS = ("number", "KFold", "StratifiedKFold", "ShuffleSplit", "PredefinedSplit", "RepeatedKFold", "pairs")
SCORERS = ("mae", "accuracy", "own", "several", "callable", "raises")
GRIDS = ("C", "C and step", "list", "machines")
TOL = 1e-8
EQUAL = 1e-7  # of scores that are sums of errors


@dataclass(frozen=True)
class Problem:
    """A machine, the step before it, and how candidates are compared."""

    machine: str
    step: str
    splitter: str
    scorer: str
    grid: str
    weighted: bool
    n: int
    seed: int

    @property
    def what(self) -> str:
        """Return the stratum of the problem."""
        return f"step: {self.step}"


def draw(rng: np.random.Generator, time_limit: float) -> Problem:
    step = str(rng.choice(STEPS))
    machine, splitter, scorer = (str(rng.choice(names)) for names in (MACHINES, SPLITTERS, SCORERS))
    grid = str(rng.choice([name for name in GRIDS if step != "none" or name != "C and step"]))
    weighted = bool(rng.random() < 0.3 and step == "none")  # a pipeline's weights weigh its scores here (documented)
    return Problem(machine, step, splitter, scorer, grid, weighted, int(rng.integers(40, 80)), int(rng.integers(2**31)))


def judge(problem: Problem) -> Verdict:
    """Search twice, and use the grid a second time on other data."""
    import ordsvm

    rng = np.random.default_rng(problem.seed)
    X, y = _samples(rng, problem.n)
    weight = {"sample_weight": rng.integers(1, 5, problem.n) / 2.0} if problem.weighted else {}
    estimator, grid = _estimator(problem), _grid(problem)
    before = pickle.dumps(grid)
    options: dict[str, Any] = {"scoring": _scoring(problem), "refit": "mae" if problem.scorer == "several" else True}
    searches, errors = [], []
    with quiet():
        for kind, own_grid in ((GridSearchCV, _grid(problem)), (ordsvm.OrdinalSearchCV, grid)):
            splitter = _splitter(problem, np.random.default_rng(problem.seed + 1))
            search = kind(clone(estimator), own_grid, cv=splitter, **options)
            errors.append(refusal(lambda search=search: search.fit(X, y, **weight)))
            searches.append(search)
        theirs, ours = searches
        if errors[0] is not None or errors[1] is not None:
            return verdict(_other_errors(*errors, theirs), "refused")
        reasons = [] if pickle.dumps(grid) == before else ["objects of the grid are changed"]
        reasons += _tables_differ(theirs, ours) + _refits_differ(theirs, ours, X)
        answers = ours.predict(X)
        other = ordsvm.OrdinalSearchCV(clone(estimator), grid, cv=3, **options)
        refusal(lambda: other.fit(_samples(rng, problem.n)[0] * 7 + 3, y))
        if not np.array_equal(answers, ours.predict(X)):
            reasons.append("a finished search predicts otherwise after its grid is used again")
    return verdict(reasons)


def _other_errors(theirs: Exception | None, ours: Exception | None, search: Any) -> list[str]:
    """Return a complaint if only one of the two raises, or something that is not an exception of input.

    Where no candidate has a mean score GridSearchCV takes the first one, and OrdinalSearchCV may refuse.
    """
    means = [column for name, column in getattr(search, "cv_results_", {}).items() if name.startswith("mean_test_")]
    none_is_best = theirs is not None or any(np.all(np.isnan(column)) for column in means)
    if none_is_best and isinstance(ours, (ValueError, TypeError)):
        return []
    return [f"GridSearchCV: {theirs!r}; OrdinalSearchCV: {ours!r}"]


def _tables_differ(theirs: Any, ours: Any) -> list[str]:
    """Compare all columns but those of times."""
    reasons = []
    for name, column in theirs.cv_results_.items():
        if name.endswith("_time"):
            continue
        if name not in ours.cv_results_:
            reasons.append(f"cv_results_ has no {name}")
        elif name == "params" or name.startswith("param_"):
            reasons += _values_differ(name, list(column), list(ours.cv_results_[name]))
        elif not name.startswith(("rank_", "std_")):
            reasons += _scores_differ(name, np.asarray(column, float), np.asarray(ours.cv_results_[name], float))
    return reasons


def _values_differ(name: str, theirs: list[Any], ours: list[Any]) -> list[str]:
    """Compare numbers as numbers, objects by their words: those of the two searches are clones."""
    words = [[str(float(v) if isinstance(v, (int, float, np.number)) else v) for v in side] for side in (theirs, ours)]
    return [f"{name} differs: {theirs} and {ours}"] if words[0] != words[1] else []


def _scores_differ(name: str, theirs: np.ndarray, ours: np.ndarray) -> list[str]:
    if np.array_equal(np.isnan(theirs), np.isnan(ours)) and np.nanmax(np.abs(theirs - ours), initial=0.0) <= EQUAL:
        return []
    return [f"{name} is {np.round(theirs, 5).tolist()} by GridSearchCV, {np.round(ours, 5).tolist()} here"]


def _refits_differ(theirs: Any, ours: Any, X: Any) -> list[str]:
    name = f"mean_test_{'mae' if theirs.multimetric_ else 'score'}"
    scores = theirs.cv_results_[name]
    if theirs.best_index_ != ours.best_index_:
        if scores[ours.best_index_] >= scores[theirs.best_index_] - EQUAL:
            return []  # a tie
        return [f"the best is {theirs.best_index_} by GridSearchCV, {ours.best_index_} here"]
    different = int(np.count_nonzero(theirs.predict(X) != ours.predict(X)))
    return [f"the refitted models differ in {different} of {len(X)} predictions"] if different else []


def _samples(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with a name of a few in the first column, and three ranks."""
    X = np.concatenate([rng.integers(0, 12, (n, 1)), rng.normal(size=(n, 3))], axis=1)
    score = X[:, 1] + 0.1 * X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, [0.35, 0.7]), score)


def _estimator(problem: Problem) -> Any:
    machine = _machine(problem)
    return machine if problem.step == "none" else Pipeline([("step", _step(problem)), ("machine", machine)])


def _machine(problem: Problem) -> Any:
    import ordsvm

    kernel = {} if problem.machine.startswith("Linear") else {"gamma": 0.2}
    return getattr(ordsvm, problem.machine)(tol=TOL, n_threads=1, **kernel)


def _step(problem: Problem) -> Any:
    """Return the step before the machine."""
    if problem.step == "target encoder":
        encoder = TargetEncoder(target_type="continuous", random_state=0)
        return ColumnTransformer([("encoded", encoder, [0])], remainder=StandardScaler())
    if problem.step == "bins":
        return KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    if problem.step == "batch centred":
        return FunctionTransformer(centred)
    if problem.step in ("fails on a fold", "predict fails"):
        return Fragile(in_fit=problem.step == "fails on a fold")
    return StandardScaler()


def _grid(problem: Problem) -> Any:
    prefix = "" if problem.step == "none" else "machine__"
    C = {f"{prefix}C": [0.1, 1.0, 10.0]}
    steps = {"step": [StandardScaler(), MinMaxScaler()]} if problem.step != "none" else {}
    if problem.step == "exchanged":
        return C | steps
    if problem.grid == "C and step" and problem.step == "bins":
        return {f"{prefix}C": [1.0], "step__n_bins": [2, 4]}
    if problem.grid == "C and step":
        return [C, {f"{prefix}C": [1.0]} | steps]
    if problem.grid == "list":
        return [{f"{prefix}C": [0.1]}, {f"{prefix}C": [3.0], f"{prefix}class_weight": [None, "balanced"]}]
    if problem.grid == "machines" and prefix:
        return {"machine": [_machine(problem), _machine(problem).set_params(C=7.0)], "machine__tol": [TOL]}
    return C


def _splitter(problem: Problem, rng: np.random.Generator) -> Any:
    fold = np.arange(problem.n) % 3
    rng.shuffle(fold)
    return {
        "number": 3,
        "KFold": KFold(3, shuffle=True, random_state=1),
        "StratifiedKFold": StratifiedKFold(3, shuffle=True, random_state=1),
        "ShuffleSplit": ShuffleSplit(3, test_size=0.3, random_state=1),
        "PredefinedSplit": PredefinedSplit(np.where(rng.random(problem.n) < 0.1, -1, fold)),
        "RepeatedKFold": RepeatedKFold(n_splits=2, n_repeats=2, random_state=1),
        "pairs": [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)],
    }[problem.splitter]


def _scoring(problem: Problem) -> Any:
    from ordsvm.metrics import get_scorer

    own = make_scorer(absolute_error, greater_is_better=False)
    return {
        "mae": get_scorer("mae"),
        "accuracy": "accuracy",
        "own": own,
        "several": {"mae": get_scorer("mae"), "own": own},
        "callable": scored,
        "raises": scored_or_raises,
    }[problem.scorer]


def absolute_error(true: Any, predicted: Any) -> float:
    """Return the mean error; a metric that takes no weights."""
    return float(np.abs(true - predicted).mean())


def scored(estimator: Any, X: Any, y: Any) -> float:
    """Return minus the mean error: a scorer that takes no weights."""
    return -absolute_error(y, estimator.predict(X))


def scored_or_raises(estimator: Any, X: Any, y: Any) -> float:
    """Raise ValueError on the folds whose first row has a name below 3."""
    if X[0, 0] < 3:
        raise ValueError("this scorer does not like the fold")
    return scored(estimator, X, y)


def centred(X: Any) -> Any:
    """Return rows minus the mean of their batch, so that rows alone and rows together differ."""
    return X - X.mean(axis=0)


class Fragile(TransformerMixin, BaseEstimator):
    """A scaler that fails in some folds: in `fit`, or where rows to predict have a name that `fit` did not see."""

    def __init__(self, in_fit: bool = True) -> None:
        self.in_fit = in_fit

    def fit(self, X: Any, y: Any = None) -> Fragile:
        if self.in_fit and X[0, 0] < 3:
            raise ValueError("this step does not like the fold")
        self.names_ = set(X[:, 0])
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        if not self.in_fit and not set(X[:, 0]) <= self.names_:
            raise ValueError("this step does not know the name")
        return X - self.mean_
