"""
Prediction sets
===============

Instead of one rank, a run of ranks that is to hold the true one as often as is asked for: nine times out of ten, say.
Its length says how sure the model is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, CalibratedOrdinal
from ordsvm.datasets import load_diabetes_ranks

X, y = load_diabetes_ranks(6)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=1, stratify=y)
model = CalibratedOrdinal(make_pipeline(StandardScaler(), SVOR(gamma=0.02))).fit(X_train, y_train)

# %%
# The coverage that is asked for, guaranteed and reached, and what it costs in ranks.

asked = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
sets = [model.predict_set(X_test, coverage=coverage).T for coverage in asked]
reached = [((low <= y_test) & (y_test <= high)).mean() for low, high in sets]
length = [(high - low + 1).mean() for low, high in sets]
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot([0.5, 1], [0.5, 1], color="grey", ls=":")
axes[0].plot(asked, reached, marker="o", label="reached on new samples")
axes[0].plot(asked, [model.guaranteed_coverage(share) for share in asked], ls="--", label="guaranteed")
axes[0].set(xlabel="coverage asked for", ylabel="coverage")
axes[0].legend()
axes[1].plot(asked, length, marker="o")
axes[1].set(xlabel="coverage asked for", ylabel="mean ranks of a set")
plt.show()

# %%
# Forty patients with their sets for 80 %, by score; crosses are outside.

low, high = model.predict_set(X_test, coverage=0.8).T
some = np.argsort(model.estimator_.decision_function(X_test))[:: len(y_test) // 40]
inside = (low <= y_test) & (y_test <= high)
figure, axis = plt.subplots(figsize=(9, 3.5), layout="constrained")
axis.vlines(range(len(some)), low[some] - 0.2, high[some] + 0.2, lw=6, alpha=0.3)
for mark, chosen in (("o", inside[some]), ("x", ~inside[some])):
    axis.plot(np.flatnonzero(chosen), y_test[some][chosen], mark, color="C1")
axis.set(xlabel="patients, by score", ylabel="rank")
plt.show()
