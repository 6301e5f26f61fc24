"""Nonparallel support vector ordinal regression: one machine for every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from ordsvm import formulations
from ordsvm._typing import Floats
from ordsvm.estimators.base import Fit
from ordsvm.estimators.kernel import KernelMachine, KernelTask, Trained, intercepts
from ordsvm.estimators.rank_scores import RankScores
from ordsvm.estimators.validation import classes_that_count, sample_C
from ordsvm.labels import Ranks
from ordsvm.problem import Problem
from ordsvm.result import FitResult


class NPSVOR(RankScores, KernelMachine):
    """Nonparallel support vector ordinal regression (Shi et al. 2021): a score f_k for every rank k.

    f_k should be within epsilon of 0 on the samples of rank k, at most −1 on those below and at least 1 on those
    above. The ranks are independent problems over the same samples, which share the cached rows of the kernel matrix:

        min ½‖w_k‖² + ½·intercept_k² + C1 Σ_{y_i = k} max(0, |f_k(x_i)| − epsilon)
                                     + C2 Σ_{y_i ≠ k} max(0, 1 − s_ik f_k(x_i)),   s_ik = +1 if y_i > k else −1

    The intercept is part of f_k and penalised, as the paper's appended feature of ones makes it for linear machines.
    A rank in `categories` that no sample has keeps its problem, which then divides the ranks below it from those above.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of loss, where C1 or C2 does not say otherwise.
    C1, C2 : float or None, default=None
        The price for the samples of the machine's own rank, and for those of other ranks; None is C. The paper finds
        that it gains little by different ones.
    epsilon : float, default=0.1
        How far from 0 a score may be on the machine's own rank without a loss.
    predictor : {"ordered", "nearest"}, default="ordered"
        What makes a rank of the scores. "ordered", the paper's r_new, counts the k with f_k(x) + f_{k+1}(x) > 0;
        "nearest", its r_old, takes the k with the least |f_k(x)|. See `ordsvm.predictors`. May be changed after
        training.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        As in scikit-learn.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Training stops when, for every rank, both the violation of the optimality conditions and the relative
        duality gap are at most this.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix; never exceeded.
    max_iter : int, default=-1
        The largest number of steps for every rank; -1 for no limit.
    time_limit : float or None, default=None
        Seconds for all ranks; training stops with a usable model and a `ConvergenceWarning`.
    solver : str or solver object, default="auto"
        A name such as "gcd" or an options object such as `AsyAGCD(max_shrink_iter=1000)`.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C1 and C2 for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    warm_start : bool, default=False
        Start from the dual variables of the previous fit.
    callback : callable or None, default=None
        Called with a `Progress` of the rank under way several times a second; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr several times a second.
    n_threads : int or None, default=None
        For prediction and the solvers that take several; None is every core that this process may use.

    Attributes
    ----------
    classes_ : the labels, lowest first
    support_, support_vectors_ : the samples in the scores, and where they are in X
    dual_coef_ : array of shape (n_ranks, n_SV), their weights β in the score of every rank, 0 where they have none
    intercept_ : array of shape (n_ranks,)
    coef_ : array of shape (n_ranks, n_features), for the linear kernel
    result_ : `FitResult` of all ranks together, with the duality gap that proves how good the model is
    results_ : list of the `FitResult` of every rank
    n_iter_ : array of shape (n_ranks,), steps of the solver
    kernel_ : the kernel, with the gamma that was used
    """

    intercept_: Floats
    results_: list[FitResult]

    def __init__(
        self,
        C: float = 1.0,
        *,
        C1: float | None = None,
        C2: float | None = None,
        epsilon: float = 0.1,
        predictor: str = "ordered",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
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
    ) -> None:
        self.C = C
        self.C1 = C1
        self.C2 = C2
        self.epsilon = epsilon
        self.predictor = predictor
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.class_weight = class_weight
        self.categories = categories
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> KernelTask:
        """A problem for every rank; with two ranks of positive weight none is empty."""
        codes = target.codes
        check_consistent_length(X, codes)
        C1, C2 = (sample_C(C, sample_weight, self.class_weight, target) for C in self._both_C())
        classes_that_count(C2, target, type(self).__name__)
        ranks = range(len(target.classes))
        problems = [formulations.npsvor(codes, rank, float(self.epsilon), C1, C2) for rank in ranks]
        return KernelTask(problems, np.arange(len(codes)), target.classes)

    def _starts(self, problems: Sequence[Problem]) -> Sequence[Floats | None]:
        """With warm_start, the previous α, stretched by what has become of C1 and C2 where other machines go by C."""
        starts = super()._starts(problems)
        if starts[0] is None:
            return starts
        own, other = self._both_C() / self._trained_C1_C2 / (float(self.C) / self._trained_C)
        stretches = [np.where(problem.hinges.offset > 0, other, own) for problem in problems]
        return [stretch * start for stretch, start in zip(stretches, starts, strict=True)]

    def _recover(self, fit: Fit, solution: Trained) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.intercept_ = intercepts(solution.solutions)
        self.results_ = [each.result for each in solution.solutions]
        self.n_iter_ = np.array([result.n_iter for result in self.results_])
        self._trained_C1_C2 = self._both_C()
