"""Linear machines on many rows of few features: iterations of the interior-point method, and seconds beside peers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.decomposition import TruncatedSVD

from benchmarks import datasets, text, timing
from benchmarks.results import Row, row
from ordsvm import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, certify

C_VALUES = (0.01, 1.0, 100.0)
LIMITS = {1e-3: 25, 1e-6: 40}  # iterations to a relative gap
MACHINES = (LinearSVOR, LinearNPSVOR, LinearSVC, LinearSVR)
TABLES = ("winequality-red", "abalone", "california_housing", "census_house16h", "cpu_act", "protein")
CLASSES = ("a9a", "ijcnn1")
SYNTHETIC = {"synthetic 100,000 x 50": 100_000, "synthetic 1,000,000 x 50": 1_000_000}
EMBEDDINGS = "imdb, 300 columns of a truncated SVD"
SETS = (*TABLES, *CLASSES, *SYNTHETIC, EMBEDDINGS)
AT_LEAST = {  # times faster to a gap of 1e-3 at C = 1: than coordinate descent, than LIBLINEAR
    "synthetic 100,000 x 50": (30.0, 20.0),
    "california_housing": (5.0, None),
}
WORST_CHOICE = 1.2
# By the names that the rows of the results have.
BY_NAME = {"interior-point": "linear-interior-point", "rank-dcd": "rank-dcd"}
DATA = (
    "winequality-red, abalone, california_housing, census_house16h, cpu_act, protein: standardised columns, the "
    "set's own ranks or 5 of equal frequency; a9a, ijcnn1: CSR, two classes; synthetic: normal columns in float32, "
    "5 ranks of equal frequency of x·w/7 + 0.7 · noise; imdb: TF-IDF of the training reviews, TruncatedSVD(300, "
    "random_state=0), 8 ranks. Ranks are classes of LinearSVC (one-vs-rest) and targets of LinearSVR. Iterations "
    "are passes over the rows. LIBLINEAR: scikit-learn's LinearSVC(loss='hinge', max_iter=20000) on the upper half "
    "of the ranks against the lower one, the largest tol of 0.1, 0.01, ... at which its objective is within 1e-3 of "
    "the optimum; ours is LinearSVC at tol 1e-3. All cores; contestants take turns, medians of three, one call "
    "where it takes more than 5 s."
)
MANY = (
    "A machine did not converge (no count), or takes more: near the end X'β − w, which steps that are cut short leave, "
    "outweighs what τ gives to the gap, and rises and falls as τ does."
)


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    """The parts named, or all: "iterations", "speed", "auto", "certify", or one and a set, as in "auto/abalone"."""
    wanted = [part for part in ROWS if names is None or any(part.startswith(name) for name in names)]
    return [made for part in wanted for made in ROWS[part](quick)]


def iterations(name: str, quick: bool) -> list[Row]:
    """The most iterations of all machines and losses, for every C and tolerance."""
    X, y = data(name, 2000 if quick else None)
    rows = []
    for C in C_VALUES:
        for tol, most in LIMITS.items():
            counts = {label: _count(fit) for label, fit in _fits(X, y, C, tol, name in CLASSES).items()}
            label = f"{name}, C = {C:g}: iterations to {tol:g}, the most of all machines"
            rows.append(row(label, max(counts.values()), at_most=most, counts=counts, explanation=MANY))
    return rows


def speed(name: str, quick: bool) -> list[Row]:
    """Seconds of coordinate descent and of LIBLINEAR over those of the interior-point method, C = 1, gap 1e-3."""
    X, y = data(name, 2000 if quick else None)
    by_descent, by_liblinear = AT_LEAST.get(name, (None, None))
    halves = y > np.median(y) if len(np.unique(y)) > 2 else y > y.min()
    peer = _liblinear(X, halves, quick)
    svor = {solver: partial(_fitted, LinearSVOR, X, y, solver=named) for solver, named in BY_NAME.items()}
    svc: dict[str, Callable[[], Any]] = {"interior-point": partial(_fitted, LinearSVC, X, halves)}
    race, other = (timing.race(fits, 3, None, slow=5.0) for fits in (svor, svc | {"LIBLINEAR": peer}))
    gaps = {solver: race.last(solver).result_.relative_gap for solver in svor}
    bound = {} if quick else {"at_least": by_descent}
    other_bound = {} if quick else {"at_least": by_liblinear}
    return [
        row(
            f"{name}: seconds of rank-dcd / of interior-point, LinearSVOR",
            race.ratio("rank-dcd", "interior-point"),
            **bound,
            seconds_of=race.medians(),
            gaps=gaps,
        ),
        row(
            f"{name}: seconds of LIBLINEAR / of interior-point, two classes",
            other.ratio("LIBLINEAR", "interior-point"),
            **other_bound,
            seconds_of=other.medians(),
            liblinear=peer.keywords | {"excess": _excess(other.last("LIBLINEAR"), X, halves)},
        ),
    ]


def auto(name: str, quick: bool) -> list[Row]:
    """Seconds of what `auto` takes over those of the better solver, LinearSVOR, default tol."""
    X, y = data(name, 2000 if quick else None)
    rows = []
    for C in C_VALUES:
        fits = {
            solver: partial(_fitted, LinearSVOR, X, y, C=C, tol=None, solver=named, time_limit=60.0)
            for solver, named in (BY_NAME | {"auto": "auto"}).items()
        }
        race = timing.race(fits, 3, None, slow=5.0)
        chosen = race.last("auto").result_.solver.removeprefix("linear-")
        solvers = {solver: race.median(solver) for solver in BY_NAME}
        claim = f"{name}, C = {C:g}: seconds of {chosen}, which auto takes, over those of the better solver"
        bound = {} if quick else {"at_most": WORST_CHOICE}
        rows.append(row(claim, solvers[chosen] / min(solvers.values()), **bound, seconds_of=race.medians()))
    return rows


def certified(name: str, quick: bool) -> list[Row]:
    """The largest relative gap of all machines, recomputed by `certify`, C = 1, tol = 1e-6."""
    X, y = data(name, 2000 if quick else None)
    models = {kind.__name__: _fitted(kind, X, y, tol=1e-6) for kind in MACHINES}
    gaps = {label: certify(model, X, y).relative_gap for label, model in models.items()}
    return [row(f"{name}, C = 1: the largest relative gap by certify", max(gaps.values()), at_most=1e-6, gaps=gaps)]


@lru_cache(maxsize=1)
def data(name: str, n: int | None) -> tuple[Any, np.ndarray]:
    """Rows and ranks of one of SETS, the first n."""
    if name in TABLES:
        return datasets.ordinal(name, n)
    if name in CLASSES:
        X, labels = datasets.shuffled_svmlight(name)
        return X[:n], (labels > 0).astype(np.int64)[:n]
    if name in SYNTHETIC:
        return synthetic(n or SYNTHETIC[name])
    X, y = text.reviews("imdb").training()
    return np.ascontiguousarray(TruncatedSVD(300, random_state=0).fit_transform(X[:n])), y[:n]


def synthetic(n: int, n_features: int = 50) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n, n_features), dtype=np.float32)
    score = X @ random.standard_normal(n_features) / 7 + 0.7 * random.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))


def _fits(X: Any, y: np.ndarray, C: float, tol: float, is_binary: bool) -> dict[str, Callable[[], Any]]:
    machines = [LinearSVOR, LinearSVC] if is_binary else MACHINES
    return {
        f"{kind.__name__}, {loss}": partial(_fitted, kind, X, y, C=C, tol=tol, loss=loss)
        for kind in machines
        for loss in _losses(kind)
    }


def _losses(kind: type) -> tuple[str, str]:
    plain = "epsilon_insensitive" if kind is LinearSVR else "hinge"
    return plain, f"squared_{plain}"


def _fitted(kind: Any, X: Any, y: np.ndarray, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a peer that does not get there: its gap is in the results
        return kind(**({"tol": 1e-3, "solver": "linear-interior-point"} | options)).fit(X, y)


def _count(fit: Callable[[], Any]) -> float:
    model = fit()
    return model.n_iter_ if model.result_.converged else np.inf


def _liblinear(X: Any, halves: np.ndarray, quick: bool) -> Any:
    """LIBLINEAR at the largest tolerance that comes within 1e-3 of the optimum, or at the last one tried."""
    for tol in (0.1, 0.01) if quick else (0.1, 0.01, 1e-3, 1e-4):
        fit = partial(_peer, X, halves, tol=tol)
        if _excess(fit(), X, halves) <= 1e-3:
            break
    return fit


def _peer(X: Any, halves: np.ndarray, tol: float) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sklearn.svm.LinearSVC(loss="hinge", tol=tol, max_iter=20_000, random_state=0)
        return peer.fit(X, halves)


def _excess(peer: Any, X: Any, halves: np.ndarray) -> float:
    """How far the objective is above the optimum, as a share of that."""
    sign = np.where(halves, 1.0, -1.0)
    margins = sign * (np.asarray(X @ peer.coef_[0]) + peer.intercept_[0])
    objective = 0.5 * (np.sum(peer.coef_**2) + peer.intercept_[0] ** 2) + np.sum(np.maximum(0.0, 1.0 - margins))
    best = _fitted(LinearSVC, X, halves, tol=1e-7).result_
    return float(objective / (best.objective - best.gap) - 1.0)


SPEED_SETS = ("california_housing", "synthetic 100,000 x 50")
ROWS: dict[str, Callable[[bool], list[Row]]] = (
    {f"iterations/{name}": partial(iterations, name) for name in SETS}
    | {f"speed/{name}": partial(speed, name) for name in SPEED_SETS}
    | {f"auto/{name}": partial(auto, name) for name in SETS}
    | {f"certify/{name}": partial(certified, name) for name in ("synthetic 1,000,000 x 50", EMBEDDINGS)}
)
