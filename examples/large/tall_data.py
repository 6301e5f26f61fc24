"""
Many rows of few features
=========================

Two hundred thousand rows of ten features. Newton's method on the weights reads the rows one to three dozen times;
coordinate descent reads them more often the larger C is.
"""

import matplotlib.pyplot as plt
import numpy as np

from ordsvm import LinearSVOR

random = np.random.default_rng(0)
X = random.normal(size=(200_000, 10))
y = np.digitize(X @ np.linspace(-1.0, 1.0, 10) + random.normal(size=len(X)), [-2.0, -0.7, 0.7, 2.0])

# %%
# A small C, so that both end soon, and a large one for the first solver only.

gaps = {}
for C, solver in ((0.001, "linear-interior-point"), (10.0, "linear-interior-point"), (0.001, "rank-dcd")):
    model = LinearSVOR(C=C, tol=1e-5, solver=solver).fit(X, y)
    gaps[f"{solver}, C = {C:g}"] = [(look.n_iter, look.relative_gap) for look in model.result_.history]
    print(f"{solver:15} C = {C:<6g} {model.n_iter_} passes, gap {model.result_.relative_gap:.0e}")

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for label, looks in gaps.items():
    axis.semilogy(*np.transpose(looks), marker=".", label=label)
axis.axhline(1e-5, color="grey", ls=":")
axis.set(xlabel="passes over the rows", ylabel="relative gap")
axis.legend()
plt.show()

# %%
# ``solver="auto"`` chooses by the numbers of rows, features and the size of C.

print(LinearSVOR(C=1.0).fit(X, y).result_.solver)
