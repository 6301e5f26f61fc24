"""Reviews as TF-IDF of words and pairs of words, for the linear machines: the same rows and features everywhere.

Two recipes: "plain", which all results here are of, keeps the endings of words and all reviews; "paper" is that of Shi
et al. 2021, section 4.1: stemmed words, as many reviews of every rank, ranks in the same proportion on both sides.

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
from sklearn.model_selection import train_test_split

from benchmarks import datasets
from ordsvm.text import balanced_sample, review_tfidf

NAMES = ("imdb", "tripadvisor")
RECIPES = ("plain", "paper")
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


def reviews(name: str, recipe: str = "plain") -> Reviews:
    """One of NAMES by one of RECIPES, from the cache if it is there."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is not a set of reviews: give one of {', '.join(map(repr, NAMES))}.")
    if recipe not in RECIPES:
        raise ValueError(f"{recipe!r} is not a recipe: give one of {', '.join(map(repr, RECIPES))}.")
    path = cached(name, recipe)
    if not path.is_file():
        save(path, *(_prepare if recipe == "plain" else _prepare_as_the_paper)(*datasets.reviews(name)))
    X, y = load(path)
    return Reviews(X, y, int(TRAINING_SHARE * len(y)))


def load(path: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """What `save` has written: rows and ranks."""
    with np.load(path) as arrays:
        X = sparse.csr_matrix((arrays["values"], arrays["columns"], arrays["starts"]), shape=tuple(arrays["shape"]))
        return X, arrays["ranks"]


def _prepare(texts: list[str], ratings: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(texts))
    X = TfidfVectorizer(**RECIPE).fit_transform(texts).tocsr()[order]
    return X, np.unique(ratings, return_inverse=True)[1][order].astype(np.int64)


def _prepare_as_the_paper(texts: list[str], ratings: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    kept = balanced_sample(ratings, random_state=0)
    y = np.unique(ratings[kept], return_inverse=True)[1].astype(np.int64)
    n_training = int(TRAINING_SHARE * len(y))
    order = np.concatenate(train_test_split(np.arange(len(y)), train_size=n_training, random_state=0, stratify=y))
    return review_tfidf().fit_transform([texts[i] for i in kept]).tocsr()[order], y[order]


def cached(name: str, recipe: str) -> Path:
    """The file of a prepared set, whether it is there or not."""
    folder = Path(os.environ.get("ORDSVM_CACHE") or Path(tempfile.gettempdir()) / "ordsvm-text")
    contents = sorted(RECIPE.items()) if recipe == "plain" else recipe
    digest = hashlib.sha256(f"{contents} {sklearn.__version__}".encode()).hexdigest()[:8]
    return folder / f"{name}-{digest}.npz"


def save(path: Path, X: sparse.csr_matrix, y: np.ndarray) -> None:
    """The file appears complete or not at all, also where another process prepares the same set at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
        np.savez(file, values=X.data, columns=X.indices, starts=X.indptr, shape=X.shape, ranks=y)
    os.replace(file.name, path)
