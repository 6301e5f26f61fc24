"""Linear support vector classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import ClassWeight, Floats, Ints, RandomState, Samples
from ordsvm.conventions import share_of_right_labels
from ordsvm.estimators._docs import LINEAR, documented
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.validation import classes_that_count, sample_C, warn_left_out, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.problem.labels import Ranks, encode_classes
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike
from ordsvm.solvers.solution import LinearSolution


@documented(LINEAR)
class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classification with a certified duality gap: scikit-learn's problem of the same name.

    Two classes make one problem, more of them one for every class against the rest::

        min ½‖w‖² + ½·intercept² + C Σ_i max(0, 1 − s_i (w·x_i + intercept)),   s_i = ±1; with squared_hinge, max(…)²

    As in scikit-learn's LinearSVC the intercept is penalised. There the default loss is "squared_hinge".

    Parameters
    ----------
    {C}
    {loss}
    {fit_intercept}
    {class_weight}
    {tol}
    {max_iter}
    {time_limit}
    {solver}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {random_state}
    {device}

    Attributes
    ----------
    {sorted_classes_}
    coef_ : ndarray of shape (n_classes, n_features_in_) or (1, n_features_in_)
        Weights of the features; one row for two classes.
        With `intercept_` at most √(2 · result_.gap) from the optimal ones.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Added to the scores.
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVC : The same with a kernel.
    LinearSVOR : For labels that have an order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ordsvm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVC().fit(X, y).coef_.shape
    (3, 4)
    """

    classes_: NDArray[Any]
    score = share_of_right_labels
    _noun = "class"

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
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
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
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

    def decision_function(self, X: Samples) -> Floats:
        """Compute w·x + intercept for every class.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Decision values; for two classes one number, which speaks for the second.
        """
        margins = self._margins(X)
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the class with the largest decision value.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        ranks = self._ranks_of_products(self._scores(X))
        return self.classes_[ranks]

    def _ranks_of_products(self, products: Floats) -> Ints:
        margins = products + self.intercept_
        return (margins[:, 0] >= 0).astype(np.int64) if len(self.classes_) == 2 else margins.argmax(axis=1)

    def _check_target(self, y: Any) -> Ranks:
        return encode_classes(y, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        check_consistent_length(X, target.codes)
        C = float(self.C)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        present = classes_that_count(weighted_C(C, weight), target, type(self).__name__)
        if not present.all():
            warn_left_out(target.classes[~present])
        n_classes = int(present.sum())
        labels = (np.cumsum(present) - 1).clip(0)[target.codes]  # samples of classes left out have weight 0
        table = linear.binary(C) if n_classes == 2 else linear.one_vs_rest(n_classes, C)
        return LinearTask(table, labels.astype(np.int32), weights_or_none(weight), classes=target.classes[present])

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef.T
        self.intercept_ = solution.intercept
