"""Containers: samples, labels and weights in whatever holds them give the answer of plain arrays, or are refused."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.campaign.cases import MACHINES, REGRESSORS
from benchmarks.campaign.kinds.agreement import disjoint, far_apart, scores_of
from benchmarks.campaign.kinds.verdict import Verdict, quiet, refusal, unclear, verdict

COMPOSED = ("NystroemSVOR", "RoundedRegressor", "CalibratedOrdinal", "OrdinalSearchCV")
ORDINAL = (*[name for name in MACHINES if "SVC" not in name and name not in REGRESSORS], "NystroemSVOR")
LABELS = ["low", "medium", "high"]
N, D = 30, 4


@dataclass(frozen=True)
class Problem:
    """An estimator and the containers of its samples, labels and weights. values: of the samples."""

    what: str
    estimator: str
    X: str
    y: str
    weight: str
    values: str
    seed: int


def estimator_of(name: str, time_limit: float = 2.0) -> Any:
    """Return a small estimator of this name, not trained."""
    from sklearn.linear_model import Ridge

    import ordsvm

    if name == "RoundedRegressor":
        return ordsvm.RoundedRegressor(Ridge())
    if name == "CalibratedOrdinal":
        return ordsvm.CalibratedOrdinal(ordsvm.LinearSVOR(n_threads=1), cv=2)
    if name == "OrdinalSearchCV":
        return ordsvm.OrdinalSearchCV(ordsvm.SVOR(gamma=0.3, n_threads=1), {"C": [0.1, 1.0]}, cv=2)
    kernel = {} if name.startswith("Linear") else {"gamma": 0.3}
    return getattr(ordsvm, name)(time_limit=time_limit, n_threads=1, **kernel)


def draw(rng: np.random.Generator, time_limit: float) -> Problem:
    estimator = str(rng.choice([*MACHINES, *COMPOSED]))
    values = str(rng.choice(list(VALUES)))
    labels = [*TARGETS, *(TEXTS if estimator in ORDINAL else ()), *(ORDERED if estimator in COMPOSED else ())]
    X, y, weight = "array", "array", "none"
    part = rng.choice(3, p=(0.6, 0.25, 0.15))
    if part == 0:
        X = str(rng.choice([name for name, needed in ONLY_FOR.items() if needed in ("", values)]))
    elif part == 1:
        y = str(rng.choice(labels))
    else:
        weight = str(rng.choice(list(WEIGHTS)))
    what = (f"X: {X}", f"y: {y}", f"sample_weight: {weight}")[part]
    return Problem(what, estimator, X, y, weight, values, int(rng.integers(2**31)))


def judge(problem: Problem) -> Verdict:
    """Train and predict with plain arrays and with the containers."""
    if any(package in problem.what and not importlib.util.find_spec(package) for package in ("polars", "pyarrow")):
        return Verdict("left out", ["the package of the container is not installed"])
    with quiet(), tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(problem.seed)
        X = VALUES[problem.values](rng)
        X[3:5] = 0.0  # empty rows
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, N - 3)])
        if problem.estimator in REGRESSORS:
            y = y + rng.integers(0, 8, N) / 8
        weight = rng.integers(1, 8, N) / 4
        held = Path(folder)
        given = _held(ROWS, problem.X, X, held), _held(TARGETS | TEXTS, problem.y, y, held)
        plain = estimator_of(problem.estimator).fit(X, y, **_weights(problem, weight))
        odd = estimator_of(problem.estimator)
        weights = _weights(problem, _held(WEIGHTS, problem.weight, weight, held))
        found = _judged(problem, plain, odd, (X, y), (*given, weights))
    return found


def _judged(problem: Problem, plain: Any, odd: Any, data: tuple[Any, Any], given: tuple[Any, Any, Any]) -> Verdict:
    (X, _), (odd_X, odd_y, weights) = data, given
    if problem.y in TEXTS and problem.estimator in ORDINAL:
        odd.set_params(categories=LABELS)
    error = refusal(lambda: odd.fit(odd_X, odd_y, **weights))
    if error is not None:
        reasons = unclear(error)
        if not {problem.X, problem.y, problem.weight} & MAY_BE_REFUSED:
            reasons = reasons or [f"refused by fit: {type(error).__name__}: {error}"]
        return verdict(reasons, "refused")
    error = refusal(lambda: odd.score(odd_X, odd_y))
    if error is not None and problem.X in MAY_BE_REFUSED:  # scikit-learn's Ridge trains on texts, but predicts none
        return verdict(unclear(error), "refused")
    if error is not None:
        return verdict([f"what fit took is refused by score: {type(error).__name__}: {error}"])
    reasons = []
    if problem.estimator in MACHINES:
        reasons = disjoint(plain, odd) + far_apart(plain, odd, X, X)
    elif not any(word in problem.X for word in (*SPARSE, *SINGLE)):  # the path is the same
        expected = plain.predict(X)
        expected = np.array(LABELS)[expected] if problem.y in TEXTS else expected
        if np.mean(np.asarray(odd.predict(odd_X)) == expected) < 1.0:
            reasons = ["predictions differ from those of plain arrays"]
    return verdict(reasons + _predicted(problem, plain, X, odd_X))


def _predicted(problem: Problem, plain: Any, X: np.ndarray, held: Any) -> list[str]:
    """Return what speaks against the scores of one model for the same rows in two containers."""
    found: list[np.ndarray] = []
    error = refusal(lambda: found.append(_scores(plain, held)))
    if error is not None:
        return unclear(error) or [f"refused by predict: {type(error).__name__}: {error}"]
    expected = _scores(plain, X)
    single = any(word in problem.X for word in SINGLE)
    if found[0].shape != expected.shape:
        return [f"scores of shape {found[0].shape} for {expected.shape}"]
    apart, allowed = np.abs(found[0] - expected).max(), (1e-5 if single else 1e-9) * (1 + np.abs(expected).max())
    return [] if apart <= allowed else [f"scores of the same rows differ by {apart:.3g}"]


def _scores(model: Any, X: Any) -> np.ndarray:
    scores = scores_of(model, X) if hasattr(model, "decision_function") else None
    return np.asarray(model.predict(X), dtype=float) if scores is None else scores


def _held(table: dict[str, Callable[[Any], Any]], name: str, values: np.ndarray, folder: Path) -> Any:
    if name != "memmap":
        return table[name](values)
    place = np.memmap(folder / f"values_{values.ndim}", dtype=values.dtype, mode="w+", shape=values.shape)
    place[:] = values
    place.flush()
    return np.memmap(folder / f"values_{values.ndim}", dtype=values.dtype, mode="r", shape=values.shape)


def _weights(problem: Problem, weight: Any) -> dict[str, Any]:
    return {} if problem.weight == "none" else {"sample_weight": weight}


def _strided(values: np.ndarray) -> np.ndarray:
    """Return a view of every third number, backwards."""
    wide = np.full((*values.shape[:-1], 3 * values.shape[-1]), 99.0).astype(values.dtype)
    wide[..., ::3] = values
    return wide[..., ::-1][..., 2::3][..., ::-1]


def _read_only(values: np.ndarray) -> np.ndarray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def _pandas(dtype: Any = None) -> Callable[[np.ndarray], Any]:
    def make(values: np.ndarray) -> Any:
        import pandas as pd

        made = pd.DataFrame(values).add_prefix("c") if values.ndim == 2 else pd.Series(values)
        return made if dtype is None else made.astype(dtype)

    return make


def _sparse_columns(values: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame.sparse.from_spmatrix(sp.csc_matrix(values)).add_prefix("c")


def _polars(values: np.ndarray) -> Any:
    import polars as pl

    return (
        pl.DataFrame(values, schema=[f"c{j}" for j in range(values.shape[1])])
        if values.ndim == 2
        else pl.Series(values)
    )


def _pyarrow(values: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.table({f"c{j}": column for j, column in enumerate(np.asfortranarray(values).T)})


def _indices(dtype: str) -> Callable[[np.ndarray], Any]:
    def make(values: np.ndarray) -> Any:
        rows = sp.csr_array(values)
        rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
        return rows

    return make


def _unsorted_duplicates(values: np.ndarray) -> Any:
    """Return CSR that holds every value as two halves, columns backwards."""
    n, d = values.shape
    indices = np.tile(np.r_[np.arange(d)[::-1], np.arange(d)], n)
    halves = np.concatenate([values[:, ::-1] / 2, values / 2], axis=1)
    return sp.csr_array((halves.ravel(), indices, np.arange(0, 2 * d * n + 1, 2 * d)), shape=values.shape)


def _explicit_zeros(values: np.ndarray) -> Any:
    n, d = values.shape
    return sp.csr_array((values.ravel().copy(), np.tile(np.arange(d), n), np.arange(0, d * n + 1, d)), shape=(n, d))


def _categorical(values: np.ndarray) -> Any:
    import pandas as pd

    return pd.Series(pd.Categorical.from_codes(values.astype(int), LABELS, ordered=True))


def _enum(values: np.ndarray) -> Any:
    import polars as pl

    return pl.Series(np.array(LABELS)[values].tolist(), dtype=pl.Enum(LABELS))


VALUES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "truth values": lambda rng: rng.integers(0, 2, (N, D)).astype(float),
    "whole numbers": lambda rng: rng.integers(0, 5, (N, D)).astype(float),
    "eighths": lambda rng: rng.integers(-24, 24, (N, D)) / 8 * (rng.random((N, D)) < 0.7),
}
SPARSE = ("csr", "csc", "coo", "bsr", "dok", "lil", "dia", "sparse")
SINGLE = ("float32", "float16")
COMMON: dict[str, Callable[[Any], Any]] = {
    "array": np.asarray,
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "memmap": np.asarray,
    "read-only": _read_only,
    "strided": _strided,
    "big-endian": lambda values: values.astype(values.dtype.newbyteorder(">")),
    "float32": lambda values: values.astype(np.float32),
    "float16": lambda values: values.astype(np.float16),
    "long double": lambda values: values.astype(np.longdouble),
    "object": lambda values: values.astype(object),
    "pandas": _pandas(),
    "pandas Float64": _pandas("Float64"),
    "polars": _polars,
}
ROWS = (
    COMMON
    | {
        "Fortran order": np.asfortranarray,
        "tuples in a list": lambda values: list(map(tuple, values.tolist())),
        "arrays in a list": list,
        "bool": lambda values: values.astype(bool),
        "int8": lambda values: values.astype(np.int8),
        "uint64": lambda values: values.astype(np.uint64),
        "pandas Int64": _pandas("Int64"),
        "pandas boolean": _pandas("boolean"),
        "pandas, sparse columns": _sparse_columns,
        "pyarrow": _pyarrow,
        "texts": lambda values: values.astype(str),
        "np.matrix": np.matrix,
        "masked": lambda values: np.ma.masked_array(values, mask=False),
        "csr of int32": _indices("int32"),
        "csr of int64": _indices("int64"),
        "csr, unsorted duplicates": _unsorted_duplicates,
        "csr, explicit zeros": _explicit_zeros,
        "csr of float32": lambda values: sp.csr_array(values.astype(np.float32)),
        "csr_matrix": sp.csr_matrix,
    }
    | {name: getattr(sp, f"{name}_array") for name in SPARSE[1:-1]}
)
ONLY_FOR = {  # the values that a container can hold: a name of VALUES, or "" for any
    name: {"bool": "truth values", "pandas boolean": "truth values"}.get(name, "") for name in ROWS
} | {"int8": "whole numbers", "uint64": "whole numbers", "pandas Int64": "whole numbers"}
TARGETS = COMMON | {"a column": lambda values: values[:, None], "csr": lambda values: sp.csr_array(values[:, None])}
TEXTS: dict[str, Callable[[Any], Any]] = {
    "texts": lambda values: np.array(LABELS)[values],
    "texts in a list": lambda values: np.array(LABELS)[values].tolist(),
    "objects": lambda values: np.array(LABELS, dtype=object)[values],
    "pandas, ordered categories": _categorical,
    "polars, ordered enum": _enum,
}
WEIGHTS = {name: COMMON[name] for name in COMMON if name != "array"}
WEIGHTS |= {"none": lambda values: None}
ORDERED = ("pandas, ordered categories", "polars, ordered enum")
MAY_BE_REFUSED = {"texts", "np.matrix", "csr", "object", "long double"}
