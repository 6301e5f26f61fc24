"""The folds of a calibration: every sample that counts is in one test part, and not in the training part beside it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ordsvm._typing import Ints
from ordsvm.checks import caller_level
from ordsvm.estimators.folds import Fold, make_folds
from ordsvm.problem.labels import label_array

MAP_SHARE = 0.4  # of the samples of a trained machine: for where its ranks meet, the others for the sets


def is_number(cv: Any) -> bool:
    """Return True if `cv` is a number of folds."""
    return isinstance(cv, int | np.integer)


def given_folds(cv: Any, X: Any, y: Any, counting: Ints) -> list[Fold]:
    """Return the folds of a user's splitter, which are about all of the user's rows, as rows of those that count."""
    seen: dict[Any, int] = {}
    labels = np.array([seen.setdefault(label, len(seen)) for label in label_array(y).tolist()])
    place = np.full(len(labels), -1)
    place[counting] = np.arange(len(counting))
    parts = [[place[part] for part in fold] for fold in make_folds(cv, X, labels)]
    folds = [Fold(*(part[part >= 0] for part in fold)) for fold in parts]
    return checked_folds(cv, [fold for fold in folds if len(fold.test)], len(counting))


def numbered_folds(n_folds: Any, X: Any, codes: Ints) -> list[Fold]:
    """Return as many folds, with all ranks spread evenly over them."""
    n_folds = int(n_folds)
    if not _has_few(n_folds, codes):
        return make_folds(n_folds, X, codes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # the same, without a remedy
        return make_folds(n_folds, X, codes)


def checked_folds(cv: Any, folds: list[Fold], n: int) -> list[Fold]:
    """Return the folds, or raise ValueError unless every sample is held out once."""
    tested = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=n) if folds else np.zeros(n)
    if np.any(tested != 1):
        raise ValueError(
            f"cv={cv!r} does not put every sample into one test fold: give a number of folds or a splitter that does, "
            "such as StratifiedKFold."
        )
    if any(np.isin(fold.test, fold.train).any() for fold in folds):
        raise ValueError(
            "cv has folds that train on samples of their own test part, whose scores would be too good: give a number "
            "of folds or a splitter whose parts have nothing in common, such as StratifiedKFold."
        )
    if not all(len(fold.train) for fold in folds):
        raise ValueError(
            "cv has a fold without training samples of positive weight: give a number of folds, or a splitter with "
            "samples that count in two test parts or more."
        )
    return folds


def split_for_map(n: int) -> Fold:
    """Return samples to learn from where the ranks of a trained machine meet, and the others.

    They are drawn without a look at the labels, and the same rows at every call.
    """
    order = np.random.RandomState(0).permutation(n)
    for_map = max(1, int(MAP_SHARE * n))
    return Fold(order[:for_map], order[for_map:])


def _has_few(n_folds: int, codes: Ints) -> bool:
    """Return True, with a warning, if the rarest rank has fewer samples than there are folds.

    Raise ValueError if all ranks have.
    """
    sizes = np.unique(codes, return_counts=True)[1]
    least, most = int(sizes.min()), int(sizes.max())
    if most < n_folds:
        fewer = "" if most < 2 else f", or fewer folds: cv={most} or less"
        raise ValueError(
            f"Probabilities are learned out of {n_folds} folds, and no rank has more than {most} of the {len(codes)} "
            f"samples: give more{fewer}."
        )
    if least < n_folds:
        fewer = "" if least < 2 else f", or fewer folds (cv={least})"
        warnings.warn(
            f"The rarest rank has {least} of the {len(codes)} samples, and some of the {n_folds} folds have none of "
            f"them: its probabilities rest on little. Give more samples of it, join it with its neighbour{fewer}.",
            UserWarning,
            stacklevel=caller_level(),
        )
    return least < n_folds
