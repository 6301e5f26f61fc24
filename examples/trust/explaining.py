"""
Why this rank, and which columns matter
=======================================

Weights of a linear machine, what it costs a kernel machine to lose a column, the score along it, and one prediction
taken apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.inspection import PartialDependenceDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, LinearSVOR
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.inspection import ContributionsDisplay, ScoreRegressor, WeightsDisplay, importance, similar_cases

_, y = load_diabetes_ranks()
X = load_diabetes(as_frame=True, scaled=False).data
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
linear = make_pipeline(StandardScaler(), LinearSVOR(C=0.1)).fit(X_train, y_train)
kernel = make_pipeline(StandardScaler(), SVOR(gamma=0.05)).fit(X_train, y_train)

# %%
# Columns are standardised, so weights can be compared: a positive one raises the rank. The importance of a column is
# how many ranks further off predictions are when its values are permuted.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
WeightsDisplay.from_estimator(linear, ax=axes[0])
axes[0].set_title("LinearSVOR")
matters = importance(kernel, X_test, y_test, n_repeats=20)
names, means, deviations = zip(*reversed(matters.largest(10)), strict=True)
axes[1].barh(names, means, xerr=deviations, ecolor="0.25")
axes[1].set(title="SVOR", xlabel="ranks further off without it")
plt.show()

# %%
# The score along two columns, the others as they are: for all patients, and for some. scikit-learn draws it once the
# score is a regressor.

display = PartialDependenceDisplay.from_estimator(
    ScoreRegressor(kernel), X_test, ["bmi", "s5"], kind="both", subsample=30, random_state=0
)
for axis in display.axes_.ravel():
    for threshold in kernel[-1].thresholds_:
        axis.axhline(threshold, ls=":", color="C1")
plt.show()

# %%
# Why does this patient get that rank? Every column adds something to the score; with a Gaussian kernel these Shapley
# values are exact. They add up to the score minus the mean score of the patients to compare with.

patient = X_test.iloc[[3]]
print("predicted", kernel.predict(patient)[0], "true", y_test[3])
ContributionsDisplay.from_estimator(kernel, patient, X_train.iloc[:100])
plt.show()

# %%
# The patients of the training data that pull the score up and down most, with their ranks.

cases = similar_cases(kernel, patient, n=3)
for case in (*cases.up, *cases.down):
    about = f"patient {case.sample}, rank {y_train[case.sample]}"
    print(f"{about}: similarity {case.similarity:.2f} adds {case.contribution:+.2f}")
