"""Reviews as TF-IDF of words and pairs of words, for the linear machines: the same rows and features everywhere.

Preparation takes a minute and is done once: the matrices lie in `$ORDSVM_CACHE`, or else in the folder `ordsvm-text`
of the system's temporary folder, in files whose names change with the recipe.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks import datasets

NAMES = ("imdb", "tripadvisor")
RECIPE: dict[str, Any] = {
    "ngram_range": (1, 2),
    "min_df": 3,
    "max_df": 0.5,
    "stop_words": "english",
    "sublinear_tf": True,
}
TRAINING_SHARE = 0.7
DATA = (
    "imdb (8 ranks) and tripadvisor (5 ranks): TF-IDF by scikit-learn's TfidfVectorizer(ngram_range=(1, 2), min_df=3, "
    "max_df=0.5, stop_words='english', sublinear_tf=True) on all reviews, rows shuffled with "
    "numpy.random.default_rng(0).permutation, the first 70 % for training: imdb 35,000 x 304,584, tripadvisor "
    "84,373 x 511,537."
)


@dataclass(frozen=True)
class Reviews:
    """Shuffled rows of TF-IDF (float64, int32 indices) with ranks 0..r-1; the first `n_training` are for training."""

    X: sparse.csr_matrix
    y: np.ndarray
    n_training: int

    @property
    def n_ranks(self) -> int:
        return int(self.y.max()) + 1

    def training(self) -> tuple[sparse.csr_matrix, np.ndarray]:
        return self.X[: self.n_training], self.y[: self.n_training]

    def test(self) -> tuple[sparse.csr_matrix, np.ndarray]:
        return self.X[self.n_training :], self.y[self.n_training :]


def reviews(name: str) -> Reviews:
    """One of NAMES, from the cache if it is there."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is not a set of reviews: give one of {', '.join(map(repr, NAMES))}.")
    path = _cached(name)
    if not path.is_file():
        _save(path, *_prepare(name))
    with np.load(path) as arrays:
        X = sparse.csr_matrix((arrays["values"], arrays["columns"], arrays["starts"]), shape=tuple(arrays["shape"]))
        y = arrays["ranks"]
    return Reviews(X, y, int(TRAINING_SHARE * len(y)))


def _prepare(name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    texts, ratings = datasets.reviews(name)
    order = np.random.default_rng(0).permutation(len(texts))
    X = TfidfVectorizer(**RECIPE).fit_transform(texts).tocsr()[order]
    return X, np.unique(ratings, return_inverse=True)[1][order].astype(np.int64)


def _cached(name: str) -> Path:
    folder = Path(os.environ.get("ORDSVM_CACHE") or Path(tempfile.gettempdir()) / "ordsvm-text")
    recipe = hashlib.sha256(f"{sorted(RECIPE.items())} {sklearn.__version__}".encode()).hexdigest()[:8]
    return folder / f"{name}-{recipe}.npz"


def _save(path: Path, X: sparse.csr_matrix, y: np.ndarray) -> None:
    """The file appears complete or not at all, also where another process prepares the same set at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
        np.savez(file, values=X.data, columns=X.indices, starts=X.indptr, shape=X.shape, ranks=y)
    os.replace(file.name, path)
