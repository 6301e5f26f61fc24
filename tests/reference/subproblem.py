"""The subproblem (13) of Manno, Palagi & Sagratella (2018), by Clarabel: the twin of decomposition/subproblem.py."""

import numpy as np

from tests.oracle import _solve, factor


def minimiser(Q, gradient, tau: float, rooms, to_gamma, mu=None) -> np.ndarray:
    """d of ½d'Qd + gradient'd + ½τ‖d‖², within the rooms below and above; γ stays, or where μ is given keeps it ≥ 0."""
    n = len(gradient)
    kept = to_gamma if mu is None else to_gamma.sum(axis=0, keepdims=True)
    kept = kept[np.any(kept, axis=1)]
    falls = np.empty((0, n)) if mu is None else np.cumsum(to_gamma, axis=0)[:-1]
    equalities = np.block([[kept, np.zeros((len(kept), n))], [factor(Q).T, -np.eye(n)]])  # w = L'd
    at_most = np.pad(np.vstack([-np.eye(n), np.eye(n), falls]), ((0, 0), (0, n)))
    right = np.concatenate([*rooms, [] if mu is None else mu[1:-1]])
    x, _ = _solve(np.repeat([tau, 1.0], n), np.append(gradient, np.zeros(n)), equalities, at_most, right)
    return np.where(np.abs(x[:n]) > 1e-8, x[:n], 0.0)
