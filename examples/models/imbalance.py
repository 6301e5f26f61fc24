"""
Rare ranks
==========

Most reviews have five stars. A machine that never predicts one star is hardly wrong on average, and useless. Weights by
class, and a metric in which every rank counts the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from ordsvm import SVOR
from ordsvm.metrics import macro_mean_absolute_error, mean_absolute_error
from ordsvm.plotting import OrdinalConfusionDisplay

random = np.random.default_rng(0)


def samples(n):
    """Four ranks of which the lowest has some five samples in a hundred."""
    X = random.normal(size=(n, 4))
    score = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.6 * random.normal(size=n)
    return X, np.digitize(score, [-2.2, -1.4, -0.3])


X, y = samples(600)
new, true = samples(3000)
print("samples of every rank", np.bincount(y))

# %%
# ``class_weight="balanced"`` gives every rank the same weight in all.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, weight in zip(axes, (None, "balanced"), strict=True):
    predicted = SVOR(gamma=0.2, class_weight=weight).fit(X, y).predict(new)
    mae, macro = mean_absolute_error(true, predicted), macro_mean_absolute_error(true, predicted)
    print(f"class_weight={weight!s:9} mean distance {mae:.2f}, mean over ranks {macro:.2f}")
    OrdinalConfusionDisplay.from_predictions(true, predicted, ax=axis)
    axis.set_title(f"class_weight={weight}")
plt.show()
