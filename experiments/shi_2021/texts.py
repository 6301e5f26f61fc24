"""The reviews of Shi et al. (2021), section 4.1: stemmed words and pairs of words, TF-IDF, 70 % for training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks import datasets, text
from ordsvm.text import balanced_sample, review_tfidf

TRAINING_SHARE = 0.7


@dataclass(frozen=True)
class Part:
    """Rows of TF-IDF with ranks 0..r-1."""

    X: sparse.csr_matrix
    y: np.ndarray
    n_ranks: int

    def rows(self, chosen: Any) -> Part:
        return Part(self.X[chosen], self.y[chosen], self.n_ranks)


@dataclass(frozen=True)
class Reviews:
    """A set of the paper, or one in its place: the folder of the benchmark data and how its ranks are taken.

    column     of the ratings
    balanced   whether as many reviews of every rank are taken as the rarest has
    """

    folder: str
    column: str = "rating"
    balanced: bool = False


SETS = {
    "large_movie": Reviews("imdb"),
    "movie_review": Reviews("movie_scale", column="label4"),
    "treebank": Reviews("treebank"),
    "tripadvisor": Reviews("tripadvisor", balanced=True),
    "sst5": Reviews("sst5"),
    "amazon_devices": Reviews("amazon_devices", balanced=True),
}
DATA = (
    "large_movie: all of imdb. movie_review: movie_scale, its four ranks. treebank: the authors' own file, features "
    "and split (80 % for training). tripadvisor: other hotels than the paper's, as many reviews of every rank as the "
    "rarest has. In addition, without a counterpart in the paper: sst5, the sentences of treebank prepared here, and "
    "amazon_devices, as many reviews of every rank as the rarest has. The eleven other sets are not available."
)


@lru_cache(maxsize=2)
def whole(name: str) -> Part:
    """All rows, from the cache if they have been prepared before. treebank: the training rows first."""
    if name == "treebank":
        parts = [datasets.svmlight(name, part) for part in ("train", "test")]
        y = np.concatenate([y for _, y in parts]).astype(np.int64) - 1
        return Part(sparse.vstack([X for X, _ in parts]).tocsr(), y, 5)
    path = text.cached(f"laboratory-{name}", "paper")
    if not path.is_file():
        text.save(path, *_prepare(SETS[name]))
    X, y = text.load(path)
    return Part(X, y, int(y.max()) + 1)


def _prepare(reviews: Reviews) -> tuple[sparse.csr_matrix, np.ndarray]:
    texts, ratings = datasets.reviews(reviews.folder, reviews.column)
    chosen = balanced_sample(ratings, random_state=0) if reviews.balanced else np.arange(len(ratings))
    X = review_tfidf().fit_transform([texts[place] for place in chosen]).tocsr()
    return X, np.unique(ratings[chosen], return_inverse=True)[1].astype(np.int64)


def parts(name: str, trial: int, share: float = 1.0) -> tuple[Part, Part]:
    """A stratified partition; of treebank, that of the authors. `share`: of all rows, as Table 3 takes it."""
    all_rows = whole(name)
    if name == "treebank":
        n = datasets.svmlight(name)[0].shape[0]
        return all_rows.rows(slice(None, n)), all_rows.rows(slice(n, None))
    chosen = np.arange(len(all_rows.y))
    if share < 1.0:
        chosen = train_test_split(chosen, train_size=share, random_state=2021 + trial, stratify=all_rows.y)[0]
    split = {"train_size": TRAINING_SHARE, "random_state": trial, "stratify": all_rows.y[chosen]}
    training, test = train_test_split(chosen, **split)
    return all_rows.rows(training), all_rows.rows(test)
