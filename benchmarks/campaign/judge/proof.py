"""What α and the model prove about a table of hinges: feasibility, objectives, gap and violation.

Sums are in extended precision, so that what is left of an error is the model's, not the judge's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.campaign.judge.kernel_values import Extended
from benchmarks.campaign.judge.tables import Table

AT_BOUND = 1e-11  # share of the cap within which a dual variable is at a bound
EQUAL = 1e-9  # share of Σα within which an equality holds, or an order is not active


@dataclass(frozen=True)
class Proof:
    """primal ≥ optimum ≥ dual. infeasible: by how much α leaves its constraints, as a share of the caps."""

    primal: float
    dual: float
    gap: float
    violation: float
    infeasible: float


def beta_of(table: Table, alpha: np.ndarray) -> np.ndarray:
    """β_i, the sum of s α over the hinges of a sample."""
    beta = np.zeros(table.n_samples, dtype=Extended)
    np.add.at(beta, table.sample, table.sign * alpha.astype(Extended))
    return beta


def gamma_of(table: Table, alpha: np.ndarray) -> np.ndarray:
    """γ_k, the sum of s α over the hinges of a threshold."""
    gamma = np.zeros(table.n_thresholds, dtype=Extended)
    np.add.at(gamma, table.threshold, table.sign * alpha.astype(Extended))
    return gamma


@dataclass(frozen=True)
class Scored:
    """The two sides of a proof, both with ‖w‖² and the scores of the samples: the model's own and those of α."""

    model_norm: float
    model_score: np.ndarray
    dual_norm: float
    dual_score: np.ndarray


def prove(table: Table, alpha: np.ndarray, b: np.ndarray, scored: Scored) -> Proof:
    """The proof of a model with thresholds b."""
    alpha, b = alpha.astype(Extended), b.astype(Extended)
    gamma = gamma_of(table, alpha)
    penalised = table.treatment == "penalized"
    loss = np.maximum(0, -_slope(table, scored.model_score, b))
    paid = (table.cap * (loss**2 if table.squared else loss)).sum()
    primal = 0.5 * (scored.model_norm + penalised * (b**2).sum()) + paid
    if table.treatment == "ordered" and np.any(np.diff(b) < 0):
        primal = Extended(np.inf)
    bend = (alpha**2 / (4 * table.cap)).sum() if table.squared else 0.0
    dual = (table.offset * alpha).sum() - bend - 0.5 * (scored.dual_norm + penalised * (gamma**2).sum())
    violation = _violation(table, alpha, b, gamma, scored.dual_score)
    return Proof(float(primal), float(dual), float(primal - dual), violation, _infeasible(table, alpha, gamma))


def _slope(table: Table, score: np.ndarray, b: np.ndarray) -> np.ndarray:
    at = 0.0 if table.treatment == "none" else b[table.threshold]
    return table.sign * (score[table.sample] - at) - table.offset


def _infeasible(table: Table, alpha: np.ndarray, gamma: np.ndarray) -> float:
    if not np.all(np.isfinite(alpha)):
        return np.inf
    outside = np.maximum(-alpha, 0 if table.squared else alpha - table.cap)
    worst = float(np.max(outside / table.cap, initial=0.0))
    total = max(float(alpha.sum()), np.finfo(float).tiny)
    if table.treatment == "free":
        worst = max(worst, float(np.abs(gamma).max()) / total)
    if table.treatment == "ordered":
        mu = -np.cumsum(gamma)
        worst = max(worst, float(np.max(-mu)) / total, float(abs(mu[-1])) / total)
    return worst


def _violation(table: Table, alpha: np.ndarray, b: np.ndarray, gamma: np.ndarray, score: np.ndarray) -> float:
    """The largest projected gradient, for the model's b or for b = −γ; or max_k (b_low − b_up)."""
    if table.squared:
        return 0.0  # of the linear machines, which stop by the gap
    may_rise, may_fall = alpha < (1 - AT_BOUND) * table.cap, alpha > AT_BOUND * table.cap
    if table.treatment in ("none", "penalized"):
        choices = [b, -gamma] if table.treatment == "penalized" else [b]
        return min(_projected(_slope(table, score, choice), may_rise, may_fall) for choice in choices)
    level = score[table.sample] - table.sign * table.offset
    above = table.sign > 0
    low, up = np.full((2, table.n_thresholds), np.inf, dtype=Extended)
    low = -low
    bounds_up, bounds_low = np.where(above, may_rise, may_fall), np.where(above, may_fall, may_rise)
    np.minimum.at(up, table.threshold[bounds_up], level[bounds_up])
    np.maximum.at(low, table.threshold[bounds_low], level[bounds_low])
    if table.treatment == "ordered":
        low, up = _tied(low, up, -np.cumsum(gamma) > EQUAL * alpha.sum())
    return float(max(0, np.max(low - up)))


def _projected(slope: np.ndarray, may_rise: np.ndarray, may_fall: np.ndarray) -> float:
    return float(max(0, np.max(-slope[may_rise], initial=0), np.max(slope[may_fall], initial=0)))


def _tied(low: np.ndarray, up: np.ndarray, tied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Chu & Keerthi's (18) over whole runs of thresholds that an active order holds together."""
    low, up = np.maximum.accumulate(low), np.minimum.accumulate(up[::-1])[::-1]
    for k in range(len(low) - 2, -1, -1):
        low[k] = low[k + 1] if tied[k] else low[k]
    for k in range(1, len(up)):
        up[k] = up[k - 1] if tied[k - 1] else up[k]
    return low, up
