"""Coverage: prediction sets hold the true rank as often as their theorem says, over many draws of the samples.

With folds the level is that of CV+ (R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, "Predictive inference with
the jackknife+", Annals of Statistics 49, 2021, theorem 4), and 1 − α for a machine that was trained before.

The test is sequential. Draws that cover less than the level by two standard errors bring eight times as many new ones,
and only these decide, by four standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.campaign.kinds.verdict import Verdict, quiet, verdict

DRAWS, MORE_DRAWS = 12, 96
N_NEW = 200
SUSPICIOUS, WRONG = 2.0, 4.0  # standard errors
EQUAL = 1e-6  # probabilities that a scale of the weights must not change


@dataclass(frozen=True)
class Problem:
    """A machine, a number of folds (0: it was trained before), samples, weights, and the coverage that is asked for."""

    estimator: str
    C: float
    n: int
    d: int
    ranks: int
    folds: int
    method: str
    weights: str
    coverage: float
    seed: int

    @property
    def what(self) -> str:
        """Return the stratum of the problem."""
        return f"{self.folds or 'no'} folds, weights: {self.weights}"

    @property
    def level(self) -> float:
        """Return the least probability with which a set holds the true rank.

        The second term of the theorem is for folds of one size, which those with samples of weight 0 are not.
        """
        alpha, K, n = 1 - self.coverage, self.folds, self.n
        if not K:
            return self.coverage
        first, second = 2 * (1 - 1 / K) / (n / K + 1), (1 - K / n) / (K + 1)
        return 1 - 2 * alpha - (first if self.weights == "zeros" or n % K else min(first, second))


def draw(rng: np.random.Generator, time_limit: float) -> Problem:
    folds = int(rng.choice([0, 0, 2, 5]))
    return Problem(
        estimator=str(rng.choice(["LinearSVOR", "SVOR", "SVORIM", "RoundedRegressor"])),
        C=float(rng.choice([0.01, 1.0, 100.0])),
        n=int(rng.integers(3, 13)) * 10,
        d=int(rng.choice([1, 3, 10, 40])),
        ranks=int(rng.choice([2, 3, 5])),
        folds=folds,
        method=str(rng.choice(["logistic", "isotonic"])),
        weights=str(rng.choice(["none", "equal", "zeros"], p=(0.5, 0.3, 0.2))),
        coverage=float(rng.choice([0.7, 0.8, 0.9, 0.95])),
        seed=int(rng.integers(2**31)),
    )


def judge(problem: Problem) -> Verdict:
    """Count how often the sets hold the true rank."""
    with quiet():
        reasons = _depends_on_scale(problem) if problem.weights == "equal" and not problem.folds else []
        first = [_covered(problem, np.random.default_rng([problem.seed, draw])) for draw in range(DRAWS)]
        if _below(first, problem.level) > SUSPICIOUS:
            draws = range(DRAWS, DRAWS + MORE_DRAWS)
            more = [_covered(problem, np.random.default_rng([problem.seed, draw])) for draw in draws]
            below = _below(more, problem.level)
            if below > WRONG:
                reasons.append(
                    f"{np.mean(more):.3f} is covered, {problem.level:.3f} promised: {below:.1f} errors below"
                )
    return verdict(reasons)


def _below(covered: list[float], level: float) -> float:
    """Return by how many standard errors the mean is below the level, the larger of two estimates being the error."""
    errors = np.std(covered, ddof=1), np.sqrt(level * (1 - level) / N_NEW)
    return float((level - np.mean(covered)) / (max(errors) / np.sqrt(len(covered))))


def _covered(problem: Problem, rng: np.random.Generator) -> float:
    """Return the share of new samples whose sets hold their rank."""
    X, y = _samples(problem, rng, problem.n + N_NEW)
    new, true = X[problem.n :], y[problem.n :]
    model = _calibrated(problem, rng, X[: problem.n], y[: problem.n], _weights(problem, rng))
    sets = model.predict_set(new, coverage=problem.coverage)
    return float(np.mean((sets[:, 0] <= true) & (true <= sets[:, 1])))


def _calibrated(problem: Problem, rng: np.random.Generator, X: Any, y: Any, weight: Any) -> Any:
    """Return the calibrated machine; samples of weight 0 are put in addition, with ranks that are not true."""
    from sklearn.model_selection import KFold

    import ordsvm

    if problem.weights == "zeros":
        order = rng.permutation(2 * problem.n)
        X, y = np.concatenate([X, X])[order], np.concatenate([y, problem.ranks - 1 - y])[order]
        weight = np.repeat([1.0, 0.0], problem.n)[order]
    machine = _machine(problem)
    if not problem.folds:
        machine.fit(*_samples(problem, rng, problem.n))
        return ordsvm.CalibratedOrdinal(machine, cv="prefit", method=problem.method).fit(X, y, sample_weight=weight)
    folds = KFold(problem.folds, shuffle=True, random_state=int(rng.integers(2**31)))
    return ordsvm.CalibratedOrdinal(machine, cv=folds, method=problem.method).fit(X, y, sample_weight=weight)


def _machine(problem: Problem) -> Any:
    from sklearn.linear_model import Ridge

    import ordsvm

    if problem.estimator == "RoundedRegressor":
        return ordsvm.RoundedRegressor(Ridge(1 / problem.C), categories=list(range(problem.ranks)))
    kernel = {} if problem.estimator == "LinearSVOR" else {"gamma": 0.5 / problem.d}
    categories = list(range(problem.ranks))
    return getattr(ordsvm, problem.estimator)(C=problem.C, n_threads=1, categories=categories, **kernel)


def _samples(problem: Problem, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and ranks that are drawn independently."""
    X = rng.normal(size=(n, problem.d))
    inner = np.linspace(-1, 1, problem.ranks - 1) if problem.ranks > 2 else np.zeros(1)
    return X, np.digitize(X[:, 0] + rng.normal(size=n), inner)


def _weights(problem: Problem, rng: np.random.Generator) -> np.ndarray | None:
    return np.full(problem.n, 10.0 ** rng.uniform(-3, 3)) if problem.weights == "equal" else None


def _depends_on_scale(problem: Problem) -> list[str]:
    """Return a complaint if the scale of equal weights changes the probabilities or sets of a trained machine."""
    found = []
    for scale in (None, 1.0 / problem.n, 1000.0):
        rng = np.random.default_rng(problem.seed)
        X, y = _samples(problem, rng, problem.n)
        weight = None if scale is None else np.full(problem.n, scale)
        model = _calibrated(problem, rng, X, y, weight)
        found.append((model.predict_proba(X), model.predict_set(X, coverage=problem.coverage)))
    (plain, plain_sets), *others = found
    if any(np.abs(other - plain).max() > EQUAL for other, _ in others):
        return ["probabilities depend on the scale of the weights"]
    if any(np.any(sets != plain_sets) for _, sets in others):
        return ["sets depend on the scale of the weights"]
    return []
