"""
Early stopping
==============

Errors of validation samples settle long before the gap closes, above all at large C. What a run looks like, and where
it would have been stopped.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR
from ordsvm.datasets import load_diabetes_ranks

X, y = load_diabetes_ranks()
X = StandardScaler().fit_transform(X)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

# %%
# To the end, with the errors of validation samples only recorded; and stopped where they no longer fall.

full = SVOR(C=100.0, gamma=0.05, solver="gcd").fit(X_train, y_train, validation=(X_val, y_val))
early = SVOR(C=100.0, gamma=0.05, solver="gcd", early_stopping=True).fit(X_train, y_train, validation=(X_val, y_val))
print(f"to the end: {full.result_.n_iter:,} steps, gap {full.result_.relative_gap:.0e}")
print(f"stopped:    {early.result_.n_iter:,} steps, gap {early.result_.relative_gap:.0e}")

looks = full.result_.history
steps = [look.n_iter for look in looks]
best = early.result_.history[early.result_.best_look]
figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
axes[0].plot(steps, [look.validation_mae for look in looks])
axes[0].plot(best.n_iter, best.validation_mae, "o", label="the model of the stopped run")
axes[0].set(ylabel="mean distance in ranks", xscale="log")
axes[0].legend()
axes[1].semilogy(steps, [look.relative_gap for look in looks])
axes[1].set(xlabel="steps", ylabel="relative gap")
plt.show()

# %%
# A small C, found by a search, is the better cure for a machine that follows its samples too closely.
