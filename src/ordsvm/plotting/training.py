"""Training as a picture: how solvers converge, and how thresholds move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Samples
from ordsvm.checks import as_floats, check_choice
from ordsvm.estimators.quiet import quiet_fits
from ordsvm.plotting.display import Display, machine_of, rank_colours
from ordsvm.problem.thresholds import thresholds_on_f

QUANTITIES = {
    "relative_gap": "relative duality gap",
    "gap": "duality gap",
    "objective": "objective",
    "violation": "violation of optimality",
    "validation_mae": "mean absolute error of validation samples",
}
CLOCKS = {"seconds": "seconds", "n_iter": "steps"}

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ConvergenceDisplay(Display):
    """A quantity of training over time or steps, with a line for every run.

    Parameters
    ----------
    runs : dict of str to tuple of two ndarrays
        Name of the run → times or steps, and values.
    quantity : {"relative_gap", "gap", "objective", "violation", "validation_mae"}
        The quantity drawn.
    clock : {"seconds", "n_iter"}
        Time or steps.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    ThresholdPathDisplay : Thresholds over steps, or over C.

    Examples
    --------
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.plotting import ConvergenceDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> display = ConvergenceDisplay.from_estimator(SVOR(C=10, solver="gcd").fit(X[:50], y[:50]))
    >>> list(display.runs)
    ['gcd']
    """

    runs: dict[str, tuple[Floats, Floats]]
    quantity: str
    clock: str

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, quantity: str = "relative_gap", clock: str = "seconds", ax: Axes | None = None
    ) -> Self:
        """Draw the fit of one model, or of several in one picture.

        A fit records its progress every fifth of a second, or, with validation samples, every half a step a sample; its
        end is drawn in any case.

        Parameters
        ----------
        estimator : estimator or dict of str to estimator
            A fitted model, or several by name, as in {"smo": model, "gcd": other}.
        quantity : {"relative_gap", "gap", "objective", "violation", "validation_mae"}, default="relative_gap"
            The quantity to draw.
        clock : {"seconds", "n_iter"}, default="seconds"
            Time or steps.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        check_choice("quantity", quantity, QUANTITIES)
        check_choice("clock", clock, CLOCKS)
        models = dict(estimator) if isinstance(estimator, Mapping) else {None: estimator}
        runs = {}
        for name, model in models.items():
            check_is_fitted(model)
            result = machine_of(model).result_
            runs[str(name or result.solver)] = _trace(result, quantity, clock)
        return cls(runs, quantity, clock).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        axes = self._axes(ax)
        for name, (time, value) in self.runs.items():
            (line,) = axes.plot(time, value, marker=".", markersize=4, label=name)
            axes.plot(time[-1], value[-1], "o", color=line.get_color())
        if self.quantity not in ("objective", "validation_mae"):
            axes.set_yscale("log")
        axes.set(xlabel=CLOCKS[self.clock], ylabel=QUANTITIES[self.quantity])
        axes.legend()
        return self


def _trace(result: Any, quantity: str, clock: str) -> tuple[Floats, Floats]:
    """The progress that a fit recorded, and its end where that says more."""
    looks = [(getattr(look, clock), getattr(look, quantity)) for look in result.history]
    if hasattr(result, quantity):
        looks.append((getattr(result, clock), getattr(result, quantity)))
    looks = [look for look in looks if look[1] is not None]
    if not looks:
        raise ValueError(f"The fit has no {quantity}: give fit validation samples, as in fit(X, y, validation=(X, y)).")
    time, value = np.array(looks, dtype=np.float64).T
    return time, value


@dataclass(eq=False)
class ThresholdPathDisplay(Display):
    """Thresholds as a function of C, or of the steps of one fit.

    Parameters
    ----------
    at : ndarray of shape (n_points,)
        Values of C, or steps.
    thresholds : ndarray of shape (n_points, n_classes - 1)
        The thresholds at each of them, of two ranks that on f(x) before `intercept_` is added.
    clock : {"C", "n_iter"}
        What `at` holds.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    ConvergenceDisplay : Gap, objective and violation over time or steps.

    Examples
    --------
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.plotting import ThresholdPathDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> display = ThresholdPathDisplay.from_estimator(SVOR(), X[:50], y[:50], C=[0.1, 1.0, 10.0])
    >>> display.thresholds.shape
    (3, 2)
    """

    at: Floats
    thresholds: Floats
    clock: str

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Samples | None = None,
        y: ArrayLike | None = None,
        *,
        C: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw thresholds over C, or, without X and y, over the steps of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A threshold model; a fitted one where X is None, whose `result_.history` is drawn.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            Samples to train clones on, each from the solution of the one before.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        C : array-like, default=None
            The values of C; None: 25 from 0.001 to 1000.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ThresholdPathDisplay
            The display.
        """
        if X is None:
            check_is_fitted(estimator)
            machine = machine_of(estimator)
            looks = [(look.n_iter, look.thresholds) for look in machine.result_.history]
            looks.append((machine.result_.n_iter, thresholds_on_f(machine)))
            return cls(np.array([float(n) for n, _ in looks]), np.array([b for _, b in looks]), "n_iter").plot(ax)
        values = np.sort(as_floats("C", np.logspace(-3, 3, 25) if C is None else C))
        model = clone(estimator).set_params(warm_start=True)
        with quiet_fits(findings_only=True):  # a path may begin where C is too small
            thresholds = [thresholds_on_f(model.set_params(C=float(C)).fit(X, y)) for C in values]
        return cls(values, np.array(thresholds), "C").plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line for every threshold.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ThresholdPathDisplay
            The display.
        """
        axes = self._axes(ax)
        for k, colour in enumerate(rank_colours(self.thresholds.shape[1])):
            axes.plot(self.at, self.thresholds[:, k], marker=".", color=colour, label=f"threshold {k + 1}")
        if self.clock == "C":
            axes.set_xscale("log")
        axes.set(xlabel="C" if self.clock == "C" else "steps", ylabel="threshold")
        axes.legend(fontsize="small")
        return self
