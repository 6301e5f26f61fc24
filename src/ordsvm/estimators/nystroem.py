"""Kernel machines on many samples, approximately: linear machines on the features of a Nyström map."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ordsvm._typing import Floats, Samples, SampleWeight
from ordsvm.checks import check_choice, check_number, check_positive, shortened, usable_threads
from ordsvm.conventions import read_only
from ordsvm.estimators.base import Fit, finite_scores
from ordsvm.estimators.certify import certify
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.nystroem_error import LeftOut, NystroemError, ScaledDual, bound_by_residuals
from ordsvm.estimators.validation import check_kernel_parameters, check_seed, kernel_by_parameters
from ordsvm.kernels import Kernel, NystroemMap, Precomputed
from ordsvm.kernels.nystroem import RULES, draw_landmarks
from ordsvm.problem import Certificate
from ordsvm.rows.disk.row_store import RowStore
from ordsvm.solvers.solution import LinearSolution
from ordsvm.sparse import canonical

NEGATIVE_RESIDUAL = 1e-4  # share of the largest k(x, x) that rounding in float32 does not explain
LEAST_LANDMARKS, LANDMARKS_BY_ROOT = 300, 4.0  # n_landmarks="auto" is at most the larger of 300 and 4√n
SAMPLED_VALUES = 50_000_000  # of the kernel, for the estimate: all of them up to 7,071 samples
LEAST_SAMPLED = 100  # rows
IN_MEMORY = "needs all rows in memory: use a linear machine, which takes rows on disk, or fewer rows."


@dataclass(frozen=True)
class NystroemFit(Fit):
    """A fit whose X holds features; and the samples that these are of, with their residuals."""

    samples: Any
    residuals: Floats

    def _identity(self) -> dict[str, str]:
        return Fit(self.machine, self.samples, self.target, self.task)._identity()


class NystroemFeatures(LinearMachine):
    """What makes a linear machine one on the features of a Nyström map: placed before it among the base classes."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    landmarks: Any
    n_landmarks: Any
    memory: Any
    kernel_: Kernel
    landmarks_: Any
    projection_: Floats
    approximation_: NystroemError
    _rows_are_samples: ClassVar[bool] = False  # landmarks are drawn among the training samples
    _solvers: ClassVar[tuple[str, ...]] = ("linear-interior-point", "rank-dcd")

    @property
    def dual_coef_(self) -> Floats:
        """Weights of the landmarks: scores are k(x, landmarks_) @ dual_coef_.T, plus intercepts where there are any.

        They are computed at every access, and read-only.
        """
        return read_only((self.projection_ @ self._columns()).T)

    # Prepare

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_kernel_parameters(self)
        if isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            raise ValueError("kernel='precomputed' has no samples to make a Nyström map of: give another kernel.")
        check_choice("landmarks", self.landmarks, RULES)
        check_positive("memory", self.memory)
        if not (isinstance(self.n_landmarks, str) and self.n_landmarks == "auto"):
            allowed = "'auto' or a whole number from 1 on"
            check_number("n_landmarks", self.n_landmarks, allowed, lambda n: n >= 1 and n == int(n))

    def _require_a_solver_of_streams(self) -> None:
        raise ValueError(f"{type(self).__name__} {IN_MEMORY}")

    def _check_training_data(self, X: Any) -> Any:
        if isinstance(X, RowStore):
            self._require_a_solver_of_streams()
        return canonical(super()._check_training_data(X))

    def _check_new_data(self, X: Any) -> Any:
        return canonical(super()._check_new_data(X))

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> NystroemFit:
        """With the features of the samples, made after all checks, in place of these."""
        fit = super()._prepare(X, y, sample_weight)
        return self._with_features(fit, self._new_map(fit.X, fit.task))

    def _retrace(self, X: Any, y: Any, sample_weight: Any) -> NystroemFit:
        return self._with_features(super()._retrace(X, y, sample_weight), self._map())

    def _with_features(self, fit: Fit, kernel_map: NystroemMap) -> NystroemFit:
        features = kernel_map.transform(fit.X, fit.X.dtype)
        residuals = kernel_map.residuals(fit.X, features)
        return NystroemFit(fit.machine, features, fit.target, fit.task, samples=fit.X, residuals=residuals)

    def _new_map(self, X: Any, task: LinearTask) -> NystroemMap:
        """Of landmarks among the samples whose weight is not 0."""
        kernel = kernel_by_parameters(self, X)
        counts = None if task.weight is None else np.flatnonzero(task.weight)
        candidates = X if counts is None or len(counts) == X.shape[0] else X[counts]
        seed = check_seed(0 if self.random_state is None else self.random_state)
        n_landmarks = self._count(X, candidates.shape[0])
        chosen = draw_landmarks(kernel, candidates, n_landmarks, self.landmarks, seed)
        kernel_map = NystroemMap.of(kernel, candidates[chosen])
        self.kernel_, self.landmarks_, self.projection_ = kernel, kernel_map.landmarks, kernel_map.projection
        return kernel_map

    def _count(self, X: Any, n_candidates: int) -> int:
        """How many landmarks."""
        if not isinstance(self.n_landmarks, str):
            return min(n_candidates, int(self.n_landmarks))
        n_samples = X.shape[0]
        by_memory = int(self.memory * 2**20 / (X.dtype.itemsize * n_samples))
        enough = max(LEAST_LANDMARKS, math.ceil(LANDMARKS_BY_ROOT * math.sqrt(n_samples)))
        if by_memory < 1:
            raise ValueError(
                f"memory={shortened(self.memory)} MB does not hold one feature of {n_samples} samples: give more."
            )
        return min(n_candidates, by_memory, enough)

    def _map(self) -> NystroemMap:
        return NystroemMap(self.kernel_, self.landmarks_, self.projection_)

    # Recover

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        assert isinstance(fit, NystroemFit)
        self.approximation_ = self._error(fit, solution)

    def _error(self, fit: NystroemFit, solution: LinearSolution) -> NystroemError:
        residuals, primal = fit.residuals, solution.result.objective
        about = (float(residuals.mean()), float(residuals.max()))
        if not self._may_be_definite(fit):
            return NystroemError(*about, math.nan, math.nan, math.nan, 0)
        beta = solution.beta.array()
        dual, vectors = self._scaled_dual(fit, beta), _of_vectors(fit.task, beta)
        largest, left_out = bound_by_residuals(residuals, vectors), self._left_out(fit, vectors)
        t, proven = dual.best(min(max(0.0, left_out.product), largest))
        excess = (primal - dual.best(largest)[1], primal - proven)
        return NystroemError(*about, *excess, 0.5 * t * t * left_out.standard_error, left_out.n_rows)

    def _may_be_definite(self, fit: NystroemFit) -> bool:
        """Not, where the kernel is known for that, or where features explain more of a sample than there is."""
        kernel = self.kernel_
        rounding = NEGATIVE_RESIDUAL * max(float(np.abs(fit.residuals).max()), kernel.largest(fit.samples))
        return kernel.positive_semidefinite and float(fit.residuals.min()) >= -rounding

    def _scaled_dual(self, fit: NystroemFit, beta: Floats) -> ScaledDual:
        loss, shared = self._losses_of(fit.task), fit.task.table.shared
        return ScaledDual.of(fit.X, beta, loss, shared, bool(self.fit_intercept))

    def _left_out(self, fit: NystroemFit, beta: Floats) -> LeftOut:
        """β'Rβ, from so many rows of R."""
        n_samples = len(beta)
        n_rows = min(n_samples, max(LEAST_SAMPLED, SAMPLED_VALUES // n_samples))
        rows = np.arange(n_samples)
        if n_rows < n_samples:
            rows = np.sort(np.random.RandomState(0).choice(n_samples, n_rows, replace=False))
        terms = np.sum(beta[rows] * self._unexplained(fit, beta, rows), axis=1) * n_samples
        scatter = float(np.std(terms) / math.sqrt(n_rows)) if n_rows < n_samples else 0.0
        return LeftOut(float(np.mean(terms)), scatter, n_rows)

    def _unexplained(self, fit: NystroemFit, beta: Floats, rows: Any) -> Floats:
        """(Kβ − K̃β) of these rows, in float64."""
        samples = fit.samples.astype(np.float64, copy=False)
        exact = self.kernel_.scores(samples[rows], samples, beta, usable_threads(self.n_threads))
        return exact - np.asarray(fit.X[rows] @ (fit.X.T @ beta), dtype=np.float64)

    # Predict

    def _scores(self, X: Any) -> Floats:
        """f(x) by the weights of the landmarks: no features in memory."""
        X = self._check_new_data(X)
        weights = self.dual_coef_.T
        return finite_scores(self.kernel_.scores(X, self.landmarks_, weights, usable_threads(self.n_threads)))

    # Prove

    def certify_exact(self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None) -> Certificate:
        """Recompute what this machine proves as a solution of the exact kernel machine's problem.

        Its objective there is the same; the dual variables are those of the fit, times the number from 0 to 1 that
        proves most. All n² values of the kernel are computed. `ordsvm.certify` proves the approximate problem instead.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            The samples that `fit` was given.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Their weights.

        Returns
        -------
        Certificate
            Objectives, gap and violation, for the exact kernel.
        """
        proof = certify(self, X, y, sample_weight)
        fit = self._retrace(X, y, sample_weight)
        if not self._may_be_definite(fit):
            raise ValueError("The kernel is not positive semidefinite: a gap proves nothing about it.")
        loss = self._losses_of(fit.task)
        beta = np.clip(self._beta.array(), *loss.bounds())
        vectors = _of_vectors(fit.task, beta)
        product = float(np.sum(vectors * self._unexplained(fit, vectors, slice(None))))
        t, dual = self._scaled_dual(fit, beta).best(max(0.0, product))
        scores = t * self.kernel_.scores_in_numpy(fit.samples, fit.samples, vectors)
        scores = scores + (-self._biases() if fit.task.table.shared else self._biases())
        gap = max(0.0, proof.primal - dual)
        return Certificate(proof.primal, dual, gap, loss.violation(t * beta, scores), proof.thresholds)


def _of_vectors(task: LinearTask, beta: Floats) -> Floats:
    """β of every weight vector: thresholds share one."""
    return beta.sum(axis=1, keepdims=True) if task.table.shared else beta
