"""
Why thresholds need their order
===============================

Chu & Keerthi's Figure 4 on 30 patients of the diabetes data: age and body mass index, and four ranks of progression.
Shashua & Levin's machine leaves the thresholds free to cross, SVOREX forbids it, SVORIM and SVOR never need to.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR
from ordsvm.datasets import equal_frequency_ranks, load_diabetes_ranks

# %%
# Thirty patients are few enough for the thresholds to go wrong.


def patients():
    """Age and body mass index of the first 30 patients, standardised, and four ranks of progression."""
    X, rank = load_diabetes_ranks(442)  # 442 ranks: every patient has an own one
    return StandardScaler().fit_transform(X)[:30, [0, 2]], equal_frequency_ranks(rank[:30], 4)


X, y = patients()

# %%
# A threshold is a contour of the score; the first is drawn widest, so that it shows where the second lies on it.
# Patients of the highest rank are the darkest.


def draw(axis, model, X, y):
    """The score as a picture, every threshold as a contour, the patients by rank."""
    across, up = np.meshgrid(np.linspace(-2.2, 2.2, 200), np.linspace(-2.2, 2.6, 200))
    score = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axis.pcolormesh(across, up, score, cmap="Greys", alpha=0.35, shading="auto", rasterized=True)
    for k, threshold in enumerate(model.thresholds_):
        axis.contour(
            across, up, score, levels=[threshold], colors=[f"C{k}"], linewidths=5 - 1.5 * k, linestyles="solid"
        )
        axis.plot([], [], color=f"C{k}", linewidth=5 - 1.5 * k, label=f"$b_{k + 1}$ = {threshold:.2f}")
    for rank, marker in enumerate("ovs^"):
        own = y == rank
        axis.scatter(X[own, 0], X[own, 1], marker=marker, s=28, c="black", alpha=0.3 + 0.2 * rank, lw=0)
    axis.set(title=type(model).__name__, xlabel="age (standardised)")
    axis.legend(loc="upper left", fontsize=8, framealpha=0.9)


figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), sharey=True, layout="constrained")
for axis, kind in zip(axes, (ShashuaLevinSVOR, SVOREX, SVORIM, SVOR), strict=True):
    model = kind(C=3.0, gamma=0.25).fit(X, y)
    print(f"{kind.__name__:17} thresholds {np.round(model.thresholds_, 3)}, gap {model.result_.relative_gap:.0e}")
    draw(axis, model, X, y)
axes[0].set_ylabel("body mass index (standardised)")
plt.show()

# %%
# On the left the first threshold lies above the second: no patient can be given the second rank. SVOREX ties the two,
# which costs something of its objective. SVORIM and SVOR hold every sample against every threshold, and the order comes
# by itself.
