"""Validation of a fit under way: errors at every look, and an early end where they no longer fall.

Gu et al. (2020, §3.3) propose such a rule and leave it open. Here it is: the mean absolute error of samples that are
not trained on has not fallen for `patience` looks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.checkpoint import State
from ordsvm.kernels import Kernel
from ordsvm.problem import Problem
from ordsvm.problem.thresholds import RankRule, ranks_of
from ordsvm.result import Progress
from ordsvm.solvers.control import Control

# While the gap is wider than this share of the objective, scores are far from their places and the error stands still
# for long (for nine steps a sample on abalone with C = 10): such looks do not count against the fit.
WIDE_GAP = 0.5


def hold_out(codes: Ints, weight: Floats, fraction: float, random: np.random.RandomState) -> Ints:
    """A random share of the samples, rank by rank, that leaves every rank a sample; in ascending order.

    A sample of weight 0 counts as absent and is not drawn.
    """
    present = np.flatnonzero(weight > 0)
    sizes = np.bincount(codes[present])
    wanted = int(np.ceil(fraction * len(present)))
    if wanted > np.maximum(sizes - 1, 0).sum():
        raise ValueError(
            f"validation_fraction={fraction:g} of {len(present)} samples leaves some rank without training samples: "
            "give a smaller fraction, more samples or validation=(X, y)."
        )
    members = (present[codes[present] == rank] for rank in range(len(sizes)))
    shares = _shares(sizes, wanted)
    return np.sort(np.concatenate([random.permutation(m)[:share] for m, share in zip(members, shares, strict=True)]))


def _shares(sizes: Ints, wanted: int) -> Ints:
    """`wanted` divided in proportion to the sizes, the largest remainders first, and one less than a size at most."""
    exact, most = wanted * sizes / sizes.sum(), np.maximum(sizes - 1, 0)
    shares = np.minimum(exact.astype(np.int64), most)
    while shares.sum() < wanted:
        shares[np.argmax(np.where(shares < most, exact - shares, -np.inf))] += 1
    return shares


@dataclass(frozen=True, eq=False)
class Validation:
    """Samples whose errors are followed during a fit.

    X          the samples; of a precomputed kernel, its rows with a column for every training sample
    codes      their ranks
    weight     how much each of them counts
    ranks      those that the thresholds of the model separate
    rule       how they do it
    patience   looks without a smaller error after which the run ends; None: it goes on
    """

    X: Any
    codes: Ints
    weight: Floats
    ranks: Ints
    rule: RankRule
    patience: int | None

    def controls(self, control: Control, problem: Problem, kernel: Kernel, samples: Any) -> Control:
        """`control` with a look every half a step a sample: a good model takes SMO one or two of these steps,
        GCD ten or more, so that ten looks are neither too short a wait nor too long.

        Steps, not seconds, so that a serial run stops at the same step whatever else the machine does.
        """
        every = max(1, len(np.unique(problem.hinges.sample)) // 2)
        return replace(control, report_every=every, monitor=ValidationErrors(self, problem, kernel, samples))


class ValidationErrors:
    """The errors of validation samples at every look, the α of the best one, and whether it is time to end.

    The scores are kept from look to look: K(X, samples that moved) times what they moved by is added to them.
    """

    def __init__(self, validation: Validation, problem: Problem, kernel: Kernel, samples: Any) -> None:
        self.best: tuple[int, Floats] | None = None
        self._validation = validation
        self._problem = problem
        self._kernel = kernel
        self._samples = samples
        self._beta = np.zeros(problem.n_samples)
        self._score = np.zeros(len(validation.codes))
        self._least = np.inf
        self._looks = 0
        self._looks_without_gain = 0

    @property
    def satisfied(self) -> bool:
        return self._validation.patience is not None and self._looks_without_gain >= self._validation.patience

    def examine(self, alpha: Floats, progress: Progress) -> Progress:
        self._follow(self._problem.beta(alpha))
        validation = self._validation
        predicted = validation.ranks[ranks_of(self._score, progress.thresholds, validation.rule)]
        distance = np.abs(predicted - validation.codes)
        mae = float(np.average(distance, weights=validation.weight))
        mze = float(np.average(distance > 0, weights=validation.weight))
        if validation.patience is not None:
            self._compare(mae, alpha, progress.relative_gap)
        self._looks += 1
        return replace(progress, validation_mae=mae, validation_mze=mze)

    def state(self) -> State:
        numbers = {"least": self._least, "looks": self._looks, "looks_without_gain": self._looks_without_gain}
        if self.best is None:
            return State(numbers)
        return State(numbers | {"best_look": self.best[0]}, {"best": self.best[1]})

    def restore(self, state: State) -> None:
        self._least, self._looks = float(state.facts["least"]), int(state.facts["looks"])
        self._looks_without_gain = int(state.facts["looks_without_gain"])
        if "best" in state.arrays:
            self.best = int(state.facts["best_look"]), state.arrays["best"]

    def _compare(self, error: float, alpha: Floats, relative_gap: float) -> None:
        if error < self._least:
            self._least, self._looks_without_gain = error, 0
            self.best = self._looks, alpha.copy()
        elif relative_gap <= WIDE_GAP:
            self._looks_without_gain += 1

    def _follow(self, beta: Floats) -> None:
        moved = np.flatnonzero(beta != self._beta)
        self._score += self._kernel.scores(self._validation.X, self._samples[moved], beta[moved] - self._beta[moved])
        self._beta = beta
        if not np.all(np.isfinite(self._score)):
            raise ValueError("Scores of validation samples overflow: their values are too large for this kernel.")
