"""
Which features matter
=====================

Weights of a linear machine, and what it costs a kernel machine to lose a feature.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, LinearSVOR
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.metrics import mae_scorer

X, y = load_diabetes_ranks()
names = np.array(load_diabetes().feature_names)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
linear = make_pipeline(StandardScaler(), LinearSVOR(C=0.1)).fit(X_train, y_train)
kernel = make_pipeline(StandardScaler(), SVOR(gamma=0.05)).fit(X_train, y_train)

# %%
# Features are standardised, so weights can be compared: a positive one raises the rank. The importance of a feature is
# how many ranks further off predictions are when its column is shuffled.

weight = linear[-1].coef_
importance = permutation_importance(kernel, X_test, y_test, scoring=mae_scorer, n_repeats=20, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
order = np.argsort(np.abs(weight))
axes[0].barh(names[order], weight[order], color=np.where(weight[order] > 0, "C0", "C3"))
axes[0].set(title="LinearSVOR", xlabel="weight")
order = np.argsort(importance.importances_mean)
axes[1].boxplot(importance.importances[order].T, orientation="horizontal", tick_labels=names[order])
axes[1].set(title="SVOR", xlabel="ranks further off without it")
plt.show()

# %%
# The score along one feature, the others as they are: body mass, for all patients and for some.

grid = np.linspace(X[:, 2].min(), X[:, 2].max(), 30)
curves = []
for value in grid:
    changed = X_test.copy()
    changed[:, 2] = value
    curves.append(kernel.decision_function(changed))
curves = np.array(curves)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(grid, curves[:, ::6], color="grey", lw=0.6)
axis.plot(grid, curves.mean(axis=1), lw=3)
for threshold in kernel[-1].thresholds_:
    axis.axhline(threshold, ls=":", color="C1")
axis.set(xlabel="body mass index", ylabel="score; dotted: thresholds")
plt.show()
