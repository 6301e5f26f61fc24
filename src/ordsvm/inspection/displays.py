"""Charts of weights and contributions, as scikit-learn's Displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ordsvm._typing import Samples
from ordsvm.checks import check_count
from ordsvm.inspection.contributions import Contributions, contributions
from ordsvm.inspection.weights import Weights, weights
from ordsvm.plotting.display import Display

UP, DOWN = "#0072b2", "#d55e00"  # blue and vermilion of Okabe and Ito, which all readers can tell apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class WeightsDisplay(Display):
    """The features of a linear machine that raise and lower the rank most.

    Parameters
    ----------
    weights : Weights
        Names and weights of the features.
    n : int, default=10
        How many are drawn on each side.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    ordsvm.inspection.weights : The weights as a table.

    Examples
    --------
    >>> from ordsvm import LinearSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import WeightsDisplay
    >>> display = WeightsDisplay.from_estimator(LinearSVOR().fit(*load_diabetes_ranks(3)), n=3)
    >>> len(display.weights.names)
    10
    """

    weights: Weights
    n: int = 10

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, n: int = 10, ax: Axes | None = None) -> Self:
        """Draw the largest weights of a fitted linear machine.

        Parameters
        ----------
        estimator : estimator
            A fitted linear machine, or a pipeline, search, calibrated model or `TableModel` that ends in one.
        n : int, default=10
            How many on each side.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        WeightsDisplay
            The display.
        """
        check_count("n", n, "features")
        return cls(weights(estimator), n).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for every feature, the highest weight on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        WeightsDisplay
            The display.
        """
        axes = self._axes(ax)
        shown = self.weights.falling(self.n) + self.weights.rising(self.n)[::-1]
        _draw_bars(axes, [name for name, _ in shown], [value for _, value in shown])
        axes.set(xlabel="weight: lowers the rank ← → raises it")
        return self


@dataclass(eq=False)
class ContributionsDisplay(Display):
    """What the columns add to the score of one sample, from the baseline to the score.

    Parameters
    ----------
    contributions : Contributions
        The contributions.
    row : int, default=0
        The sample.
    n : int, default=10
        How many contributions are drawn; the others are added up.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    ordsvm.inspection.contributions : The numbers.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import ContributionsDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> display = ContributionsDisplay.from_estimator(SVOR(gamma=0.05).fit(X, y), X[:1], X[::10])
    >>> display.contributions.method
    'product'
    """

    contributions: Contributions
    row: int = 0
    n: int = 10

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, x: Samples, background: Samples, *, n: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw what the columns add to the score of a sample.

        Parameters
        ----------
        estimator : estimator
            A fitted model with one score a sample.
        x : array-like, sparse matrix or DataFrame of shape (1, n_columns)
            The sample, as the model takes it.
        background : array-like, sparse matrix or DataFrame of shape (n_background, n_columns)
            Samples to compare with.
        n : int, default=10
            How many contributions are drawn.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ContributionsDisplay
            The display.
        """
        check_count("n", n, "contributions")
        return cls(contributions(estimator, x, background), 0, n).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for every contribution, the largest on top, with 95 % intervals where they were sampled.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ContributionsDisplay
            The display.
        """
        axes = self._axes(ax)
        found = self.contributions
        shown = found.largest(self.row, self.n)
        rest = float(found.values[self.row].sum()) - sum(value for _, value, _ in shown)
        left_out = int(np.count_nonzero(found.values[self.row])) - len(shown)
        if left_out > 0:
            shown = [*shown, (f"{left_out} others", rest, 0.0)]
        shown = shown[::-1]
        errors = [error for *_, error in shown]
        _draw_bars(
            axes, [name for name, *_ in shown], [value for _, value, _ in shown], errors if any(errors) else None
        )
        axes.set(xlabel=f"contribution: baseline {found.baseline:.3g} → score {found.score[self.row]:.3g}")
        return self


def _draw_bars(axes: Any, names: list[str], values: list[float], errors: list[float] | None = None) -> None:
    colours = [UP if value > 0 else DOWN for value in values]
    axes.barh(range(len(values)), values, color=colours, xerr=errors, ecolor="0.25")
    axes.set_yticks(range(len(values)), names)
    axes.axvline(0, color="0.25", linewidth=0.8)
