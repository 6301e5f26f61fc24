"""The confusion matrix of ranks: how far off, and in which direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Categories, Ints, Samples
from ordsvm.plotting.display import Display, colour_map
from ordsvm.problem.labels import category_array, label_array, ordered_dtype_categories, rank_codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class OrdinalConfusionDisplay(Display):
    """The confusion matrix of ranks: true ranks down, predicted ranks across.

    Colour is the share of the true rank; frames mark the right predictions.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Numbers of samples of a true rank (row) that were predicted to have a rank (column).
    classes : ndarray of shape (n_classes,)
        The labels, lowest first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    sklearn.metrics.ConfusionMatrixDisplay : The confusion matrix of classes without order.

    Examples
    --------
    >>> from ordsvm.plotting import OrdinalConfusionDisplay
    >>> display = OrdinalConfusionDisplay.from_predictions([0, 1, 2, 2], [0, 1, 2, 1])
    >>> display.matrix
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 1, 1]])
    """

    matrix: Ints
    classes: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, X: Samples, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Draw what a fitted classifier predicts for X against the labels y.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their true labels.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        OrdinalConfusionDisplay
            The display.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), categories=estimator.classes_, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, ax: Axes | None = None
    ) -> Self:
        """Draw predicted labels against true ones.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true labels.
        y_pred : array-like of shape (n_samples,)
            The predicted labels.
        categories : array-like of shape (n_classes,), default=None
            All labels, lowest first; None: the order of an ordered dtype of `y_true`, or else of the values.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        OrdinalConfusionDisplay
            The display.
        """
        if categories is None:
            categories = ordered_dtype_categories(y_true)
        true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
        classes = np.union1d(true, predicted) if categories is None else category_array(categories)
        codes = rank_codes(true, classes, "y_true"), rank_codes(predicted, classes, "y_pred")
        return cls(confusion_matrix(*codes, labels=np.arange(len(classes))), classes).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        OrdinalConfusionDisplay
            The display.
        """
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
