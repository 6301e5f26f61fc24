"""A kernel machine on more samples than an exact one trains on at ease, and what the approximation costs.

`python examples/many_samples.py` takes some seconds.
"""

import numpy as np

from ordsvm import SVOR, NystroemSVOR
from ordsvm.metrics import mean_absolute_error


def ranks(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five ranks of a score that is not linear in four features."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 4))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * random.standard_normal(n)
    return X, np.digitize(score, [-1.2, -0.4, 0.4, 1.2])


def main() -> None:
    X, y = ranks(3000)
    new, true = ranks(2000, seed=1)
    exact = SVOR(gamma=0.1).fit(X, y)
    print(f"exact, 3,000 samples: error {mean_absolute_error(true, exact.predict(new)):.3f}")
    print("landmarks   error   objective above the exact optimum by: true, proven with all of K")
    for n_landmarks in (30, 100, 300):
        model = NystroemSVOR(gamma=0.1, n_landmarks=n_landmarks).fit(X, y)
        optimum, objective = exact.result_.objective, model.result_.objective
        proven = model.certify_exact(X, y).gap
        error = mean_absolute_error(true, model.predict(new))
        print(f"{n_landmarks:9}   {error:.3f}   {objective / optimum - 1:8.2%} {proven / optimum:8.2%}")

    X, y = ranks(50_000)
    model = NystroemSVOR(gamma=0.1, n_landmarks=300).fit(X, y)
    approximation = model.approximation_
    print(f"50,000 samples, 300 landmarks: error {mean_absolute_error(true, model.predict(new)):.3f}")
    print(
        f"gap {model.result_.relative_gap:.1e} after {model.n_iter_} passes; the objective is above the exact optimum"
    )
    print(f"by about {approximation.excess_estimate / model.result_.objective:.2%} at most")


if __name__ == "__main__":
    main()
