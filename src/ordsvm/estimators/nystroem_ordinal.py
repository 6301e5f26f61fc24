"""Ordinal machines with an approximate kernel."""

from __future__ import annotations

from ordsvm._typing import Categories, ClassWeight, Cost, RandomState
from ordsvm.estimators._docs import NYSTROEM, documented
from ordsvm.estimators.linear_npsvor import LinearNPSVOR
from ordsvm.estimators.linear_svor import LinearSVOR
from ordsvm.estimators.nystroem import NystroemFeatures
from ordsvm.kernels.kernels import KernelLike
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike


@documented(NYSTROEM)
class NystroemSVOR(NystroemFeatures, LinearSVOR):
    """Support vector ordinal regression with an approximate kernel, for many samples.

    It is `SVOR` with the kernel φ(x)'φ(y) of a Nyström map in place of k(x, y): `LinearSVOR` on the features φ(x), of
    which there are as many as landmarks. Time and memory grow in proportion to the number of samples. With all samples
    as landmarks it is `SVOR`.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {landmarks}
    {n_landmarks}
    {memory}
    {cost}
    {loss}
    {class_weight}
    {categories}
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

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (n_components,)
        Weights of the features φ(x).
    dual_coef_ : ndarray of shape (n_landmarks,)
        Weights of the landmarks: the score is k(x, landmarks_) @ dual_coef_.
    {counted_thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {kernel_}
    {landmarks_}
    {projection_}
    {approximation_}
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVOR : The exact machine.
    NystroemNPSVOR : A score for every rank.
    LinearInteriorPoint : The solver.

    Notes
    -----
    `result_` and `certify` are about the approximate problem. `approximation_` bounds how far the objective is above
    the optimum of the exact machine, and `certify_exact` proves it with all values of the kernel: docs/nystroem.md.
    Rows have to be in memory.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import NystroemSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = NystroemSVOR(C=1, n_landmarks=50).fit(X, y)
    >>> bool(model.result_.relative_gap <= 1e-3)
    True
    >>> proof, error = model.certify_exact(X, y), model.approximation_
    >>> bool(proof.gap <= error.excess_bound)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        landmarks: str = "uniform",
        n_landmarks: str | int = "auto",
        memory: float = 1000.0,
        cost: Cost = "absolute",
        loss: str = "hinge",
        class_weight: ClassWeight = None,
        categories: Categories = None,
        tol: float | None = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
        solver: LinearSolverLike = "linear-interior-point",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.memory = memory
        self.cost = cost
        self.loss = loss
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


@documented(NYSTROEM)
class NystroemNPSVOR(NystroemFeatures, LinearNPSVOR):
    """Nonparallel support vector ordinal regression with an approximate kernel, for many samples.

    It is `NPSVOR` with the kernel φ(x)'φ(y) of a Nyström map in place of k(x, y): `LinearNPSVOR` on the features φ(x),
    with a score for every rank; all are trained in the same passes.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {landmarks}
    {n_landmarks}
    {memory}
    C1 : float or None, default=None
        C for the samples of a score's own rank; None is C.
    C2 : float or None, default=None
        C for samples of other ranks; None is C.
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
    {solver}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {random_state}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (n_classes, n_components)
        Weights of the features φ(x) in the score of every rank.
    dual_coef_ : ndarray of shape (n_classes, n_landmarks)
        Weights of the landmarks.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    {kernel_}
    {landmarks_}
    {projection_}
    {approximation_}
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    NPSVOR : The exact machine.
    NystroemSVOR : One score for all ranks.

    Notes
    -----
    `result_` and `certify` are about the approximate problem. `approximation_` bounds how far the objective is above
    the optimum of the exact machine, and `certify_exact` proves it with all values of the kernel: docs/nystroem.md.
    Rows have to be in memory.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import NystroemNPSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = NystroemNPSVOR(C=1, n_landmarks=50).fit(X, y)
    >>> model.rank_scores(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        landmarks: str = "uniform",
        n_landmarks: str | int = "auto",
        memory: float = 1000.0,
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
        solver: LinearSolverLike = "linear-interior-point",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.memory = memory
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
