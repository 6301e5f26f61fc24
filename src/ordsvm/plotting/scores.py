"""Scores by rank: what the machine sees of each rank, and where it cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Ints
from ordsvm.labels import label_array, rank_codes
from ordsvm.plotting.display import Display, machine_of, rank_colours


@dataclass(eq=False)
class ScoresDisplay(Display):
    """A row for every true rank with the scores of its samples, and the thresholds as lines across.

    score        one number a sample
    codes        the true ranks of the samples, 0 for the lowest
    thresholds   of the machine
    classes      the labels, lowest first
    """

    score: Floats
    codes: Ints
    thresholds: Floats
    classes: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draws the scores that a fitted threshold model gives to X, by the labels y."""
        check_is_fitted(estimator)
        machine = machine_of(estimator)
        if not hasattr(machine, "thresholds_"):
            raise TypeError(
                f"ScoresDisplay draws a score and thresholds, which {type(machine).__name__} lacks: use a threshold "
                "model such as SVOR."
            )
        codes = rank_codes(label_array(y), estimator.classes_)
        score = estimator.decision_function(X)
        check_consistent_length(score, codes)
        return cls(score, codes, machine.thresholds_, estimator.classes_).plot(ax)

    def plot(self, ax: Any = None, *, seed: int = 0) -> Self:
        """Points are spread at random, drawn by `seed`, over the height of their row; boxes hold the middle half."""
        axes = self._axes(ax)
        height = np.random.default_rng(seed).uniform(-0.32, 0.32, len(self.codes))
        size = float(np.clip(4000 / len(self.codes), 2, 18))
        for rank, colour in enumerate(rank_colours(len(self.classes))):
            own = self.codes == rank
            axes.scatter(self.score[own], rank + height[own], s=size, color=colour, alpha=0.6, linewidths=0)
            if own.any():
                box = axes.boxplot(self.score[own], positions=[rank], widths=0.72, orientation="horizontal", sym="")
                for line in (line for lines in box.values() for line in lines):
                    line.set_color("0.25")
        for threshold in self.thresholds:
            axes.axvline(threshold, color="tab:red", linewidth=1, linestyle="--")
        axes.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        axes.set(xlabel="score (dashed: thresholds)", ylabel="true rank")
        return self
