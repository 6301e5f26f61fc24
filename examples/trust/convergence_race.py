"""
A race of solvers
=================

Two problems, eight solvers, the same certificate at the end. Steps are not comparable between solvers: one of the first
moves a hinge, one of the last many of them.
"""

import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, SVORIM
from ordsvm.datasets import load_diabetes_ranks

X, y = load_diabetes_ranks()
X = StandardScaler().fit_transform(X)

# %%
# Penalised thresholds: the dual has a box as its only constraint. Validation samples make solvers look at themselves
# often, so that there is a curve to draw.

box = ("gcd", "asygcd", "asyagcd", "asyorgcd", "block")
pairs = ("smo", "parsmo-light", "parsmo-cache", "block")
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for axis, kind, names in ((axes[0], SVOR, box), (axes[1], SVORIM, pairs)):
    for name in names:
        model = kind(C=10.0, gamma=0.05, solver=name, n_threads=2).fit(X, y, validation=(X, y))
        looks = model.result_.history
        axis.loglog([look.n_iter for look in looks], [look.relative_gap for look in looks], label=name, marker=".")
        print(f"{kind.__name__:7} {name:13} {model.result_.n_iter:7,} steps, gap {model.result_.relative_gap:.0e}")
    axis.axhline(1e-3, color="grey", lw=1, ls=":")
    axis.set(title=kind.__name__, xlabel="steps, or rounds of many steps")
    axis.legend(fontsize=8)
axes[0].set_ylabel("relative gap")
plt.show()

# %%
# All of them end below the dotted line, within the tolerance: that is what the certificate says. What differs is the
# way there.
