"""The confusion matrix of ranks: how far off, and in which direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Ints
from ordsvm.labels import category_array, label_array, ordered_dtype_categories, rank_codes
from ordsvm.plotting.display import Display, colour_map


@dataclass(eq=False)
class OrdinalConfusionDisplay(Display):
    """True ranks down, predicted ranks across; colour is the share of the true rank, frames mark the right answers.

    matrix    how many samples of a true rank (row) were predicted to have a rank (column)
    classes   the labels, lowest first
    """

    matrix: Ints
    classes: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draws what a fitted classifier predicts for X against the labels y."""
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), categories=estimator.classes_, ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, categories: Any = None, ax: Any = None) -> Self:
        """`categories` lists the labels, lowest first; without it an ordered dtype of y_true does, or their values."""
        if categories is None:
            categories = ordered_dtype_categories(y_true)
        true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
        classes = np.union1d(true, predicted) if categories is None else category_array(categories)
        codes = rank_codes(true, classes, "y_true"), rank_codes(predicted, classes, "y_pred")
        return cls(confusion_matrix(*codes, labels=np.arange(len(classes))), classes).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        axes = self._axes(ax)
        n = len(self.classes)
        share = self.matrix / np.maximum(self.matrix.sum(axis=1, keepdims=True), 1)
        axes.imshow(share, cmap=colour_map("Blues"), vmin=0, vmax=1)
        for (row, column), count in np.ndenumerate(self.matrix):
            if count:
                colour = "white" if share[row, column] > 0.5 else "black"
                axes.text(column, row, f"{count}", ha="center", va="center", color=colour)
        corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]])
        for rank in range(n):
            axes.plot(*(rank + corners).T, "0.25")
        labels = [str(label) for label in self.classes]
        axes.set_xticks(range(n), labels)
        axes.set_yticks(range(n), labels)
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        error = (distance * self.matrix).sum() / max(self.matrix.sum(), 1)
        axes.set(xlabel="predicted rank", ylabel="true rank", title=f"mean distance {error:.3g} ranks")
        return self
