"""Kernel machines on more rows than a kernel matrix can have: a Nyström map, then a linear machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed
from distributed import Client, Future
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ordsvm._typing import RandomState, Samples, SampleWeight
from ordsvm.checks import check_choice, check_number, check_positive, shortened
from ordsvm.conventions import linked
from ordsvm.distributed.cluster import connected, refuse_checkpoint
from ordsvm.distributed.estimators import LinearSVOR
from ordsvm.distributed.machine import DistributedMachine
from ordsvm.distributed.partitions import blocks_of, is_distributed, map_blocks
from ordsvm.estimators.base import all_or_nothing
from ordsvm.estimators.validation import check_seed
from ordsvm.kernels import Custom, NystroemMap, make_kernel
from ordsvm.kernels.kernels import KernelLike
from ordsvm.result import FitResult
from ordsvm.sparse import canonical, check_structure

KERNELS = ("rbf", "poly", "sigmoid", "laplacian", "linear")


@linked
class NystroemMachine(BaseEstimator):
    """A kernel machine on distributed rows, approximately: a Nyström map to features, then a linear machine.

    The map, that of `ordsvm.NystroemSVOR`, is made from rows drawn from all blocks, applied to every block where it
    lies, and a linear machine is trained on what comes out.

    Parameters
    ----------
    machine : estimator of ordsvm.distributed or None, default=None
        The linear machine, with its C, tol and other parameters; None is LinearSVOR().
    kernel : {"rbf", "poly", "sigmoid", "laplacian", "linear"} or callable, default="rbf"
        As in scikit-learn's Nystroem: a callable takes two samples and returns a number.
    gamma : float or None, default=None
        Of the "rbf", "poly", "sigmoid" and "laplacian" kernels; None is 1 / n_features.
    degree : float, default=3
        Of the "poly" kernel.
    coef0 : float, default=0.0
        Of the "poly" and "sigmoid" kernels.
    n_landmarks : int, default=300
        Rows drawn for the map, at most as many as there are; blocks become float32 arrays with so many columns.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Attributes
    ----------
    machine_ : estimator of ordsvm.distributed
        The trained linear machine.
    map_ : NystroemMap
        The map; `map_.transform(X)` are the features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.distributed.LinearSVOR : The linear machine by itself.
    ordsvm.NystroemSVOR : The same for rows in memory, with a bound on what the approximation costs.
    ordsvm.SVOR : The exact kernel machine, for rows in memory.

    Notes
    -----
    `result_` proves how good the linear machine is for the kernel of the map. It does not say how far that is from the
    kernel meant: compare with more components, on rows held out.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.distributed import NystroemMachine
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> rows, labels = da.from_array(X, chunks=(221, 10)), da.from_array(y, chunks=221)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = NystroemMachine(n_landmarks=50, random_state=0).fit(rows, labels, client=client)
    >>> model.predict(X).shape
    (442,)
    """

    machine_: DistributedMachine
    map_: NystroemMap

    def __init__(
        self,
        machine: Any = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 0.0,
        n_landmarks: int = 300,
        random_state: RandomState = None,
    ) -> None:
        self.machine = machine
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), self._machine().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
            own.estimator_type,
            own.classifier_tags,
            own.regressor_tags,
        )
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: SampleWeight = None,
        *,
        client: Client | None = None,
        checkpoint: None = None,
    ) -> Self:
        """Train on distributed rows, given as to the linear machines.

        Parameters
        ----------
        X : dask array, dask data frame or list of delayed blocks
            The rows; without y, a list of delayed tuples (X, y) or (X, y, sample_weight).
        y : dask array, dask series or list of delayed blocks, default=None
            Labels or targets, divided as X is.
        sample_weight : dask array, dask series or list of delayed blocks, default=None
            Weights, divided as X is.
        client : distributed.Client or None, default=None
            The cluster; None: the current client, or else a cluster of threads in this process while training lasts.
        checkpoint : None, default=None
            Not possible here: rows and dual variables stay on the workers, whose loss a fit survives without one.

        Returns
        -------
        NystroemMachine
            The fitted machine.
        """
        refuse_checkpoint(checkpoint)
        self._check_parameters()
        blocks = blocks_of(X, y, sample_weight)
        with connected(client) as client:
            rows = [block.X if isinstance(block.X, Future) else client.compute(block.X) for block in blocks]
            sample = self._drawn(client, rows)
            validate_data(self, sample, skip_check_array=True)
            self.map_ = self._new_map(sample)
            mapped = [delayed(_mapped)(self.map_, block) for block in rows]
            del rows
            labels = None if y is None else [block.y for block in blocks]
            weights = None if sample_weight is None else [block.weight for block in blocks]
            self.machine_ = clone(self._machine()).fit(mapped, labels, weights, client=client)
        return self

    @property
    def result_(self) -> FitResult:
        """The `FitResult` of `machine_`: its duality gap is that of the approximate problem."""
        return self.machine_.result_

    @property
    def classes_(self) -> Any:
        """The labels, for classifiers."""
        return self.machine_.classes_

    def predict(self, X: Samples) -> Any:
        """Predict from the mapped rows.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array, dask data frame or list of delayed blocks
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,), dask array or list of delayed blocks
            Labels or targets; of distributed rows not computed yet.
        """
        check_is_fitted(self, "machine_")
        return map_blocks(X, self._predict, self.n_features_in_) if is_distributed(X) else self._predict(X)

    def score(self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None) -> float:
        """Score predictions of rows in memory as the linear machine does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float
            Accuracy, or R² for regressors.
        """
        check_is_fitted(self, "machine_")
        return float(self.machine_.score(self._map(X), y, sample_weight))

    def _predict(self, X: Any) -> Any:
        return self.machine_.predict(self._map(X))

    def _map(self, X: Any) -> Any:
        check_structure(X)
        return _mapped(self.map_, validate_data(self, X, reset=False, accept_sparse="csr"))

    def _machine(self) -> Any:
        return LinearSVOR() if self.machine is None else self.machine

    def _check_parameters(self) -> None:
        if not isinstance(self._machine(), DistributedMachine):
            raise TypeError(
                f"machine={shortened(self.machine)} is not for distributed rows: give a linear machine of "
                "ordsvm.distributed."
            )
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        if self.gamma is not None:
            check_positive("gamma", self.gamma)
        check_number("n_landmarks", self.n_landmarks, "a whole number from 1 on", lambda n: n >= 1 and n == int(n))
        check_seed(self.random_state)

    def _new_map(self, sample: Any) -> NystroemMap:
        if callable(self.kernel):
            return NystroemMap.of(Custom(partial(pairwise_kernels, metric=self.kernel)), sample)
        gamma = 1.0 / sample.shape[1] if self.gamma is None else float(self.gamma)
        return NystroemMap.of(make_kernel(self.kernel, gamma, float(self.coef0), float(self.degree)), sample)

    def _drawn(self, client: Client, rows: Sequence[Future]) -> Any:
        """Rows of all blocks, each as likely as any other."""
        random = check_seed(self.random_state)
        sizes = np.array(client.gather(client.map(_n_rows, rows, pure=False)), dtype=np.int64)
        if sizes.sum() < 2:
            raise ValueError(f"There are {sizes.sum()} rows in all blocks: give at least 2.")
        n_rows = int(sizes.sum())
        chosen = np.sort(sample_without_replacement(n_rows, min(int(self.n_landmarks), n_rows), random_state=random))
        first = np.concatenate([[0], np.cumsum(sizes)])
        own = [chosen[(chosen >= start) & (chosen < end)] - start for start, end in pairwise(first)]
        drawn = [client.submit(_some, block, numbers, pure=False) for block, numbers in zip(rows, own, strict=True)]
        parts = [part for part in client.gather(drawn) if part.shape[0]]
        return sp.vstack(parts).tocsr() if sp.issparse(parts[0]) else np.concatenate(parts)


def _rows_of(block: Any) -> Any:
    return block[0] if isinstance(block, tuple) else block


def _n_rows(block: Any) -> int:
    return int(_rows_of(block).shape[0])


def _checked_rows(block: Any) -> Any:
    """Return the rows of a block, dense or CSR, as a kernel takes them."""
    X = _rows_of(block)
    check_structure(X)
    return canonical(check_array(X, accept_sparse="csr", ensure_min_samples=0))


def _some(block: Any, numbers: np.ndarray) -> Any:
    return _checked_rows(block)[numbers]


def _mapped(kernel_map: NystroemMap, block: Any) -> Any:
    """The rows in the features of the map; with labels and weights if these came along."""
    made = kernel_map.transform(_checked_rows(block), np.float32)
    return (made, *block[1:]) if isinstance(block, tuple) else made
