"""Support vector classification: one binary problem for two classes, one per pair or per class for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ordsvm import formulations
from ordsvm._typing import ClassWeight, Flags, Floats, Gamma, Ints, Samples
from ordsvm.checks import check_choice, check_flag
from ordsvm.conventions import share_of_right_labels
from ordsvm.estimators._docs import KERNEL, documented
from ordsvm.estimators.base import Fit, gives_back_tensors
from ordsvm.estimators.intercept_machine import InterceptMachine
from ordsvm.estimators.kernel import KernelTask, Trained
from ordsvm.estimators.validation import check_same_length, classes_that_count, sample_C, warn_left_out
from ordsvm.kernels.kernels import KernelLike
from ordsvm.problem import Problem
from ordsvm.problem.labels import Ranks, encode_classes
from ordsvm.result import Callback, FitResult
from ordsvm.solvers.registry import SolverLike


@documented(KERNEL)
class SVC(ClassifierMixin, InterceptMachine):
    """Support vector classification, with scikit-learn's parameters and a certified duality gap.

    More than two classes make one binary problem for every pair of classes or one for every class against the rest. All
    problems share the cached rows of the kernel matrix.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {intercept}
    multi_class : {"ovo", "ovr"}, default="ovo"
        What is trained for more than two classes: "ovo" a problem for every pair of classes, as in scikit-learn; "ovr"
        one for every class against the rest.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` returns for more than two classes: a column for every class, or (with multi_class="ovo"
        only) one for every pair.
    break_ties : bool, default=False
        Whether classes with equally many votes are told apart by `decision_function`; otherwise the first one wins.
        Costs time. For multi_class="ovo" and decision_function_shape="ovr".
    {class_weight}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {device}

    Attributes
    ----------
    {sorted_classes_}
    {support_}
    {support_vectors_}
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class; they are sorted by class.
    dual_coef_ : ndarray of shape (n_problems, n_SV)
        Weights β in every binary problem, 0 where a sample has none. scikit-learn packs the same numbers for "ovo" into
        n_classes − 1 rows.
    intercept_ : ndarray of shape (n_problems,)
        Added to the scores.
    coef_ : ndarray of shape (n_problems, n_features_in_)
        Weights of the features, for the linear kernel.
    {result_}
    results_ : list of FitResult
        The same for every problem.
    n_iter_ : ndarray of shape (n_problems,)
        Steps of the solver.
    {kernel_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    LinearSVC : The same with weights of features instead of a kernel, for many or sparse samples.
    SVOR : For labels that have an order.

    Notes
    -----
    The problems are those of the pairs (0, 1), (0, 2), ..., (1, 2), ..., a positive value speaking for the first of the
    pair; or of the classes, a positive value speaking for the class. Two classes make one problem, a positive value
    speaking for the second class.

    References
    ----------
    .. [1] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018.
    .. [2] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ordsvm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X, y)
    >>> model.result_.converged
    True
    >>> model.predict(X[::50]).tolist()
    [0, 1, 2]
    """

    classes_: NDArray[Any]
    score = share_of_right_labels
    n_support_: Ints
    results_: list[FitResult]

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        intercept: str = "free",
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        class_weight: ClassWeight = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: SolverLike = "auto",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        device: str = "cpu",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.intercept = intercept
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.deterministic = deterministic
        self.device = device

    @gives_back_tensors
    def decision_function(self, X: Samples) -> Floats:
        """Compute how much speaks for every class, or for the first class of every pair.

        For machines of pairs, the column of a class holds its votes plus a term between −1/3 and 1/3 that grows
        with the sum of the decision values in its favour.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_columns)
            One number a sample for two classes, else a column for every class or pair.
        """
        margins = self._margins(X)
        if len(self.classes_) == 2:
            return margins[:, 0]
        self._check_shape(self._scheme)
        if self._scheme == "ovr" or self.decision_function_shape == "ovo":
            return margins
        return _votes(margins, len(self.classes_), ties_to_first=True) + _confidence(margins, len(self.classes_))

    @gives_back_tensors
    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the class with the most votes, or the largest decision value where each class has one.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self.classes_[(self.decision_function(X) >= 0).astype(np.int64)]
        if self._scheme == "ovr" or self.break_ties:
            return self.classes_[self.decision_function(X).argmax(axis=1)]
        return self.classes_[_votes(self._margins(X), len(self.classes_), ties_to_first=False).argmax(axis=1)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("multi_class", self.multi_class, ("ovo", "ovr"))
        self._check_shape(self.multi_class)

    def _check_shape(self, scheme: str) -> None:
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_flag("break_ties", self.break_ties)
        if self.decision_function_shape == "ovo" and scheme == "ovr":
            raise ValueError(
                "decision_function_shape='ovo' needs a machine for every pair of classes: train with "
                "multi_class='ovo', or give decision_function_shape='ovr'."
            )
        if self.decision_function_shape == "ovo" and self.break_ties:
            raise ValueError(
                "break_ties=True needs a decision value for every class: give decision_function_shape='ovr', or "
                "break_ties=False."
            )

    def _check_target(self, y: Any) -> Ranks:
        return encode_classes(y, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> KernelTask:
        """A problem for every question; samples of classes that it is not about have no hinge in it."""
        check_same_length(X, target.codes)
        C = sample_C(self.C, sample_weight, self.class_weight, target)
        present = classes_that_count(C, target, type(self).__name__)
        if not present.all():
            warn_left_out(target.classes[~present])
        order = self._by_class(target.codes)
        codes, C = target.codes[order], C[order]
        return KernelTask(self._problems(codes, C, present), order, target.classes[present])

    def _problems(self, codes: Ints, C: Floats, present: Flags) -> list[Problem]:
        classes = np.flatnonzero(present)
        if self.multi_class == "ovo" and len(classes) > 2:
            return formulations.svc_pairs(codes, C, self._treatment())
        sides = [_sides(len(present), *question) for question in _questions(classes)]
        return [self._binary(side[codes], C) for side in sides]

    def _binary(self, side: Floats, C: Floats) -> Problem:
        return formulations.svc(np.where(side > 0, 1.0, -1.0), C * np.abs(side), self._treatment())

    def _recover(self, fit: Fit, solution: Trained) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.results_ = [each.result for each in solution.solutions]
        self.n_iter_ = np.array([result.n_iter for result in self.results_])
        self._scheme = self.multi_class
        present = np.zeros(len(fit.target.classes), dtype=bool)
        present[np.searchsorted(fit.target.classes, fit.task.classes)] = True
        self.n_support_ = np.bincount(fit.target.codes[self.support_], minlength=len(present))[present]

    def _support_order(self, rows: Ints, target: Ranks) -> Ints:
        """Class by class, as in scikit-learn, so that n_support_ tells where each class begins."""
        return np.lexsort((rows, target.codes[rows]))


def _questions(classes: Ints) -> list[tuple[Ints, Ints]]:
    """The binary questions of one class against the rest, each as the classes that mean yes and those that mean no."""
    if len(classes) == 2:
        return [(classes[1:], classes[:1])]
    return [(classes[classes == yes], classes[classes != yes]) for yes in classes]


def _sides(n_classes: int, yes: Ints, no: Ints) -> Floats:
    """For every class 1 where it means yes, −1 where it means no, 0 where the question is not about it."""
    side = np.zeros(n_classes)
    side[yes], side[no] = 1.0, -1.0
    return side


def _votes(margins: Floats, n_classes: int, ties_to_first: bool) -> Floats:
    """How many pairs every class wins; a decision value of exactly 0 goes to either side, as scikit-learn has it."""
    first, second = np.triu_indices(n_classes, 1)
    for_first = margins >= 0 if ties_to_first else margins > 0
    one_hot = np.eye(n_classes)
    return for_first @ one_hot[first] + ~for_first @ one_hot[second]


def _confidence(margins: Floats, n_classes: int) -> Floats:
    """The sum of the decision values in a class's favour, squeezed into (−1/3, 1/3): it decides between equal votes
    and never overturns them."""
    first, second = np.triu_indices(n_classes, 1)
    total = margins @ (np.eye(n_classes)[first] - np.eye(n_classes)[second])
    return total / (3 * (np.abs(total) + 1))
