"""
A first model
=============

Diabetes patients of scikit-learn, their disease progression cut into five ranks: train, look, prove.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, certify
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.metrics import mean_absolute_error
from ordsvm.plotting import OrdinalConfusionDisplay, ScoresDisplay

X, y = load_diabetes_ranks()
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), SVOR(C=1.0, gamma=0.05)).fit(X_train, y_train)
print(f"{mean_absolute_error(y_test, model.predict(X_test)):.2f} ranks off on average")

# %%
# Every patient has a score; four thresholds cut the scores into five ranks.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ScoresDisplay.from_estimator(model, X_test, y_test, ax=axes[0])
OrdinalConfusionDisplay.from_estimator(model, X_test, y_test, ax=axes[1])
plt.show()

# %%
# The proof that training is done: how far the objective can be from the best possible one, recomputed by NumPy alone.

scaler, machine = model
print(f"relative gap {certify(machine, scaler.transform(X_train), y_train).relative_gap:.1e}")
