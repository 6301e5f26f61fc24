"""Newton's equations of an interior-point method, with everything that belongs to a single hinge eliminated.

    dβ = r_β + Σ_i s·dα        df = K dβ        p·db = r_b − Σ_k s·dα − E'(h·E db)        dα = w (g − s(df − db))

w is how much a hinge gives way, g the force on it, h the stiffness of the order of thresholds; r_β and r_b are what is
left over in β = Σsα and p·b = −γ + E'ν. With W the sums of w over samples, D = 1/W and V the sums over samples and
thresholds, (K + D) dβ = D (r_β + Σ_i s·w·g + V db), and a system over thresholds is left:

    (p + L + (DV)'Z + E'hE) db = r_b + Σ_v w (mean of s·g over the sample − s·g) + (DV)'(r_β − z)

where Z and z solve (K + D) Z = DV and (K + D) z = D (r_β + Σ_i s·w·g). L = diag(ΣV) − V'DV has zero row sums, and a
sample with one hinge has no part in it nor in the spread of s·g: both are computed as differences, not as what large
sums leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordsvm._typing import Floats
from ordsvm.solvers.kernel.interior_point.kernel_system import KernelSystem
from ordsvm.solvers.kernel.interior_point.scaled_problem import ScaledProblem


@dataclass(frozen=True)
class Residuals:
    """r_β and r_b."""

    beta: Floats
    threshold: Floats


@dataclass(frozen=True)
class Move:
    """What Newton's method adds to an iterate."""

    beta: Floats
    score: Floats
    threshold: Floats
    alpha: Floats


class NewtonSystem:
    """The equations for given w and h, factored once; LinAlgError where that can't be done."""

    def __init__(self, scaled: ScaledProblem, kernel: KernelSystem, weight: Floats, stiffness: Floats) -> None:
        self._scaled, self._kernel, self._weight = scaled, kernel, weight
        by_threshold = scaled.sums(weight)
        by_sample = by_threshold.sum(axis=1)
        self._inverse = np.divide(1.0, by_sample, out=np.zeros_like(by_sample), where=by_sample > 0)
        kernel.weigh(by_sample)
        if scaled.has_thresholds:
            self._eliminate_samples(by_threshold, stiffness)

    def _eliminate_samples(self, by_threshold: Floats, stiffness: Floats) -> None:
        scaled = self._scaled
        self._share = by_threshold * self._inverse[:, np.newaxis]
        self._beta_response, self._score_response = self._kernel.solve(by_threshold)
        matrix = -(self._share.T @ by_threshold)
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, scaled.penalty - matrix.sum(axis=1))
        through_kernel = self._share.T @ self._beta_response
        matrix += 0.5 * (through_kernel + through_kernel.T)
        if scaled.is_ordered:
            ends = np.diff(np.eye(scaled.n_thresholds), axis=0)
            matrix += ends.T @ (stiffness[:, np.newaxis] * ends)
        self._matrix = matrix

    def move(self, force: Floats, left: Residuals) -> Move:
        """The move that forces on hinges and residuals lead to; r_b holds the forces on the order of thresholds too."""
        scaled = self._scaled
        signed = scaled.sign * force
        right = left.beta + scaled.sample_sums(self._weight * signed)
        beta, score = (found[:, 0] for found in self._kernel.solve(right[:, np.newaxis]))
        threshold = np.zeros(scaled.n_thresholds)
        if scaled.has_thresholds:
            wanted = left.threshold + self._spread(signed) + self._share.T @ (left.beta - beta)
            threshold = symmetric_solve(self._matrix, wanted)
            beta, score = beta + self._beta_response @ threshold, score + self._score_response @ threshold
        alpha = self._weight * (force - scaled.sign * (score[scaled.sample] - threshold[scaled.threshold]))
        return Move(beta, score, threshold, alpha)

    def _spread(self, force: Floats) -> Floats:
        """Measured from the force on the hinge with the sample's largest w, so that one hinge alone gives exactly 0."""
        scaled, weight = self._scaled, self._weight
        rising = np.argsort(weight)
        common = np.zeros(scaled.n_samples)
        common[scaled.sample[rising]] = force[rising]  # the last one stays
        apart = force - common[scaled.sample]
        mean = scaled.sample_sums(weight * apart) * self._inverse
        return scaled.threshold_sums(weight * (mean[scaled.sample] - apart))


def symmetric_solve(matrix: Floats, right: Floats) -> Floats:
    """x of a positive semidefinite system, scaled to a diagonal of ones; what rounding makes singular is left out."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(matrix * inverse * inverse[:, np.newaxis])
    kept = values > 1e-15 * values[-1]
    return inverse * (vectors[:, kept] @ ((vectors[:, kept].T @ (inverse * right)) / values[kept]))
