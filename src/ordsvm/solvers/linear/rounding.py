"""The estimate of float64's rounding in the gap of a linear machine, for solvers and `certify` (docs/rounding.md).

    losses   a score w·x + b is off by σ = ROUNDINGS · ε · (‖x‖ ‖w‖ + |b|), its distance from where the loss begins by
             e: σ and ROUNDINGS · ε · t, t the half width of the tube, or the score itself where that is less. The gap
             is off by e times the slope of the loss, C. Where losses are squared, slopes differ from 2|β| as far as
             the gap allows: it is off by Σ 2|β|e + 2√(gap Σ Ce²) + Σ Ce²
    sums     of the losses and of offsets times β, by ROUNDINGS · ε of these
    weights  Σβx is off by s = ROUNDINGS · ε · √Σ β²‖x‖², and ½‖Σβx‖² by s ‖w‖ + ½s²; so are Σβ and ½(Σβ)²

Roundings are taken to cancel as random numbers do. The difference of a score from its offset is exact near 0, where
there is no tube, and has the rounding of t near t: where these matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Certificate
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.solution import DualVariables

ROUNDINGS = 4.0  # of β, of a product and of sums, in which those of single terms cancel
BLOCK_ROWS = 2**14  # samples whose terms are added up at a time


def with_rounding(
    proof: Certificate, task: FeatureTask, norms: np.ndarray, variables: DualVariables, coef: Floats
) -> Certificate:
    """Return the proof of weights `coef` with the rounding of its numbers in the gap.

    norms: ‖x‖² of every sample.
    """
    if not np.isfinite(proof.gap):
        return proof
    error = rounding_of_gap(proof, task, norms, variables, coef)
    return replace(proof, dual=proof.dual - error, gap=proof.gap + error)


def rounding_of_gap(
    proof: Certificate, task: FeatureTask, norms: np.ndarray, variables: DualVariables, coef: Floats
) -> float:
    """Return how far the gap of a proof may be from the true one."""
    unit = ROUNDINGS * float(np.finfo(np.float64).eps)
    squares = np.einsum("ij,ij->j", coef, coef, dtype=np.float64)  # without a copy of the weights
    biases, caps, tubes = np.abs(proof.thresholds), task.table.bounds(), task.table.epsilon
    longest, largest, widest = (float(part.max(initial=0.0)) for part in (np.sqrt(squares), biases, tubes))

    def shifts(lengths: Floats) -> Floats:
        """Return by how many roundings the distance of a score from its tube is off, for samples of these lengths."""
        scores = lengths * longest + largest
        return scores + np.minimum(widest, scores / unit)

    sums = _sums_over_samples(task, norms, variables, shifts)
    apart = float(np.sqrt(2.0 * proof.gap))  # at most, Σβx and w
    of_weights = _of_half_square(unit * np.sqrt(sums.moments_squared), float(np.sqrt(squares.sum())) + apart)
    of_biases = _of_half_square(unit * np.sqrt(sums.sizes_squared), float(np.linalg.norm(biases)) + apart)
    if task.squared:
        of_losses = 2.0 * sums.shifted + 2.0 * float(np.sqrt(proof.gap * sums.curved)) + unit * sums.curved
    else:
        of_scores = float(np.sum(sums.lengths @ caps * np.sqrt(squares)) + np.sum(sums.weights @ caps * biases))
        of_losses = of_scores + min(float(np.sum(sums.weights @ (caps * tubes))), of_scores / unit)
    of_sums = abs(proof.primal) + abs(proof.dual) + sums.offsets
    return float(unit * (of_losses + of_sums) + of_weights + of_biases)


class _Sums(NamedTuple):
    """Sums over the samples, of |β| = Σ_l |β_il|, ‖x‖ and caps; the last two by label, with the samples' weights.

    moments are |β| ‖x‖, and shifts how far off scores are; curved is the sum of caps times squared shifts.
    """

    sizes_squared: float
    moments_squared: float
    offsets: float  # |β|, or |β| |target|
    shifted: float
    curved: float
    lengths: Floats
    weights: Floats


def _sums_over_samples(
    task: FeatureTask, norms: np.ndarray, variables: DualVariables, shifts: Callable[[Floats], Floats]
) -> _Sums:
    """Return the sums, added up block by block: whole columns would take as much memory as β."""
    numbers, by_label = np.zeros(5), np.zeros((2, task.table.n_labels))
    caps = task.table.bounds().sum(axis=1)
    for first in range(0, len(norms), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        labels = task.labels[rows]
        weight = np.ones(len(labels)) if task.weight is None else task.weight[rows]
        sizes = sum(np.abs(part[rows]).sum(axis=1, dtype=np.float64) for part in variables.parts)
        lengths = np.sqrt(norms[rows], dtype=np.float64)
        moments, shift = sizes * lengths, shifts(lengths)
        offsets = sizes.sum() if task.targets is None else sizes @ np.abs(task.targets[rows])
        numbers += (sizes @ sizes, moments @ moments, offsets, sizes @ shift, (caps[labels] * weight) @ shift**2)
        for sums, values in zip(by_label, (lengths * weight, weight), strict=True):
            sums += np.bincount(labels, values, len(sums))
    squared, moments_squared, offset, shifted, curved = numbers.tolist()
    return _Sums(squared, moments_squared, offset, shifted, curved, lengths=by_label[0], weights=by_label[1])


def _of_half_square(shift: float, length: float) -> float:
    """Return how far ½‖v‖² is off for a vector of this length that is off by `shift`."""
    return shift * (length + 0.5 * shift)
