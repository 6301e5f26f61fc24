"""
Coming from other packages
==========================

The same data by scikit-learn's classifiers and regressors, and by the machines of this library. Where a package of the
list below is not installed, its row is left out.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from sklearn import svm
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVC, SVOR, SVORIM, LinearSVOR, RoundedRegressor
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.metrics import mean_absolute_error, mean_zero_one_error

X, y = load_diabetes_ranks()

# %%
# ``SVC`` here has the defaults of scikit-learn's, and its answers to within ``tol``. There is no
# ``shrinking``, ``probability`` or ``random_state``.

scaled = StandardScaler().fit_transform(X)
ours, theirs = SVC(gamma=0.05, tol=1e-5).fit(scaled, y), svm.SVC(gamma=0.05, tol=1e-5).fit(scaled, y)
print(f"same predictions: {(ours.predict(scaled) == theirs.predict(scaled)).mean():.1%}")

# %%
# A classifier ignores the order of the ranks, a regressor takes all steps for equal.

models = {
    "LogisticRegression (scikit-learn)": LogisticRegression(),
    "SVC (scikit-learn)": svm.SVC(gamma=0.05),
    "Ridge, rounded": RoundedRegressor(Ridge()),
    "SVR (scikit-learn), rounded": RoundedRegressor(svm.SVR(gamma=0.05)),
    "LinearSVOR": LinearSVOR(C=0.1),
    "SVORIM": SVORIM(gamma=0.02),
    "SVOR": SVOR(gamma=0.02),
}
if find_spec("mord"):
    import mord

    models["LogisticAT (mord)"] = mord.LogisticAT()

errors = {}
for name, model in models.items():
    predicted = cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=5)
    errors[name] = mean_absolute_error(y, predicted), mean_zero_one_error(y, predicted)
    print(f"{name:34} {errors[name][0]:.3f} ranks off, {errors[name][1]:.1%} wrong")

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
names = sorted(errors, key=lambda name: -errors[name][0])
others = ["(" in name or "rounded" in name for name in names]
axis.barh(names, [errors[name][0] for name in names], color=np.where(others, "0.7", "C0"))
axis.set(xlabel="mean distance in ranks, five folds")
plt.show()
