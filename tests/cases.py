"""Small random problems of every formulation."""

from collections.abc import Callable

import numpy as np

from ordsvm import formulations
from ordsvm.formulations import cost_matrix, cost_weights
from ordsvm.problem import Problem, Treatment

N_RANKS = 4


def random_data(seed: int, n: int = 30, n_features: int = 3, n_ranks: int = N_RANKS, noise: float = 1.0):
    """Generic samples and noisy ranks 0..n_ranks − 1, each of them present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    score = X @ rng.normal(size=n_features) + noise * rng.normal(size=n)
    return X, np.argsort(np.argsort(score)) * n_ranks // n


def few_in_the_middle(n: int = 200, seed: int = 0):
    """Rank 1 is rare: with zero-one costs the threshold below it goes up and the one above it down, past each other."""
    X, place = random_data(seed, n=n, n_ranks=n)
    return X, np.searchsorted([0.3 * n, 0.35 * n, 0.8 * n], place, side="right")


def v_shaped_cost(n_ranks: int, seed: int) -> np.ndarray:
    """A random cost matrix whose rows fall to 0 on the diagonal and rise after it."""
    steps = np.random.default_rng(seed).uniform(0.2, 2.0, size=(n_ranks, n_ranks))
    cost = np.zeros((n_ranks, n_ranks))
    for rank in range(n_ranks):
        cost[rank, rank + 1 :] = np.cumsum(steps[rank, rank + 1 :])
        cost[rank, :rank] = np.cumsum(steps[rank, :rank][::-1])[::-1]
    return cost


def redsvm(y, n_ranks, C, cost):
    return formulations.redsvm(y, n_ranks, C, cost_weights(cost_matrix(cost, n_ranks)))


def svc(thresholds: Treatment):
    return lambda y, n_ranks, C: formulations.svc(np.where(y >= n_ranks // 2, 1.0, -1.0), C, thresholds)


def svr(thresholds: Treatment):
    def make(y, n_ranks, C):
        target = y + np.random.default_rng(len(y)).normal(size=len(y))  # generic: no two alike
        return formulations.svr(target, 0.3, C, thresholds)

    return make


FORMULATIONS: dict[str, Callable[[np.ndarray, int, float], Problem]] = {
    "svor": formulations.svor,
    "svorim": formulations.svorim,
    "svorex": formulations.svorex,
    "shashua_levin": formulations.shashua_levin,
    "redsvm-absolute": lambda y, r, C: redsvm(y, r, C, "absolute"),
    "redsvm-squared": lambda y, r, C: redsvm(y, r, C, "squared"),
    "redsvm-zero-one": lambda y, r, C: redsvm(y, r, C, "zero-one"),
    "redsvm-random": lambda y, r, C: redsvm(y, r, C, v_shaped_cost(r, seed=1)),
    "svorim-random": lambda y, r, C: formulations.svorim(y, r, C, cost_weights(v_shaped_cost(r, seed=2))),
    "npsvor": lambda y, r, C: formulations.npsvor(y, r // 2, 0.2, C, 0.7 * C),
    "svc-none": svc(Treatment.NONE),
    "svc-penalised": svc(Treatment.PENALIZED),
    "svc-free": svc(Treatment.FREE),
    "svr-none": svr(Treatment.NONE),
    "svr-penalised": svr(Treatment.PENALIZED),
    "svr-free": svr(Treatment.FREE),
}
