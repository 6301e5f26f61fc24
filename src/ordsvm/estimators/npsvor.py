"""Nonparallel support vector ordinal regression: one machine for every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from ordsvm import formulations
from ordsvm._typing import Categories, ClassWeight, Floats, Gamma
from ordsvm.estimators._docs import KERNEL, documented
from ordsvm.estimators.base import Fit
from ordsvm.estimators.kernel import KernelMachine, KernelTask, Trained, intercepts
from ordsvm.estimators.model_findings import RankCounts
from ordsvm.estimators.rank_scores import RankScores
from ordsvm.estimators.validation import classes_that_count, sample_C
from ordsvm.kernels.kernels import KernelLike
from ordsvm.problem import Problem
from ordsvm.problem.labels import Ranks
from ordsvm.result import Callback, FitResult
from ordsvm.solvers.registry import SolverLike


@documented(KERNEL)
class NPSVOR(RankScores, KernelMachine):
    """Nonparallel support vector ordinal regression: a score f_k for every rank k.

    f_k should be within epsilon of 0 on the samples of rank k, at most −1 on those below and at least 1 on those
    above. The ranks are independent problems over the same samples, which share the cached rows of the kernel matrix::

        min ½‖w_k‖² + ½·intercept_k² + C1 Σ_{y_i = k} max(0, |f_k(x_i)| − epsilon)
                                     + C2 Σ_{y_i ≠ k} max(0, 1 − s_ik f_k(x_i)),   s_ik = +1 if y_i > k else −1

    The intercept is part of f_k and penalised, as the paper's appended feature of ones makes it for linear machines.
    A rank in `categories` that no sample has keeps its problem, which then divides the ranks below it from those above.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against ½‖w‖², where C1 or C2 does not say otherwise.
    C1 : float or None, default=None
        C for the samples of the machine's own rank; None is C itself.
    C2 : float or None, default=None
        C for the samples of other ranks; None is C itself. The paper finds that different ones gain little.
    epsilon : float, default=0.1
        How far from 0 a score may be on the machine's own rank without a loss.
    {predictor}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {device}

    Attributes
    ----------
    {classes_}
    {support_}
    {support_vectors_}
    dual_coef_ : ndarray of shape (n_classes, n_SV)
        Weights β in the score of every rank, 0 where a sample has none.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Weights of the features, for the linear kernel.
    {result_}
    results_ : list of FitResult
        The same for every rank.
    n_iter_ : ndarray of shape (n_classes,)
        Steps of the solver.
    {kernel_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    LinearNPSVOR : The same with weights of features instead of a kernel, for many or sparse samples.
    SVOR : One score for all ranks.

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021.

    Examples
    --------
    >>> from ordsvm import NPSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = NPSVOR(gamma=0.05).fit(X[:60], y[:60])
    >>> model.rank_scores(X[:2]).shape
    (2, 3)
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
        kernel: KernelLike = "rbf",
        gamma: Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: SolverLike = "auto",
        class_weight: ClassWeight = None,
        categories: Categories = None,
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        device: str = "cpu",
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
        self.deterministic = deterministic
        self.device = device

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

    def _rank_counts(self, fit: Fit, solution: Trained) -> RankCounts | None:
        scores = [each.score for each in solution.solutions if each.score is not None]
        if len(scores) < len(solution.solutions):
            return None
        ranks = self._ranks(np.column_stack(scores) + self.intercept_)
        return RankCounts.of(self.classes_, fit.target.codes, ranks)
