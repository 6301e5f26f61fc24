"""Classification and regression with an approximate kernel."""

from __future__ import annotations

from ordsvm._typing import ClassWeight, RandomState
from ordsvm.estimators._docs import NYSTROEM, documented
from ordsvm.estimators.linear_svc import LinearSVC
from ordsvm.estimators.linear_svr import LinearSVR
from ordsvm.estimators.nystroem import NystroemFeatures
from ordsvm.kernels.kernels import KernelLike
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike


@documented(NYSTROEM)
class NystroemSVC(NystroemFeatures, LinearSVC):
    """Support vector classification with an approximate kernel, for many samples.

    It is `SVC(intercept="penalized", multi_class="ovr")` with the kernel φ(x)'φ(y) of a Nyström map in place of
    k(x, y): `LinearSVC` on the features φ(x). All classes are trained in the same passes.

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

    Attributes
    ----------
    {sorted_classes_}
    coef_ : ndarray of shape (n_classes, n_components) or (1, n_components)
        Weights of the features φ(x); one row for two classes.
    dual_coef_ : ndarray of shape (n_classes, n_landmarks) or (1, n_landmarks)
        Weights of the landmarks.
    intercept_ : ndarray of shape (n_classes,) or (1,)
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
    SVC : The exact machine.
    NystroemSVOR : For labels that have an order.

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
    >>> from ordsvm import NystroemSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = NystroemSVC(C=1, n_landmarks=50).fit(X, y)
    >>> model.dual_coef_.shape
    (3, 50)
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
        loss: str = "hinge",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
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


@documented(NYSTROEM)
class NystroemSVR(NystroemFeatures, LinearSVR):
    """Support vector regression with an approximate kernel, for many samples.

    It is `SVR(intercept="penalized")` with the kernel φ(x)'φ(y) of a Nyström map in place of k(x, y): `LinearSVR` on
    the features φ(x). As the intercept is penalised, targets far from 0 are to be centred.

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
    {epsilon}
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether errors beyond epsilon are squared.
    {fit_intercept}
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
    coef_ : ndarray of shape (n_components,)
        Weights of the features φ(x).
    dual_coef_ : ndarray of shape (n_landmarks,)
        Weights of the landmarks.
    intercept_ : ndarray of shape (1,)
        Added to the score.
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
    SVR : The exact machine.
    RoundedRegressor : Makes an ordinal model of it.

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
    >>> from ordsvm import NystroemSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = NystroemSVR(C=100, n_landmarks=50).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
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
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
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
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
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
