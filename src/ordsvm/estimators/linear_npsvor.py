"""Linear nonparallel support vector ordinal regression: a score for every rank."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_consistent_length

from ordsvm._typing import Categories, ClassWeight, Floats, Ints, RandomState
from ordsvm.estimators._docs import LINEAR, documented
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.rank_scores import RankScores
from ordsvm.estimators.validation import classes_that_count, sample_C, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.problem.labels import Ranks
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike
from ordsvm.solvers.solution import LinearSolution


@documented(LINEAR)
class LinearNPSVOR(RankScores, LinearMachine):
    """Linear nonparallel support vector ordinal regression: a score f_k for every rank k.

    f_k(x) = w_k·x + intercept_k should be within epsilon of 0 on the samples of rank k, at most −1 on those below and
    at least 1 on those above::

        min ½‖w_k‖² + ½·intercept_k² + C1 Σ_{y_i = k} max(0, |f_k(x_i)| − epsilon)
                                     + C2 Σ_{y_i ≠ k} max(0, 1 − s_ik f_k(x_i)),   s_ik = +1 if y_i > k else −1

    and max(…)² for squared_hinge. It is `NPSVOR` with a linear kernel. A rank in `categories` that no sample has keeps
    its score, which then divides the ranks below it from those above.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against ½‖w‖², where C1 or C2 does not say otherwise.
    C1 : float or None, default=None
        The same for the samples of a score's own rank; None is C.
    C2 : float or None, default=None
        The same for samples of other ranks; None is C.
    epsilon : float, default=0.1
        How far from 0 a score may be on its own rank without a loss.
    {predictor}
    {loss}
    {fit_intercept}
    {class_weight}
    {categories}
    {tol}
    {max_iter}
    {time_limit}
    solver : {"auto", "rank-dcd", "linear-interior-point", "dcd-1", "dcd-2"} or solver object, default="auto"
        `RankDCD` for many features, above all sparse ones, `LinearInteriorPoint` for many samples of few features,
        whatever C; "dcd-1" and "dcd-2" are the paper's, `DCD1` and `DCD2`, for loss="hinge". The paper's solvers start
        from 0 whatever warm_start is.
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Weights of the features in the score of every rank.
        With `intercept_` at most √(2 · result_.gap) from the optimal ones.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    NPSVOR : The same with a kernel.
    LinearSVOR : One score for all ranks.
    RowStore : Rows that do not fit into memory.

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import LinearNPSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = LinearNPSVOR(C=0.1).fit(X, y)
    >>> model.rank_scores(X[:2]).shape
    (2, 3)
    """

    _solvers: ClassVar[tuple[str, ...]] = ("rank-dcd", "linear-interior-point", "dcd-1", "dcd-2")

    def __init__(
        self,
        C: float = 1.0,
        *,
        C1: float | None = None,
        C2: float | None = None,
        epsilon: float = 0.1,
        predictor: str = "ordered",
        loss: str = "hinge",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        categories: Categories = None,
        tol: float | None = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
        solver: LinearSolverLike = "auto",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        random_state: RandomState = None,
        device: str = "cpu",
    ) -> None:
        self.C = C
        self.C1 = C1
        self.C2 = C2
        self.epsilon = epsilon
        self.predictor = predictor
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.categories = categories
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.deterministic = deterministic
        self.random_state = random_state
        self.device = device

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        check_consistent_length(X, target.codes)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        C1, C2 = self._both_C()
        for C in (C1, C2):
            classes_that_count(weighted_C(C, weight), target, type(self).__name__)
        table = linear.npsvor(len(target.classes), C1, C2, float(self.epsilon))
        return LinearTask(table, target.codes.astype(np.int32), weights_or_none(weight), classes=target.classes)

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef.T
        self.intercept_ = solution.intercept

    def _ranks_of_products(self, products: Floats) -> Ints:
        return self._ranks(products + self.intercept_)
