"""Decision regions of a machine with two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from ordsvm._typing import Floats, Ints, Samples
from ordsvm.plotting.display import Display, rank_colours
from ordsvm.problem.labels import label_array, rank_codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class DecisionRegionsDisplay(Display):
    """The plane of two features coloured by predicted rank, with the samples on it.

    Parameters
    ----------
    first : ndarray of shape (resolution,)
        Coordinates of the grid along the first feature.
    second : ndarray of shape (resolution,)
        Coordinates along the second feature.
    ranks : ndarray of shape (resolution, resolution)
        Predicted ranks, a row for every value of `second`.
    samples : ndarray of shape (n_samples, 2)
        Samples to draw.
    codes : ndarray of shape (n_samples,)
        Their true ranks, 0 for the lowest.
    names : tuple of two str
        Names of the features.
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
    sklearn.inspection.DecisionBoundaryDisplay : Boundaries of classifiers without order.

    Examples
    --------
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.plotting import DecisionRegionsDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> X = X[:40, 2:4]
    >>> display = DecisionRegionsDisplay.from_estimator(SVOR(C=1000).fit(X, y[:40]), X, y[:40], resolution=20)
    >>> display.ranks.shape
    (20, 20)
    """

    first: Floats
    second: Floats
    ranks: Ints
    samples: Floats
    codes: Ints
    names: tuple[str, str]
    classes: NDArray[Any]

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: Samples, y: ArrayLike, *, resolution: int = 200, ax: Axes | None = None
    ) -> Self:
        """Draw the regions of a fitted classifier around samples with two features.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with two features.
        X : array-like of shape (n_samples, 2)
            The samples.
        y : array-like of shape (n_samples,)
            Their true labels.
        resolution : int, default=200
            Points of the grid along each feature.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display.
        """
        check_is_fitted(estimator)
        samples = check_array(X)
        if samples.shape[1] != 2:
            raise ValueError(f"X has {samples.shape[1]} features: regions are drawn of machines trained on two.")
        margin = 0.05 * np.maximum(np.ptp(samples, axis=0), 1e-12)
        low, high = samples.min(axis=0) - margin, samples.max(axis=0) + margin
        first, second = (np.linspace(low[j], high[j], resolution) for j in (0, 1))
        points = np.column_stack([np.tile(first, resolution), np.repeat(second, resolution)])
        names = getattr(estimator, "feature_names_in_", None)
        frame: Any = type(X)  # of the data frame, where X is one
        grid = frame(points, columns=names) if names is not None and hasattr(X, "columns") else points
        predicted = rank_codes(np.asarray(estimator.predict(grid)), estimator.classes_)
        codes = rank_codes(label_array(y), estimator.classes_)
        shown = ("first feature", "second feature") if names is None else (str(names[0]), str(names[1]))
        regions = predicted.reshape(resolution, resolution)
        return cls(first, second, regions, samples, codes, shown, estimator.classes_).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the regions and the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display.
        """
        axes = self._axes(ax)
        n = len(self.classes)
        colours = rank_colours(n)
        levels = np.arange(n + 1) - 0.5
        axes.contourf(self.first, self.second, self.ranks, levels=levels, colors=colours, alpha=0.35)
        if np.ptp(self.ranks) > 0:
            axes.contour(self.first, self.second, self.ranks, levels=levels[1:-1], colors="0.3", linewidths=0.8)
        for rank, colour in enumerate(colours):
            own = self.samples[self.codes == rank]
            axes.scatter(*own.T, s=18, color=colour, edgecolors="0.2", linewidths=0.5, label=str(self.classes[rank]))
        axes.legend(title="true rank", fontsize="small")
        axes.set(xlabel=self.names[0], ylabel=self.names[1])
        return self
