"""
A kernel on many samples, by Nyström's method
=============================================

`NystroemSVOR` maps samples to features by landmarks, and trains a linear machine on them. The model has a gap for the
approximate problem, and a bound on what the approximation costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from ordsvm import SVOR, NystroemSVOR
from ordsvm.metrics import mean_absolute_error


def ranks(n, seed=0):
    """Five ranks of a score that is not linear in four features."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 4))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * random.standard_normal(n)
    return X, np.digitize(score, [-1.2, -0.4, 0.4, 1.2])


# %%
# On 3,000 samples the exact machine is there to compare with. `certify_exact` proves, with all of K, how far the
# objective is above the optimum of the exact machine.

X, y = ranks(3000)
new, true = ranks(2000, seed=1)
exact = SVOR(gamma=0.1).fit(X, y)
optimum = exact.result_.objective
landmarks, error, excess, proven = [10, 30, 100, 300], [], [], []
for n_landmarks in landmarks:
    model = NystroemSVOR(gamma=0.1, n_landmarks=n_landmarks).fit(X, y)
    error.append(mean_absolute_error(true, model.predict(new)))
    excess.append(model.result_.objective / optimum - 1)
    proven.append(model.certify_exact(X, y).gap / optimum)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].semilogx(landmarks, error, marker="o", label="Nyström")
axes[0].axhline(mean_absolute_error(true, exact.predict(new)), color="grey", ls=":", label="exact")
axes[0].set(xlabel="landmarks", ylabel="mean distance in ranks, new samples")
axes[0].legend()
axes[1].loglog(landmarks, excess, marker="o", label="true")
axes[1].loglog(landmarks, proven, marker="o", label="proven")
axes[1].set(xlabel="landmarks", ylabel="objective above the optimum, share")
axes[1].legend()
plt.show()

# %%
# 50,000 samples, where the exact machine would take its time.

X, y = ranks(50_000)
model = NystroemSVOR(gamma=0.1, n_landmarks=300).fit(X, y)
print(f"error {mean_absolute_error(true, model.predict(new)):.3f}, {model.n_iter_} passes")
print(f"gap {model.result_.relative_gap:.1e} of the approximate problem")
print(f"above the exact optimum by about {model.approximation_.excess_estimate / model.result_.objective:.2%} at most")
