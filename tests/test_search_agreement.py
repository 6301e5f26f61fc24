"""OrdinalSearchCV against GridSearchCV on random searches: machines, steps before them, folds, weights and scorers.

docs/guide/tuning.md promises the same answers but for what `tol` leaves open.
"""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    OrdinalSearchCV,
)
from ordsvm.metrics import get_scorer

TIGHT = {"tol": 1e-8}
N = 66
BAD = 77.0  # a value that a step refuses


def table(seed, n=N):
    """Two columns of many names, as numbers, two of numbers that matter, and ranks."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n, 2))
    names = random.integers(0, 12, size=(n, 2)).astype(float)
    y = np.digitize(numbers[:, 0] + 0.2 * names[:, 0] - 1.0 + random.normal(0, 0.5, n), [-0.8, 0.6])
    return np.column_stack([names, numbers]), y


class LeaveOneOut(TransformerMixin, BaseEstimator):
    """The mean label of the other samples with the same name: `fit_transform` is not `fit` and `transform`."""

    def fit(self, X, y):
        self.mean_ = y.mean()
        self.sums_ = {name: (y[X[:, 0] == name].sum(), (X[:, 0] == name).sum()) for name in np.unique(X[:, 0])}
        return self

    def transform(self, X):
        means = [self._mean(*self.sums_.get(name, (0.0, 0))) for name in X[:, 0]]
        return np.column_stack([means, X[:, 2:]])

    def fit_transform(self, X, y):
        self.fit(X, y)
        found = [self.sums_[name] for name in X[:, 0]]
        means = [self._mean(total - label, count - 1) for (total, count), label in zip(found, y, strict=True)]
        return np.column_stack([means, X[:, 2:]])

    def _mean(self, total, count):
        return total / count if count else self.mean_


class Picky(StandardScaler):
    """Cannot be fitted to samples with a bad value."""

    def fit(self, X, y=None, sample_weight=None):
        if (X == BAD).any():
            raise RuntimeError("a bad value")
        return super().fit(X, y)


class PickyLater(Picky):
    """Cannot transform them."""

    def fit(self, X, y=None, sample_weight=None):
        return StandardScaler.fit(self, X, y)

    def transform(self, X, copy=None):
        if (X == BAD).any():
            raise RuntimeError("a bad value")
        return super().transform(X, copy)


def centred(X):
    return X - X.mean(axis=0)


def names_and_numbers(encoder):
    return make_column_transformer((encoder, [0, 1]), remainder=StandardScaler())


STEPS = {
    "none": None,
    "scaler": StandardScaler(),
    "target": names_and_numbers(TargetEncoder(target_type="continuous", random_state=0)),
    "leave-one-out": LeaveOneOut(),
    "batch": FunctionTransformer(centred),
    "PCA": PCA(3, random_state=0),
    "sparse": names_and_numbers(OneHotEncoder(handle_unknown="ignore")),
    "passthrough": "passthrough",
    "frame": StandardScaler().set_output(transform="pandas"),
    "picky": Picky(),
    "picky later": PickyLater(),
}
MACHINES = [
    SVOR(gamma=0.1, **TIGHT),
    SVORIM(gamma=0.1, **TIGHT),
    SVOREX(gamma=0.1, **TIGHT),
    NPSVOR(gamma=0.1, **TIGHT),
    SVC(gamma=0.1, **TIGHT),
    SVR(gamma=0.1, **TIGHT),
    LinearSVOR(**TIGHT),
    LinearNPSVOR(**TIGHT),
    LinearSVC(**TIGHT),
    LinearSVR(**TIGHT),
]
FOLDS = [KFold(3), StratifiedKFold(3, shuffle=True, random_state=0), ShuffleSplit(3, test_size=0.3, random_state=0)]
FOLDS += [ShuffleSplit(2, train_size=0.4, test_size=0.3, random_state=1)]


def error(true, predicted):
    """Changes with every score of a model, not only where a label does; takes no weights."""
    return float(np.abs(np.asarray(true) - np.asarray(predicted)).mean())


def looking(model, X, y):
    """A scorer that looks at the samples and at the model that it is given."""
    C = model.get_params()["machine__C"] if isinstance(model, Pipeline) else model.C
    weight = 1.0 + (np.asarray(X.sum(axis=1)).ravel() > 0)
    return -float(np.average(np.abs(model.predict(X) - y), weights=weight)) - 1e-3 * C


def random_search(seed):
    """The arguments of a search, the same for both classes."""
    random = np.random.default_rng(seed)
    steps = list(STEPS)[seed % len(STEPS)]
    machine = clone(MACHINES[random.integers(len(MACHINES))])
    X, y = table(seed)
    if steps.startswith("picky"):
        X[random.integers(N), 3] = BAD
    prefix, estimator = "", machine
    if steps != "none":
        estimator, prefix = Pipeline([("before", clone(STEPS[steps], safe=False)), ("machine", machine)]), "machine__"
    grid = {f"{prefix}C": [0.3, 3.0]}
    if hasattr(machine, "gamma"):
        grid[f"{prefix}gamma"] = ["scale", 0.2]
    scoring = [get_scorer("neg_mean_absolute_error"), make_scorer(error, greater_is_better=False), looking]
    fit = {}
    scorer = scoring[random.integers(3)]
    if random.random() < 0.4:
        if steps == "none":
            fit = {"sample_weight": random.uniform(0.2, 3.0, N)}
        else:
            fit, scorer = {"machine__sample_weight": random.uniform(0.2, 3.0, N)}, scoring[1]
    options = {"cv": FOLDS[random.integers(len(FOLDS))], "scoring": scorer, "refit": False}
    if seed // len(STEPS) % 2:
        options |= {"return_train_score": True}
    if seed % 4 == 0:
        options |= {"error_score": -9.0}
    return estimator, grid, X, y, fit, options


def assert_agree(seed):
    """Both classes give the same scores and ranks of all candidates on all folds, or the same failure of all fits."""
    estimator, grid, X, y, fit, options = random_search(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = GridSearchCV(clone(estimator), grid, **options).fit(X, y, **fit).cv_results_
        except ValueError as failure:
            n_fits = re.search(r"All the (\d+) fits failed", str(failure)).group(1)
            with pytest.raises(ValueError, match=rf"All {n_fits} fits of the search failed\. .*: RuntimeError: a bad"):
                OrdinalSearchCV(clone(estimator), grid, **options).fit(X, y, **fit)
            return
        ours = OrdinalSearchCV(clone(estimator), grid, **options).fit(X, y, **fit).cv_results_
    assert ours["params"] == theirs["params"]
    atol = 1e-9 if is_classifier(estimator) else 1e-4  # what the tolerance leaves open moves no label here
    for column in theirs:
        if column.startswith(("split", "mean_t", "std_t")):
            np.testing.assert_allclose(ours[column], theirs[column], atol=atol, rtol=0, err_msg=f"{seed}: {column}")
    if is_classifier(estimator):
        np.testing.assert_array_equal(ours["rank_test_score"], theirs["rank_test_score"], err_msg=str(seed))


@pytest.mark.parametrize("seed", range(len(STEPS) * 2))
def test_random_searches_agree(seed):
    """Twice with every kind of step before the machine."""
    assert_agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(22, 322, 50))
def test_many_random_searches_agree(first):
    for seed in range(first, first + 50):
        assert_agree(seed)
