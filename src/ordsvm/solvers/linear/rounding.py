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

from dataclasses import replace

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Certificate
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.solution import DualVariables

ROUNDINGS = 4.0  # of β, of a product and of sums, in which those of single terms cancel


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
    sizes, lengths = _sums_of_sizes(variables), np.sqrt(norms, dtype=np.float64)
    squares = np.einsum("ij,ij->j", coef, coef, dtype=np.float64)  # without a copy of the weights
    biases = np.abs(proof.thresholds)
    apart = float(np.sqrt(2.0 * proof.gap))  # at most, Σβx and w
    of_weights = _of_half_square(unit * float(np.linalg.norm(sizes * lengths)), float(np.sqrt(squares.sum())) + apart)
    of_biases = _of_half_square(unit * float(np.linalg.norm(sizes)), float(np.linalg.norm(biases)) + apart)
    caps, tubes = task.table.bounds(), task.table.epsilon
    if task.squared:
        scores = lengths * np.sqrt(squares.max(initial=0.0)) + biases.max(initial=0.0)
        shifts = scores + np.minimum(tubes.max(initial=0.0), scores / unit)
        totals = caps.sum(axis=1)[task.labels] * (1.0 if task.weight is None else task.weight)
        curved = float(totals @ shifts**2)
        of_losses = 2.0 * float(sizes @ shifts) + 2.0 * float(np.sqrt(proof.gap * curved)) + unit * curved
    else:
        by_length = np.bincount(task.labels, lengths if task.weight is None else lengths * task.weight, len(caps))
        by_weight = np.bincount(task.labels, task.weight, len(caps))
        of_scores = float(np.sum(by_length @ caps * np.sqrt(squares)) + np.sum(by_weight @ caps * biases))
        of_losses = of_scores + min(float(np.sum(by_weight @ (caps * tubes))), of_scores / unit)
    of_offsets = float(sizes.sum() if task.targets is None else sizes @ np.abs(task.targets))
    of_sums = abs(proof.primal) + abs(proof.dual) + of_offsets
    return unit * (of_losses + of_sums) + of_weights + of_biases


def _of_half_square(shift: float, length: float) -> float:
    """Return how far ½‖v‖² is off for a vector of this length that is off by `shift`."""
    return shift * (length + 0.5 * shift)


def _sums_of_sizes(variables: DualVariables) -> Floats:
    """Return Σ|β| of every sample, without a copy of β."""
    sums = np.zeros(variables.shape[0])
    for part in variables.parts:
        for column in part.T:
            sums += np.abs(column)
    return sums
