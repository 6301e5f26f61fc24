"""The samples of a fold as they reach the last step of a pipeline, which other steps come before."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from ordsvm.estimators.folds import Fold, is_pairwise, take, take_samples
from ordsvm.estimators.kernel import KernelMachine, check_more_samples, check_samples


class SampleKeeper(BaseEstimator):
    """The last step of a pipeline that keeps the samples it is to train on, and returns those it is to predict."""

    def fit(self, X: Any, y: Any = None) -> Self:
        self.samples_ = X
        return self

    def predict(self, X: Any) -> Any:
        return X


@dataclass(frozen=True)
class View:
    """The samples of one fold behind the steps of a pipeline.

    train   those that the last step trains on, from `fit_transform` of the steps
    test    those to test, from `transform`
    retest  the training samples from `transform`, which scores of training are about; None where none are asked for
    """

    train: Any
    test: Any
    retest: Any = None


class Views:
    """The views of all folds, each made when it is first asked for, by the pipeline's own `fit` and `predict`.

    estimator  a pipeline, or a machine alone, whose samples need no view
    """

    def __init__(self, estimator: Any, X: Any, y: Any, folds: Sequence[Fold], train_too: bool) -> None:
        self._estimator, self._X, self._y, self._folds, self._train_too = estimator, X, y, folds, train_too
        self._known: dict[int, View | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the views: a job in another process is given the one that it needs."""
        return vars(self) | {"_known": {}}

    @property
    def are_plain(self) -> bool:
        """Whether the machine gets the samples as they are."""
        return not isinstance(self._estimator, Pipeline) or len(self._estimator) == 1

    def can_be_made(self, fold: int) -> bool:
        """Return False where a step fails on the fold: whole pipelines are then left to fail there by themselves."""
        return self.are_plain or self.of(fold) is not None

    def of(self, fold: int) -> View | None:
        """Return the view of a fold; None where the samples are as they are, or a step fails."""
        if self.are_plain:
            return None
        if fold not in self._known:
            try:
                self._known[fold] = self._made(self._folds[fold])
            except Exception:
                self._known[fold] = None
        return self._known[fold]

    def n_rows(self) -> int:
        """Return the largest number of rows that a fold has kernel values of."""
        if self.are_plain:
            return len(self._y)
        return max(len(fold.train) * (1 + self._train_too) + len(fold.test) for fold in self._folds)

    def _made(self, fold: Fold) -> View | None:
        pairwise = is_pairwise(self._estimator)
        train, test = (take_samples(self._X, rows, fold.train, pairwise) for rows in fold)
        steps = clone(self._estimator)
        steps.set_params(**{steps.steps[-1][0]: SampleKeeper()})
        steps.fit(train, take(self._y, fold.train))
        view = View(steps[-1].samples_, steps.predict(test), steps.predict(train) if self._train_too else None)
        lengths = [len(fold.train), len(fold.test), len(fold.train)]
        parts = [view.train, view.test, view.retest]
        fits = all(part is None or _length(part) == length for part, length in zip(parts, lengths, strict=True))
        return view if fits else None


def _length(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


@dataclass(frozen=True)
class Rows:
    """Rows of samples that kernel values are computed of, and the numbers of those of a fold."""

    X: Any
    train: Any
    test: Any
    retest: Any


def rows_of_all(machine: KernelMachine, X: Any) -> Any:
    """Return samples as the machine trains on them; None where it refuses them."""
    try:
        return check_samples(clone(machine), X)
    except (ValueError, TypeError):
        return None


def rows_of_view(machine: KernelMachine, view: View) -> Rows | None:
    """Return the samples of a fold one below the other; None where the machine refuses some of them."""
    machine = clone(machine)
    try:
        parts = [check_samples(machine, view.train)]
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # of other names of features: every fit is to give it
            more = [each for each in (view.test, view.retest) if each is not None]
            parts += [check_more_samples(machine, each) for each in more]
    except (ValueError, TypeError, UserWarning):
        return None
    if view.retest is not None and _are_same(parts[0], parts[2]):
        parts.pop()
    is_sparse = [sp.issparse(part) for part in parts]
    if any(is_sparse) and not all(is_sparse):
        return None
    ends = np.cumsum([part.shape[0] for part in parts])
    numbers = np.split(np.arange(ends[-1]), ends[:-1])
    X = sp.vstack(parts, format="csr") if all(is_sparse) else np.vstack(parts)
    return Rows(X, numbers[0], numbers[1], numbers[2] if len(parts) > 2 else numbers[0])


def _are_same(a: Any, b: Any) -> bool:
    if sp.issparse(a) != sp.issparse(b) or a.shape != b.shape:
        return False
    if sp.issparse(a):
        return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data"))
    return bool(np.array_equal(a, b))
