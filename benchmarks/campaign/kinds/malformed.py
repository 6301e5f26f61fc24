"""Malformed input: whatever can't be trained on is refused by a clear ValueError or TypeError, before any work.

Extreme numbers may be refused, or lead to an answer that is finite.

What reaches the core unchecked may end the process, which the watchdog of the campaign counts as crashed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.campaign.cases import MACHINES, REGRESSORS
from benchmarks.campaign.kinds.containers import COMPOSED, ORDINAL, estimator_of
from benchmarks.campaign.kinds.verdict import Verdict, quiet, refusal, unclear, verdict

N, D = 30, 4
Rows = Callable[[np.random.Generator, np.ndarray], Any]


@dataclass(frozen=True)
class Problem:
    """An estimator, the argument that is malformed, how, and the method that it is given to."""

    argument: str
    how: str
    estimator: str
    method: str
    seed: int

    @property
    def what(self) -> str:
        """Return the stratum of the problem."""
        return f"{self.argument}: {self.how.partition(' is ')[0]}"


def draw(rng: np.random.Generator, time_limit: float) -> Problem:
    estimator = str(rng.choice([*MACHINES, *COMPOSED]))
    argument = str(rng.choice(list(TABLES), p=(0.4, 0.15, 0.1, 0.25, 0.1)))
    method = "predict" if argument == "X" and rng.random() < 0.4 else "fit"
    names = [name for name in TABLES[argument] if _is_wrong(name, argument, estimator)]
    how = str(rng.choice(names))
    if argument == "parameter":
        allowed = ALLOWED.get(how, ())
        names = sorted(set(estimator_of(estimator).get_params(deep=False)).difference(allowed))
        how = f"{rng.choice(names)} is {how}"
    return Problem(argument, how, estimator, method, int(rng.integers(2**31)))


def judge(problem: Problem) -> Verdict:
    """Call the method, and see how it refuses."""
    rng = np.random.default_rng(problem.seed)
    X, y = rng.integers(-24, 24, (N, D)) / 8, np.concatenate([[0, 1, 2], rng.integers(0, 3, N - 3)])
    arguments: dict[str, Any] = {"X": X, "y": y}
    model = estimator_of(problem.estimator)
    worked: list[Any] = []
    if problem.argument == "parameter":
        name, _, kind = problem.how.partition(" is ")
        model.set_params(**{name: VALUES[kind]()})
    elif problem.argument == "y" and problem.how.startswith(OUTSIDE):
        model.set_params(categories=[0, 1])
    elif problem.argument == "sample_weight":
        arguments["sample_weight"] = WEIGHTS[problem.how](rng, np.ones(N))
    elif problem.argument == "y":
        arguments["y"] = LABELS[problem.how](rng, y)
    elif problem.argument == "extreme":
        EXTREMES[problem.how](model, arguments)
    if "callback" in model.get_params(deep=False) and not problem.how.startswith("callback"):
        model.set_params(callback=worked.append)
    with quiet():
        if problem.method == "predict":
            model.fit(X, y)
            worked.clear()
        if problem.argument == "X":
            arguments["X"] = ROWS[problem.how](rng, X)
        error = refusal(
            lambda: model.predict(arguments["X"]) if problem.method == "predict" else model.fit(**arguments)
        )
    if error is None and problem.argument == "extreme":
        return verdict(_not_finite(model, X))
    if error is None:
        return verdict([f"{problem.method} takes it and ends as if it were right"])
    late = ["it is refused after steps of the solver"] if worked else []
    return verdict(unclear(error) + late, "refused")


def _not_finite(model: Any, X: np.ndarray) -> list[str]:
    """Return what is not finite; a machine that says that it has not converged may have an infinite gap."""
    result = getattr(model, "result_", None)
    reasons = [] if np.all(np.isfinite(np.asarray(model.predict(X), dtype=float))) else ["predictions are not finite"]
    if result is not None and not (np.isfinite(result.objective) or (result.gap == np.inf and not result.converged)):
        reasons.append(f"the objective is {result.objective!r}, the gap {result.gap!r}, the status {result.status}")
    return reasons


def _is_wrong(name: str, argument: str, estimator: str) -> bool:
    """Return True if this is malformed for this estimator."""
    if argument == "extreme" and "=" in name:
        return name.split("=")[0] in estimator_of(estimator).get_params(deep=False)
    if argument == "y" and name.startswith(OUTSIDE):
        return estimator in ORDINAL
    if argument == "y" and name in FOR_CLASSES:
        return estimator not in REGRESSORS
    return True


def _with(value: Any) -> Rows:
    """Return a function that puts the value at a random place."""

    def put(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
        spoilt = values.astype(np.result_type(values.dtype, type(value)) if not isinstance(value, str) else object)
        spoilt.flat[rng.integers(spoilt.size)] = value
        return spoilt

    return put


def _csr(array: str, at: int | None, change: Callable[[Any], Any], kind: Any = sp.csr_array) -> Rows:
    """Return a function that makes CSR or CSC and changes a number of its arrays, which SciPy does not look at."""

    def make(rng: np.random.Generator, values: np.ndarray) -> Any:
        rows = kind(values + 100.0)
        if rng.random() < 0.5:
            rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        numbers = getattr(rows, array)
        place = int(rng.integers(1, len(numbers) - 1)) if at is None else at
        numbers[place] = change(numbers[place])
        return rows

    return make


ROWS: dict[str, Rows] = {
    "NaN": _with(np.nan),
    "infinity": _with(np.inf),
    "minus infinity": _with(-np.inf),
    "a complex number": _with(1j),
    "a text": _with("a word"),
    "one dimension": lambda rng, X: X[:, 0],
    "three dimensions": lambda rng, X: X[None],
    "no columns": lambda rng, X: X[:, :0],
    "no rows": lambda rng, X: X[:0],
    "None": lambda rng, X: None,
    "a number": lambda rng, X: 3.0,
    "a dict": lambda rng, X: {"a": X},
    "a generator": lambda rng, X: (row for row in X),
    "rows of different lengths": lambda rng, X: [[1.0, 2.0], *X.tolist()],
    "CSR, NaN": _csr("data", None, lambda value: np.nan),
    "CSR, infinity": _csr("data", None, lambda value: np.inf),
    "CSR, a column beyond the last": _csr("indices", None, lambda value: 77),
    "CSR, the column after the last": _csr("indices", None, lambda value: D),
    "CSR, a column far beyond": _csr("indices", None, lambda value: 10**8),
    "CSR, column -1": _csr("indices", None, lambda value: -1),
    "CSR, column -1e6": _csr("indices", None, lambda value: -(10**6)),
    "CSR, indptr beyond the values": _csr("indptr", None, lambda value: 10**7),
    "CSR, indptr falls": _csr("indptr", None, lambda value: 0),
    "CSR, indptr negative": _csr("indptr", None, lambda value: -3),
    "CSR, indptr begins at 2": _csr("indptr", 0, lambda value: 2),
    "CSR, indptr ends beyond": _csr("indptr", -1, lambda value: value + 10**6),
    "CSC, a row beyond the last": _csr("indices", None, lambda value: 10**8, sp.csc_array),
    "CSC, row -1": _csr("indices", None, lambda value: -1, sp.csc_array),
}
OUTSIDE = "a label outside categories"
FOR_CLASSES = ("one class", "numbers between ranks")
LABELS: dict[str, Rows] = {
    "NaN": _with(np.nan),
    "infinity": _with(np.inf),
    "a complex number": _with(1j),
    "None": lambda rng, y: None,
    "None among labels": lambda rng, y: [None, *y[1:].tolist()],
    "too few": lambda rng, y: y[:-1],
    "too many": lambda rng, y: np.append(y, 1),
    "none": lambda rng, y: y[:0],
    "two columns": lambda rng, y: np.stack([y, y], axis=1),
    "a number": lambda rng, y: 1.0,
    "a dict": lambda rng, y: {"y": y},
    "texts and numbers": lambda rng, y: ["low", *y[1:].tolist()],
    "one class": lambda rng, y: np.ones(N),
    "numbers between ranks": lambda rng, y: y + rng.random(N),
    OUTSIDE: lambda rng, y: y,
}
WEIGHTS: dict[str, Rows] = {
    "negative": _with(-1.0),
    "NaN": _with(np.nan),
    "infinity": _with(np.inf),
    "all 0": lambda rng, w: 0 * w,
    "too few": lambda rng, w: w[:-1],
    "too many": lambda rng, w: np.append(w, 1.0),
    "two columns": lambda rng, w: np.stack([w, w], axis=1),
    "a text": _with("a word"),
    "a complex number": _with(1j),
    "a dict": lambda rng, w: {"w": w},
}
Extreme = Callable[[Any, dict[str, Any]], Any]


def _parameter(name: str, value: float) -> tuple[str, Extreme]:
    return f"{name}={value:g}", lambda model, arguments: model.set_params(**{name: value})


def _scaled(name: str, factor: float) -> tuple[str, Extreme]:
    def scale(model: Any, arguments: dict[str, Any]) -> None:
        arguments[name] = arguments[name] * factor if name in arguments else np.full(N, factor)

    return f"{name} times {factor:g}", scale


EXTREMES: dict[str, Extreme] = dict(
    [_parameter("C", value) for value in (1e-320, 1e-200, 1e200, 1e308)]
    + [_parameter("gamma", value) for value in (1e-320, 1e300)]
    + [_parameter("epsilon", 1e300), _parameter("tol", 1e-300)]
    + [_scaled("X", factor) for factor in (1e-320, 1e-200, 1e160, 1e300)]
    + [_scaled("sample_weight", factor) for factor in (1e-320, 1e300)]
)
VALUES: dict[str, Callable[[], Any]] = {  # wrong for every parameter of every estimator, but for those of ALLOWED
    "an object": object,
    "a complex number": lambda: 1j,
    "bytes": lambda: b"auto",
    "an unknown word": lambda: "no such word",
    "NaN": lambda: float("nan"),
    "a type": lambda: int,
    "a set": lambda: {1, 2},
    "an array": lambda: np.ones((2, 2)),
}
ALLOWED = {  # what scikit-learn's searches take too: a type may be called, and a set is an iterable of folds
    "NaN": ("error_score",),
    "a type": ("callback", "scoring"),
    "a set": ("cv",),
    "an unknown word": ("refit",),
}
TABLES: dict[str, Any] = {
    "X": ROWS,
    "y": LABELS,
    "sample_weight": WEIGHTS,
    "parameter": VALUES,
    "extreme": EXTREMES,
}
