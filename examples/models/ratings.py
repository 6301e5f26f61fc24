"""
A kernel of your own, with missing values
=========================================

Chu & Keerthi's collaborative filtering (their §5.5): a film is what others gave it, a missing rating counts as
that film's mean, and k(v, v') = Σ_u z(v, u) z(v', u) over the users u, as in their (46). The ratings are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVR

from ordsvm import SVORIM, RoundedRegressor
from ordsvm.datasets import equal_frequency_ranks
from ordsvm.metrics import mean_absolute_error
from ordsvm.plotting import OrdinalConfusionDisplay

# %%
# A kernel is a function of two sets of samples that returns the matrix of values between them.


def pearson(X, Y):
    """Chu & Keerthi's (46): the sum of products of z-scores over all users; NaN marks a missing rating."""
    return z_scores(X) @ z_scores(Y).T


def z_scores(ratings):
    """Every film with its own mean and deviation; missing ratings become 0, the film's mean."""
    seen = ~np.isnan(ratings)
    count = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    centred = np.where(seen, ratings - np.nansum(ratings, axis=1, keepdims=True) / count, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    return centred / np.where(deviation > 0, deviation, 1.0)


# %%
# Taste has three dimensions, 40 % of all ratings are known, and stars are noisy.


def made_up_ratings(n_films=400, n_users=150, seed=0):
    """Ratings of other users, with gaps, and those of the user to predict."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_films, 3)) @ rng.normal(size=(3, n_users + 1)) + rng.normal(size=(n_films, n_users + 1))
    stars = np.apply_along_axis(equal_frequency_ranks, 0, taste, 6).astype(float)
    others, own = stars[:, :-1], stars[:, -1].astype(int)
    return np.where(rng.random(others.shape) < 0.4, others, np.nan), own


X, y = made_up_ratings()
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
print(f"known ratings     {np.isfinite(X).mean():.0%}")

# %%
# The kernel is a sum over the users, so C is divided by their number. A regression with the same kernel, rounded, is
# the yardstick.

C = 1.0 / X.shape[1]
ordinal = SVORIM(C=C, kernel=pearson).fit(X_train, y_train)
rounded = RoundedRegressor(SVR(kernel="precomputed", C=C)).fit(pearson(X_train, X_train), y_train)
baseline = mean_absolute_error(y_test, rounded.predict(pearson(X_test, X_train)))
print(f"relative gap      {ordinal.result_.relative_gap:.1e}")
print(f"SVORIM            {mean_absolute_error(y_test, ordinal.predict(X_test)):.3f} stars off on average")
print(f"SVR, rounded      {baseline:.3f}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].imshow(X[:60, :60], cmap="viridis", interpolation="nearest")
axes[0].set(title="ratings of 60 films by 60 users; white is missing", xlabel="user", ylabel="film")
OrdinalConfusionDisplay.from_estimator(ordinal, X_test, y_test, ax=axes[1])
plt.show()
