"""
Probabilities of ranks
======================

A score is no probability. One monotone map makes all P(rank ≤ k) of it, fitted to scores out of fold; are they right?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, CalibratedOrdinal
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.metrics import ranked_probability_score

X, y = load_diabetes_ranks(4)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
machine = make_pipeline(StandardScaler(), SVOR(gamma=0.02))
model = CalibratedOrdinal(machine).fit(X_train, y_train)

# %%
# Probabilities along the score: where one rank gives way to the next.

score = model.estimator_.decision_function(X_test)
order = np.argsort(score)
probability = model.predict_proba(X_test)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].stackplot(score[order], probability[order].T, labels=[f"rank {k}" for k in model.classes_], alpha=0.8)
axes[0].set(xlabel="score", ylabel="probability", ylim=(0, 1))
axes[0].legend(loc="upper left", fontsize=8)

# %%
# Of the samples with P(rank ≤ 1) near 0.3, three in ten should have such a rank.

stated = model.predict_cumproba(X_test)[:, 1]
bins = np.quantile(stated, np.linspace(0, 1, 7))
group = np.clip(np.searchsorted(bins, stated, side="right") - 1, 0, 5)
happened = [(y_test[group == g] <= 1).mean() for g in range(6)]
axes[1].plot([0, 1], [0, 1], color="grey", ls=":")
axes[1].plot([stated[group == g].mean() for g in range(6)], happened, marker="o")
axes[1].set(xlabel="stated probability of rank ≤ 1", ylabel="share that has it")
plt.show()

# %%
# The ranked probability score, smaller is better: with probabilities, and with the bare prediction as a sure one.

sure = np.eye(4)[model.predict(X_test)]
print(f"calibrated {ranked_probability_score(y_test, probability):.3f}")
print(f"sure       {ranked_probability_score(y_test, sure):.3f}")
