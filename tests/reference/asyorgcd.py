"""AsyORGCD (Gu et al. 2020, Algorithm 4), blocks one after the other: the twin of solvers/papers/async/asyorgcd.hpp."""

import numpy as np

from ordsvm.problem import Problem, Treatment


def asyorgcd(problem: Problem, K: np.ndarray, tol: float, max_iter: int, max_inner_iter: int, n_blocks: int, safe=True):
    """α, the number of steps, and the lengths of the gathering steps: 1 where all that the blocks did was taken, as it
    always is without `safe`."""
    owner, penalty = problem.hinges.sample * n_blocks // problem.n_samples, problem.treatment is Treatment.PENALIZED
    alpha, private, refreshed, steps, lengths = np.zeros(len(owner)), [()] * n_blocks, [True] * n_blocks, 0, []
    while steps < max_iter:
        score, b = K @ problem.beta(alpha), -penalty * problem.gamma(alpha)
        private = [(alpha.copy(), score.copy(), b.copy()) if refreshed[t] else private[t] for t in range(n_blocks)]
        most = min(max_inner_iter, (max_iter - steps - 1) // n_blocks + 1)
        taken, optimal = np.transpose([inner(problem, K, owner == t, *private[t], tol, most) for t in range(n_blocks)])
        if not any(taken) and all(refreshed):
            break
        steps, moved = steps + sum(taken), np.choose(owner, [own[0] for own in private])
        d, beta, gamma = moved - alpha, problem.beta(moved - alpha), penalty * problem.gamma(moved - alpha)
        slope, curvature = problem.slope(score, b) @ d, beta @ K @ beta + gamma @ gamma
        best = np.clip(-slope / curvature, 0.0, 1.0) if curvature > 0 else 1.0
        lengths.append(1.0 if not safe or slope + curvature / 2 <= (slope + curvature * best / 2) * best / 2 else best)
        alpha = moved if lengths[-1] == 1 else alpha + lengths[-1] * d
        refreshed = [done or all(optimal) or lengths[-1] < 1 for done in optimal]
    return alpha, steps, lengths


def inner(problem, K, own, alpha, score, b, tol, max_steps) -> tuple[int, bool]:
    for steps in range(max_steps):
        slope, cap, penalty = problem.slope(score, b), problem.hinges.cap, problem.treatment is Treatment.PENALIZED
        violation = np.abs(slope) * np.where(slope < 0, alpha < cap, alpha > 0) * own  # (11)
        if violation.max() <= tol:
            return steps, True
        projected = np.abs(np.clip(alpha - slope, 0.0, cap) - alpha) * own  # (9)
        v = (projected if projected.max() > tol else violation).argmax()
        i, k = problem.hinges.sample[v], problem.hinges.threshold[v]
        target = np.clip(alpha[v] - slope[v] / max(K[i, i] + penalty, 1e-12), 0.0, cap[v])  # (10)
        delta = problem.hinges.sign[v] * (target - alpha[v])
        alpha[v], score[:], b[k] = target, score + delta * K[i], b[k] - penalty * delta
    return max_steps, False
