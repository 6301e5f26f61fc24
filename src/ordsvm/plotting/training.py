"""Training as a picture: how solvers converge, and how thresholds move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats
from ordsvm.checks import as_floats, check_choice
from ordsvm.plotting.display import Display, machine_of, rank_colours

QUANTITIES = {
    "relative_gap": "relative duality gap",
    "gap": "duality gap",
    "objective": "objective",
    "violation": "violation of optimality",
    "validation_mae": "mean absolute error of validation samples",
}
CLOCKS = {"seconds": "seconds", "n_iter": "steps"}


@dataclass(eq=False)
class ConvergenceDisplay(Display):
    """A quantity of training over time or steps, with a line for every run.

    runs       name → (times or steps, values)
    quantity   what is drawn: "relative_gap", "gap", "objective", "violation" or "validation_mae"
    clock      "seconds" or "n_iter"
    """

    runs: dict[str, tuple[Floats, Floats]]
    quantity: str
    clock: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, quantity: str = "relative_gap", clock: str = "seconds", ax: Any = None
    ) -> Self:
        """Draws the fit of a machine, or several, as in {"smo": model, "gcd": other}, in one picture.

        A fit notes how it goes every fifth of a second, or, with validation samples, every half a step a sample; its
        end is drawn in any case.
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

    def plot(self, ax: Any = None) -> Self:
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
    """The looks that a fit took on its way, and its end where that says more."""
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

    at           C, or steps
    thresholds   a row for each of them
    clock        "C" or "n_iter"
    """

    at: Floats
    thresholds: Floats
    clock: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, C: Any = None, ax: Any = None) -> Self:
        """Draws thresholds over C, for which clones are trained on X and y, each from where the last one ended.

        Without X and y, a fitted model is drawn step by step, as its `result_.history` has it.
        """
        if X is None:
            check_is_fitted(estimator)
            machine = machine_of(estimator)
            looks = [(look.n_iter, look.thresholds) for look in machine.result_.history]
            looks.append((machine.result_.n_iter, machine.thresholds_))
            return cls(np.array([float(n) for n, _ in looks]), np.array([b for _, b in looks]), "n_iter").plot(ax)
        prices = np.sort(as_floats("C", np.logspace(-3, 3, 25) if C is None else C))
        model = clone(estimator).set_params(warm_start=True)
        thresholds = [model.set_params(C=float(price)).fit(X, y).thresholds_ for price in prices]
        return cls(prices, np.array(thresholds), "C").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        axes = self._axes(ax)
        for k, colour in enumerate(rank_colours(self.thresholds.shape[1])):
            axes.plot(self.at, self.thresholds[:, k], marker=".", color=colour, label=f"threshold {k + 1}")
        if self.clock == "C":
            axes.set_xscale("log")
        axes.set(xlabel="C" if self.clock == "C" else "steps", ylabel="threshold")
        axes.legend(fontsize="small")
        return self
