"""The estimate of float64's rounding in the gap of a linear machine, for solvers and `certify` (docs/rounding.md).

    losses   a score w·x + b is off by ROUNDINGS · ε · (‖x‖ ‖w‖ + |b|), and the gap by that times the slope of the loss:
             C, or 2|β| where losses are squared
    sums     of the losses and of offsets times β, by ROUNDINGS · ε of these
    weights  Σβx is off by s = ROUNDINGS · ε · √Σ β²‖x‖², and ½‖Σβx‖² by s ‖w‖ + ½s²; so are Σβ and ½(Σβ)²

Roundings are taken to cancel as random numbers do. The distance of a score from its offset is exact near 0, where it
matters.
"""

from __future__ import annotations

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
    sums = _sums_over_samples(task, norms, variables)
    squares = np.einsum("ij,ij->j", coef, coef, dtype=np.float64)  # without a copy of the weights
    biases = np.abs(proof.thresholds)
    apart = float(np.sqrt(2.0 * proof.gap))  # at most, Σβx and w
    of_weights = _of_half_square(unit * np.sqrt(sums.moments_squared), float(np.sqrt(squares.sum())) + apart)
    of_biases = _of_half_square(unit * np.sqrt(sums.sizes_squared), float(np.linalg.norm(biases)) + apart)
    if task.squared:
        longest, largest = np.sqrt(squares.max(initial=0.0)), biases.max(initial=0.0)
        of_losses = 2.0 * float(sums.moments * longest + sums.sizes * largest)
    else:
        caps = task.table.bounds()
        of_losses = float(np.sum(sums.lengths @ caps * np.sqrt(squares)) + np.sum(sums.weights @ caps * biases))
    of_sums = abs(proof.primal) + abs(proof.dual) + sums.offsets
    return unit * (of_losses + of_sums) + of_weights + of_biases


class _Sums(NamedTuple):
    """Sums over the samples, of |β| = Σ_l |β_il| and ‖x‖; the last two by label, with the weights of the samples."""

    sizes: float
    sizes_squared: float
    moments: float  # |β| ‖x‖
    moments_squared: float
    offsets: float  # |β|, or |β| |target|
    lengths: Floats
    weights: Floats


def _sums_over_samples(task: FeatureTask, norms: np.ndarray, variables: DualVariables) -> _Sums:
    """Return the sums, added up block by block: whole columns would take as much memory as β."""
    numbers, by_label = np.zeros(5), np.zeros((2, task.table.n_labels))
    for first in range(0, len(norms), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        sizes = sum(np.abs(part[rows]).sum(axis=1, dtype=np.float64) for part in variables.parts)
        lengths = np.sqrt(norms[rows], dtype=np.float64)
        moments = sizes * lengths
        offsets = sizes.sum() if task.targets is None else sizes @ np.abs(task.targets[rows])
        numbers += (sizes.sum(), sizes @ sizes, moments.sum(), moments @ moments, offsets)
        weight = np.ones(len(lengths)) if task.weight is None else task.weight[rows]
        for sums, values in zip(by_label, (lengths * weight, weight), strict=True):
            sums += np.bincount(task.labels[rows], values, len(sums))
    total, squared, moments, moments_squared, offset = numbers.tolist()
    return _Sums(total, squared, moments, moments_squared, offset, lengths=by_label[0], weights=by_label[1])


def _of_half_square(shift: float, length: float) -> float:
    """Return how far ½‖v‖² is off for a vector of this length that is off by `shift`."""
    return shift * (length + 0.5 * shift)
