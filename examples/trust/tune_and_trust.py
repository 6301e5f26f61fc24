"""
From data to a model with probabilities
=======================================

The disease progression of scikit-learn's diabetes patients, cut into five ranks: search, calibrate, look.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, SVORIM, CalibratedOrdinal, OrdinalSearchCV
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.metrics import mean_absolute_error, ranked_probability_score
from ordsvm.plotting import (
    ConvergenceDisplay,
    DecisionRegionsDisplay,
    OrdinalConfusionDisplay,
    ScoresDisplay,
    SearchDisplay,
    ThresholdPathDisplay,
)

# %%
# Without a grid the search is Chu & Keerthi's, in two stages. The best machine is calibrated on scores out of fold.

X, y = load_diabetes_ranks()
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
search = OrdinalSearchCV(make_pipeline(StandardScaler(), SVORIM())).fit(X_train, y_train)
model = CalibratedOrdinal(search.best_estimator_).fit(X_train, y_train)
low, high = model.predict_set(X_test, coverage=0.8).T
print(f"best of {len(search.cv_results_['params'])}      {search.best_params_}")
print(f"mean distance    {mean_absolute_error(y_test, model.predict(X_test)):.3f} ranks")
print(f"RPS              {ranked_probability_score(y_test, model.predict_proba(X_test)):.3f}")
covered, size = ((low <= y_test) & (y_test <= high)).mean(), (high - low + 1).mean()
print(f"sets for 80 %    hold {covered:.0%} of the true ranks, {size:.1f} ranks each")

# %%
# All pictures of the library.

figure, axes = plt.subplots(2, 3, figsize=(15, 8.5), layout="constrained")
SearchDisplay.from_estimator(search, ax=axes[0, 0])
ScoresDisplay.from_estimator(search.best_estimator_, X_test, y_test, ax=axes[0, 1])
OrdinalConfusionDisplay.from_estimator(model, X_test, y_test, ax=axes[0, 2])
X_train = StandardScaler().fit_transform(X_train)
machines = {name: SVOR(solver=name, gamma=0.05) for name in ("gcd", "asyagcd", "asyorgcd")}
runs = {name: one.fit(X_train, y_train, validation=(X_train, y_train)) for name, one in machines.items()}
ConvergenceDisplay.from_estimator(runs, clock="n_iter", ax=axes[1, 0])
ThresholdPathDisplay.from_estimator(SVOR(gamma=0.05), X_train, y_train, ax=axes[1, 1])
pair = X_train[:, [2, 8]]  # body mass and blood sugar
DecisionRegionsDisplay.from_estimator(SVORIM(gamma=0.5).fit(pair, y_train), pair, y_train, ax=axes[1, 2])
plt.show()
