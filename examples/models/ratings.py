"""A kernel of your own: Pearson correlation between films rated by other people, with ratings missing.

Chu & Keerthi's collaborative filtering (their §5.5): a film is what others gave it, a missing rating counts as
that film's mean, and k(v, v') = Σ_u z(v, u) z(v', u) over the users u, as in their (46). The ratings are made up.
Run:  python examples/ratings.py
"""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVR

from ordsvm import SVORIM, RoundedRegressor
from ordsvm.datasets import equal_frequency_ranks
from ordsvm.metrics import mean_absolute_error


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


def made_up_ratings(n_films=400, n_users=150, seed=0):
    """Taste has three dimensions; 40 % of all ratings are known; stars are noisy."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_films, 3)) @ rng.normal(size=(3, n_users + 1)) + rng.normal(size=(n_films, n_users + 1))
    stars = np.apply_along_axis(equal_frequency_ranks, 0, taste, 6).astype(float)
    others, own = stars[:, :-1], stars[:, -1].astype(int)
    return np.where(rng.random(others.shape) < 0.4, others, np.nan), own


if __name__ == "__main__":
    X, y = made_up_ratings()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    C = 1.0 / X.shape[1]  # the kernel is a sum over the users
    ordinal = SVORIM(C=C, kernel=pearson).fit(X_train, y_train)
    rounded = RoundedRegressor(SVR(kernel="precomputed", C=C)).fit(pearson(X_train, X_train), y_train)
    print(f"known ratings     {np.isfinite(X).mean():.0%}")
    print(f"relative gap      {ordinal.result_.relative_gap:.1e}")
    print(f"SVORIM            {mean_absolute_error(y_test, ordinal.predict(X_test)):.3f} stars off on average")
    baseline = mean_absolute_error(y_test, rounded.predict(pearson(X_test, X_train)))
    print(f"SVR, rounded      {baseline:.3f}")
