"""Reads the benchmark data, the same rows in the same order on every machine.

The folder is `$ORDSVM_DATA`, or `../shared/data` beside the repository. It is never part of the package, so
everything here raises `DataMissing`, whose text is one sentence fit for a test's skip reason, when it is
not there.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ordsvm.datasets import equal_frequency_ranks

REPOSITORY = Path(__file__).resolve().parent.parent

# fmt: off
REGRESSION = frozenset({
    "pyrim", "machine_cpu", "boston_housing", "abalone", "bank32nh", "cpu_act", "california_housing",
    "census_house16h", "diabetes", "triazines", "wisconsin", "auto_mpg", "cpu_small", "house_8L", "puma32h",
    "space_ga", "protein", "keggundirected",
})
ORDINAL = frozenset({
    "winequality-red", "car", "ERA", "ESL", "LEV", "SWD", "balance-scale", "contact-lenses", "tae", "toy",
    "pasture", "newthyroid", "eucalyptus", "squash-stored", "squash-unstored", "bondrate", "automobile",
    "pyrim10",
})
# fmt: on
# Input columns of the svmlight sets: a part in which the last columns are empty must not come out narrower.
SVMLIGHT_COLUMNS = {
    "a9a": 123,
    "w8a": 300,
    "ijcnn1": 22,
    "skin_nonskin": 3,
    "mushrooms": 112,
    "svmguide1": 4,
    "mq2008": 46,
    "ohsumed_part": 45,
    "lightgbm_rank": 300,
    "treebank": 8569,
}


class DataMissing(FileNotFoundError):
    """The data folder, or one file of it, is not on this machine."""


def data_folder() -> Path:
    """The folder with one sub-folder per data set."""
    named = os.environ.get("ORDSVM_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        raise DataMissing("ORDSVM_DATA does not name a folder.")
    raise DataMissing("The benchmark data are not here: set ORDSVM_DATA to the folder that holds them.")


def _file(name: str, file: str) -> Path:
    path = data_folder() / name / file
    if not path.is_file():
        raise DataMissing(f"The data folder has no file {name}/{file}.")
    return path


@lru_cache(maxsize=4)
def _csv(name: str) -> pd.DataFrame:
    """Kept, because reading a large set is slow and experiments read it many times. Do not modify."""
    return pd.read_csv(_file(name, "data.csv.gz"))


def _numeric(inputs: pd.DataFrame) -> np.ndarray:
    """Nominal columns become one 0/1 column per value; then a missing value becomes its column's median."""
    coded = pd.get_dummies(inputs, dtype=float)
    return coded.fillna(coded.median()).to_numpy(float)


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (float64, nominal columns one-hot, missing values imputed) and the target as in the file."""
    frame = _csv(name)
    return _numeric(frame.drop(columns="target")), frame["target"].to_numpy().copy()


def svmlight(name: str, part: str = "train") -> tuple[sparse.csr_matrix, np.ndarray]:
    """Sparse inputs and labels of one part ("train", "test" or "vali") of an svmlight set."""
    X, y = load_svmlight_file(str(_file(name, f"{part}.svm.gz")), n_features=SVMLIGHT_COLUMNS.get(name))
    return X, y


def shuffled_svmlight(name: str, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The training part of an svmlight set, its rows in the order of NumPy's permutation."""
    X, y = svmlight(name)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]


def reviews(name: str, column: str = "rating") -> tuple[list[str], np.ndarray]:
    """Texts and ratings, or another column, of a set of reviews, in the order of the file."""
    frame = pd.read_csv(_file(name, "reviews.csv.gz"), keep_default_na=False)
    return frame["text"].to_list(), frame[column].to_numpy()


def standardised(X: np.ndarray) -> np.ndarray:
    """Zero mean and unit variance; columns that do not vary are dropped."""
    X = X[:, X.max(axis=0) > X.min(axis=0)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def ordinal(name: str, n: int | None = None, ranks: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised inputs and ranks 0..r-1 of a regression or ordinal set: shuffled, the first n rows.

    Scaling and cutting into ranks see the whole set and come before the cut to n rows, so the first n rows
    are the same whatever n is, and the same as those of the project's earlier measurements (seed 0).
    Ordinal sets keep their own ranks (`ranks` is for regression sets only), counted from 0.
    """
    if name not in REGRESSION | ORDINAL:
        raise ValueError(f"{name!r} is neither a regression nor an ordinal set: use table() or svmlight().")
    X, target = _shuffled(name, seed)
    y = equal_frequency_ranks(target, ranks) if name in REGRESSION else target.astype(np.int64) - 1
    return np.ascontiguousarray(X[:n]), y[:n].astype(np.int64)


def regression(name: str, n: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised inputs and target of a regression set: shuffled, the first n rows, as in `ordinal`."""
    if name not in REGRESSION:
        raise ValueError(f"{name!r} is not a regression set: use ordinal(), table() or svmlight().")
    X, target = _shuffled(name, seed)
    return np.ascontiguousarray(X[:n]), ((target - target.mean()) / target.std())[:n]


def _shuffled(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = _csv(name)[["target"]].sample(frac=1, random_state=seed).index.to_numpy()
    X, target = table(name)
    return standardised(X[order]), target[order]
