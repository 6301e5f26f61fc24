"""
Tuning C and gamma
==================

Wine of three cultivars, as scikit-learn ships it, ordered by alcohol in four ranks. A grid of C and gamma by
cross-validation: one kernel matrix for all C, and every fit starts from the last one.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR, OrdinalSearchCV
from ordsvm.datasets import equal_frequency_ranks
from ordsvm.plotting import SearchDisplay

wine = load_wine(as_frame=True)
y = equal_frequency_ranks(wine.frame.alcohol, 4)
X = wine.data.drop(columns="alcohol")

# %%
# The parameters of a step of a pipeline are named as in scikit-learn.

grid = {"svor__C": [0.01, 0.1, 1.0, 10.0, 100.0], "svor__gamma": [0.001, 0.01, 0.1, 1.0]}
search = OrdinalSearchCV(make_pipeline(StandardScaler(), SVOR()), grid, cv=5).fit(X, y)
print(search.best_params_, f"{-search.best_score_:.3f} ranks off on average")

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
SearchDisplay.from_estimator(search, ax=axis)
plt.show()

# %%
# Other scores: rare ranks count as much as frequent ones in ``macro_mae``, and ``kappa`` is the quadratic weighted one.

for scoring in ("mae", "macro_mae", "kappa"):
    found = OrdinalSearchCV(make_pipeline(StandardScaler(), SVOR()), grid, cv=5, scoring=scoring).fit(X, y)
    print(f"{scoring:10} {found.best_params_}")
