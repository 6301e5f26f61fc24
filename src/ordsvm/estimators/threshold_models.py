"""The threshold models by their formulations, and what those with costs and with penalised thresholds add."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm import formulations
from ordsvm.costs import cost_matrix
from ordsvm.estimators.kernel import Task
from ordsvm.estimators.threshold_model import ThresholdModel
from ordsvm.kernels import Linear
from ordsvm.problem import Problem
from ordsvm.solvers import Solution
from ordsvm.solvers.linear.penalized import solve_penalized
from ordsvm.solvers.linear.rank_dcd import RankDCD

Floats = NDArray[np.float64]
MANY_SAMPLES = 5000  # a row of the kernel matrix is then longer than most vectors of features


class CostModel(ThresholdModel):
    """A threshold model in which every sample faces every threshold, so that mistakes can have costs."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        cost: Any = "absolute",
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: Any = "auto",
        class_weight: Any = None,
        categories: Any = None,
        warm_start: bool = False,
        callback: Any = None,
        verbose: bool = False,
        n_threads: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            C,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            tol=tol,
            cache_size=cache_size,
            max_iter=max_iter,
            time_limit=time_limit,
            solver=solver,
            class_weight=class_weight,
            categories=categories,
            warm_start=warm_start,
            callback=callback,
            verbose=verbose,
            n_threads=n_threads,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
        )
        self.cost = cost

    def _costs(self, n_ranks: int) -> Floats | None:
        return cost_matrix(self.cost, n_ranks)

    def _sample_order(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """As they come: every threshold looks at all samples."""
        return np.arange(len(codes))


class PenalizedModel(CostModel):
    """A model whose thresholds are penalised; with a linear kernel the solver of linear machines trains it."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._asks_for_rank_dcd():
            return
        if not self._is_linear():
            raise ValueError(f"solver='rank-dcd' is for kernel='linear', not for kernel={self.kernel!r}: use 'auto'.")
        if self.early_stopping:
            raise ValueError("solver='rank-dcd' knows no early stopping: use 'auto', or early_stopping=False.")

    def _train(self, X: Any, task: Task) -> list[Solution]:
        if not (self._asks_for_rank_dcd() or self._prefers_rank_dcd(X, task)):
            return super()._train(X, task)
        solver = self.solver if isinstance(self.solver, RankDCD) else RankDCD()
        start = self._starts(task.problems)[0]
        samples = self._samples(X, task.order)
        solution = solve_penalized(task.problems[0], task.ranks, samples, solver, self._control(), start)
        self._keep(X, Linear(), [solution], task.order)
        return [solution]

    def _is_linear(self) -> bool:
        return isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")

    def _asks_for_rank_dcd(self) -> bool:
        return isinstance(self.solver, RankDCD) or (isinstance(self.solver, str) and self.solver == RankDCD.name)

    def _prefers_rank_dcd(self, X: Any, task: Task) -> bool:
        """Where rows of the kernel matrix are long, or would have to be made of sparse products."""
        automatic = isinstance(self.solver, str) and self.solver == "auto" and task.validation is None
        return automatic and self._is_linear() and (sp.issparse(X) or X.shape[0] > MANY_SAMPLES)


class SVOR(PenalizedModel):
    """The concise SVOR (Gu et al. 2020): every sample faces every threshold; thresholds are penalised.

    The recommended default. Its dual has only box constraints, its thresholds are unique and, with absolute or
    squared cost, in order.
    """

    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        return formulations.svor(codes, n_ranks, C, worth)


class RedSVM(PenalizedModel):
    """RedSVM (Lin & Li 2012): the ranks reduced to questions "above k?", each weighted by what a mistake costs.

    With absolute cost it is `SVOR`.
    """

    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        return formulations.redsvm(codes, n_ranks, C, worth)


class SVORIM(CostModel):
    """Ordinal regression with implicit constraints (Chu & Keerthi 2007, §4): free thresholds, in order by Lemma 1.

    With two ranks it is C-SVC.
    """

    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        return formulations.svorim(codes, n_ranks, C, worth)


class SVOREX(ThresholdModel):
    """Ordinal regression with explicit constraints (Chu & Keerthi 2007, §2): adjacent thresholds, kept in order."""

    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        return formulations.svorex(codes, n_ranks, C)


class ShashuaLevinSVOR(ThresholdModel):
    """Shashua & Levin's machine: as SVOREX without the constraint, so its thresholds may come out disordered."""

    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        return formulations.shashua_levin(codes, n_ranks, C)
