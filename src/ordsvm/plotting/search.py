"""The map of a search: cross-validated scores over C and gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats
from ordsvm.plotting.display import Display, colour_map
from ordsvm.search.grids import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class SearchDisplay(Display):
    """Mean scores of a search as a heat map, log10 C across and log10 gamma up; a ring marks the best.

    Parameters
    ----------
    C : ndarray of shape (n_C,)
        The values of C tried, ascending.
    gamma : ndarray of shape (n_gamma,)
        The values of gamma tried, ascending.
    score : ndarray of shape (n_gamma, n_C)
        Mean scores; NaN where a pair was not tried.
    name : str
        The name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    ordsvm.OrdinalSearchCV : The search.

    Examples
    --------
    >>> from ordsvm import SVOR, OrdinalSearchCV
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.plotting import SearchDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> grid = {"C": [100.0, 1000.0], "gamma": [1.0, 10.0]}
    >>> search = OrdinalSearchCV(SVOR(), grid, cv=3).fit(X[:60], y[:60])
    >>> SearchDisplay.from_estimator(search).score.shape
    (2, 2)
    """

    C: Floats
    gamma: Floats
    score: Floats
    name: str

    @classmethod
    def from_estimator(
        cls, search: BaseEstimator, *, score: str = "score", stage: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw a fitted search over C and gamma.

        With more parameters in the grid, a point is the best that was found there.

        Parameters
        ----------
        search : estimator
            A fitted `OrdinalSearchCV` or `GridSearchCV`.
        score : str, default="score"
            The name of one of several scores.
        stage : {1, 2} or None, default=None
            Of a search in two stages, the stage to draw; None: the first.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        SearchDisplay
            The display.
        """
        check_is_fitted(search, "cv_results_")
        table = search.cv_results_
        if f"mean_test_{score}" not in table:
            names = [name.removeprefix("mean_test_") for name in table if name.startswith("mean_test_")]
            raise ValueError(f"score={score!r} is unknown: give one of {', '.join(map(repr, names))}.")
        stages = table.get("stage")
        shown = np.ones(len(table["params"]), dtype=bool) if stages is None else stages == (stage or 1)
        if "n_resources" in table:  # the last round of halving, which has all samples
            shown = shown & (table["n_resources"] == table["n_resources"].max())
        C, gamma = (_column(table, name)[shown] for name in ("C", "gamma"))
        values = {name: np.unique(column) for name, column in (("C", C), ("gamma", gamma))}
        mean = np.full((len(values["gamma"]), len(values["C"])), np.nan)
        places = np.searchsorted(values["gamma"], gamma), np.searchsorted(values["C"], C)
        np.fmax.at(mean, places, table[f"mean_test_{score}"][shown])
        scorer = getattr(search, "scorer_", None)
        name = str(getattr(scorer, "name", score))
        return cls(values["C"], values["gamma"], mean, name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        SearchDisplay
            The display.
        """
        axes = self._axes(ax)
        image = axes.imshow(self.score, cmap=colour_map("viridis"), origin="lower", aspect="auto")
        for direction, values in (("x", self.C), ("y", self.gamma)):
            ticks = range(0, len(values), max(1, len(values) // 9))
            axes.set(**{f"{direction}ticks": ticks, f"{direction}ticklabels": [short_number(values[i]) for i in ticks]})
        if np.isfinite(self.score).any():
            row, column = np.unravel_index(np.nanargmax(self.score), self.score.shape)
            axes.plot(column, row, "o", markersize=14, fillstyle="none", color="tab:red", markeredgewidth=2)
            axes.set_title(f"best: C = {short_number(self.C[column])}, gamma = {short_number(self.gamma[row])}")
        axes.set(xlabel="C", ylabel="gamma")
        self.figure_.colorbar(image, ax=axes, label=f"mean score ({self.name}), greater is better")
        return self


def _column(table: dict[str, Any], name: str) -> Floats:
    """The values of a parameter, whichever step of a pipeline has it."""
    found = [key for key in table if key == f"param_{name}" or (key.startswith("param_") and key.endswith(f"__{name}"))]
    numbers = all(isinstance(value, (int, float)) for key in found for value in np.ma.compressed(table[key]))
    if len(found) != 1 or np.ma.is_masked(table[found[0]]) or not numbers:
        raise ValueError(f"The search has no number for {name} at every point: draw one over C and gamma.")
    return np.asarray(table[found[0]], dtype=np.float64)
