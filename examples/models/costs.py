"""
Costs of mistakes
=================

To call an ill patient healthy is worse than the other way round. A cost matrix says so, and training goes by it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.plotting import OrdinalConfusionDisplay

X, y = load_diabetes_ranks(4)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# A prediction that is too low costs five times what one that is too high costs, and every further rank as much again.

true, predicted = np.indices((4, 4))
own = np.where(predicted < true, 5.0 * (true - predicted), 1.0 * (predicted - true))
figure, axes = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained")
axes[0].matshow(own, cmap="Oranges")
for i, k in np.ndindex(4, 4):
    axes[0].text(k, i, f"{own[i, k]:.0f}", ha="center", va="center")
axes[0].set(title="cost of a mistake", xlabel="predicted", ylabel="true")

# %%
# The same machine with three costs, judged by the mean cost of our matrix.

for axis, (name, cost) in zip(
    axes[1:], {"absolute": "absolute", "squared": "squared", "own": own}.items(), strict=True
):
    model = make_pipeline(StandardScaler(), SVOR(gamma=0.05, cost=cost)).fit(X_train, y_train)
    rank = model.predict(X_test)
    print(f"{name:9} mean cost {own[y_test, rank].mean():.2f}, too low {(rank < y_test).mean():.0%}")
    OrdinalConfusionDisplay.from_predictions(y_test, rank, ax=axis)
    axis.set_title(f"cost={name}")
plt.show()
