"""
Digits as ranks
===============

The digits 0 to 9 have an order, but handwritten ones do not lie on one line: a 7 looks more like a 1 than like a 6. A
machine with one score must put them on a line all the same; NPSVOR has a score a rank, and SVC one for every pair.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ordsvm import NPSVOR, SVC, SVOR
from ordsvm.metrics import mean_absolute_error, mean_zero_one_error
from ordsvm.plotting import OrdinalConfusionDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, train_size=900, random_state=0, stratify=y)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for axis, machine in zip(axes, (SVOR(C=10.0), NPSVOR(C=10.0), SVC(C=10.0)), strict=True):
    machine.fit(X_train, y_train)
    predicted = machine.predict(X_test)
    wrong, off = mean_zero_one_error(y_test, predicted), mean_absolute_error(y_test, predicted)
    print(f"{type(machine).__name__:7} {wrong:6.1%} wrong, {off:.3f} ranks off on average")
    OrdinalConfusionDisplay.from_predictions(y_test, predicted, ax=axis)
    axis.set_title(type(machine).__name__)
plt.show()

# %%
# One line is too little for digits, a score a rank is much better, and where labels are names rather than ranks SVC is
# the right machine: order is a property of what the labels stand for, not of their being numbers.
