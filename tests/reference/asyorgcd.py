"""AsyORGCD (Gu et al. 2020, Algorithm 4), its blocks one after the other: the twin of cpp/solvers/asyorgcd.hpp."""

import numpy as np

from ordsvm.problem import Problem, Thresholds


def asyorgcd(problem: Problem, K: np.ndarray, tol: float, max_iter: int, max_inner_iter: int, n_blocks: int):
    """α, the number of steps, and the lengths of the gathering steps (1: what all blocks did, in full)."""
    h, penalty = problem.hinges, float(problem.thresholds is Thresholds.PENALIZED)
    owner = h.sample.astype(int) * n_blocks // problem.n_samples
    alpha, score, b = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(problem.n_thresholds)
    private = [(alpha.copy(), score.copy(), b.copy()) for _ in range(n_blocks)]
    steps, lengths, all_fresh = 0, [], True
    while steps < max_iter:
        most = min(max_inner_iter, (max_iter - steps - 1) // n_blocks + 1)
        ends = [block_steps(problem, K, penalty, owner == t, *private[t], tol, most) for t in range(n_blocks)]
        taken, optimal = sum(end[0] for end in ends), [end[1] for end in ends]
        steps += taken
        if taken == 0 and all_fresh:
            break
        moved = np.choose(owner, [own[0] for own in private])
        d = moved - alpha
        f, g, slope = K @ problem.beta(d), penalty * problem.gamma(d), problem.slope(score, b) @ d
        curvature = problem.beta(d) @ f + g @ g
        lengths.append(1.0 if slope + curvature / 2 <= 0 else np.clip(-slope / curvature, 0.0, 1.0))
        alpha = moved if lengths[-1] == 1 else alpha + lengths[-1] * d
        score, b = score + lengths[-1] * f, b - lengths[-1] * g
        refreshed = [own or all(optimal) or lengths[-1] < 1 for own in optimal]
        private = [(alpha.copy(), score.copy(), b.copy()) if new else old for old, new in zip(private, refreshed)]
        all_fresh = all(refreshed)
    return alpha, steps, lengths


def block_steps(problem, K, penalty, own, alpha, score, b, tol, max_steps) -> tuple[int, bool]:
    h = problem.hinges
    for steps in range(max_steps):
        slope = problem.slope(score, b)
        violation = np.abs(slope) * np.where(slope < 0, alpha < h.cap, alpha > 0) * own  # (11)
        if violation.max() <= tol:
            return steps, True
        projected = np.abs(np.clip(alpha - slope, 0.0, h.cap) - alpha) * own  # (9)
        v = projected.argmax() if projected.max() > tol else violation.argmax()
        i, k = h.sample[v], h.threshold[v]
        target = np.clip(alpha[v] - slope[v] / max(K[i, i] + penalty, 1e-12), 0.0, h.cap[v])  # (10)
        delta = h.sign[v] * (target - alpha[v])
        score += delta * K[i]
        b[k] -= penalty * delta
        alpha[v] = target
    return max_steps, False
