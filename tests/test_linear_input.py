"""What linear machines take as samples, labels, weights and parameters, and what they refuse."""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, cross_val_score

from ordsvm import DCD1, DCD2, LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, ModelWarning, RankDCD, certify
from ordsvm.estimators import linear as linear_machine
from ordsvm.metrics import mae_scorer
from tests.cases import N_RANKS, random_data
from tests.linear_cases import (
    MACHINES,
    ORDINAL,
    TIGHT,
    assert_same_machine,
    both_losses,
    data,
    every_classifier,
    every_machine,
    half_sparse,
    loss_name,
    optimum,
    values,
)


def refuse(fit, error, pattern):
    """`fit()` must raise exactly this type, with one line that matches."""
    with pytest.raises(error) as caught:
        fit()
    assert re.search(pattern, str(caught.value), re.DOTALL), str(caught.value)


# Representations of the data


@every_machine
def test_dense_and_sparse_of_all_kinds_agree(model):
    X, y = half_sparse(model, 82)
    new = half_sparse(model, 83)[0]
    dense = model(**TIGHT).fit(X, y)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array, sp.lil_matrix):
        sparse = model(**TIGHT).fit(kind(X), y)
        assert_same_machine(dense, sparse, new)
        np.testing.assert_allclose(values(sparse, kind(new)), values(dense, new), atol=1e-4)
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same_machine(dense, model(**TIGHT).fit(wide, y), new)
    mixed = sp.csr_matrix(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    assert_same_machine(dense, model(**TIGHT).fit(mixed, y), new)
    assert mixed.indices.dtype == np.int32  # as it was


@every_machine
def test_csr_may_be_unsorted_and_hold_duplicates_and_zeros_and_is_not_changed(model):
    X, y = half_sparse(model, 84)
    tidy = sp.csr_matrix(X)
    tidy.data[::5] = 0.0  # stored zeros
    halves = sp.csr_matrix(
        (np.repeat(tidy.data / 2, 2)[::-1], np.repeat(tidy.indices, 2)[::-1], 2 * tidy.indptr), shape=X.shape
    )
    before = [halves.data.copy(), halves.indices.copy(), halves.indptr.copy()]
    expected = halves.toarray()
    dense, sparse = model(**TIGHT).fit(expected, y), model(**TIGHT).fit(halves, y)
    assert_same_machine(dense, sparse, expected)
    np.testing.assert_allclose(values(sparse, halves), values(dense, expected), atol=1e-4)
    assert certify(sparse, halves, y).relative_gap <= 1e-8
    for array, copied in zip([halves.data, halves.indices, halves.indptr], before, strict=True):
        np.testing.assert_array_equal(array, copied)


@every_machine
def test_float32_samples(model):
    X, y = data(model, seed=85)
    single = X.astype(np.float32)
    in_single, in_double = (model(**TIGHT).fit(samples, y) for samples in (single, single.astype(np.float64)))
    assert_same_machine(in_single, in_double, single)
    assert values(in_single, single).dtype == np.float64
    assert_same_machine(in_single, model(**TIGHT).fit(sp.csr_array(single), y), single)


@every_machine
def test_fortran_order_lists_integers_and_frames_are_samples_too(model):
    X, y = data(model, seed=86)
    X = np.round(2 * X)
    expected = model().fit(X, y)
    for other in (np.asfortranarray(X), X.tolist(), X.astype(int), X[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(model().fit(other, y).coef_, expected.coef_)
    names = ["size", "age", "price"]
    fitted = model().fit(pd.DataFrame(X, columns=names), y)
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)
    assert fitted.feature_names_in_.tolist() == names
    assert fitted.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(pd.DataFrame(X, columns=names[::-1]))
    assert not hasattr(expected, "feature_names_in_")


# Labels


@pytest.mark.parametrize("model", ORDINAL)
def test_the_order_of_labels(model):
    X, y = data(model, seed=87)
    grades = ["poor", "fair", "good", "great"]  # not the alphabet's order
    labels = np.array(grades)[y]
    expected = model().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fitted in (
            model(categories=grades).fit(X, labels),
            model().fit(X, pd.Categorical(labels, grades, ordered=True)),
            model().fit(X, pd.Series(pd.Categorical(labels, grades, ordered=True))),
        ):
            assert fitted.classes_.tolist() == grades
            np.testing.assert_array_equal(fitted.coef_, expected.coef_)
            assert fitted.predict(X).tolist() == [grades[rank] for rank in expected.predict(X)]
    with pytest.warns(UserWarning, match="sorted order was assumed: 'fair' < 'good' < 'great' < 'poor'"):
        model().fit(X, labels)


def test_classes_are_sorted_and_have_no_order():
    X, y = data(LinearSVC, seed=88)
    names = np.array(["delta", "alpha", "charlie", "bravo"])
    fitted = LinearSVC(**TIGHT).fit(X, names[y])
    assert fitted.classes_.tolist() == sorted(names)
    expected = LinearSVC(**TIGHT).fit(X, y)
    np.testing.assert_allclose(fitted.coef_[np.argsort(np.argsort(names))], expected.coef_, atol=1e-4)
    np.testing.assert_array_equal(fitted.predict(X), names[expected.predict(X)])


@pytest.mark.parametrize("model", ORDINAL)
@pytest.mark.parametrize("missing", [[0], [2], [3], [0, 3], [1, 2]], ids=str)
def test_a_rank_without_samples_keeps_its_place(model, missing):
    X, y = data(model, seed=89, n=60)
    present = ~np.isin(y, missing)
    estimator = model(categories=range(N_RANKS), C=0.5, **TIGHT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)  # of ranks that have samples and are never predicted
        without = clone(estimator).fit(X[present], y[present])
        weightless = clone(estimator).fit(X, y, sample_weight=present.astype(float))
    assert without.classes_.tolist() == list(range(N_RANKS))
    assert_same_machine(without, weightless, X)
    best = optimum(without, X[present], y[present])
    assert without.result_.objective == pytest.approx(best, rel=1e-6)
    assert set(without.predict(X)) <= set(range(N_RANKS))


@pytest.mark.parametrize("model", ORDINAL)
def test_folds_that_lack_a_rank(model):
    X, y = data(model, seed=90, n=40)
    y[y == 3] = 2
    y[0] = 3  # the only one of its rank
    scores = cross_val_score(model(categories=range(N_RANKS)), X, y, cv=KFold(4), scoring=mae_scorer)
    assert np.all(np.isfinite(scores))


def test_a_class_without_weight_is_left_out():
    X, y = data(LinearSVC, seed=91)
    with pytest.warns(UserWarning, match=r"No sample of positive weight has the label 2.*left out"):
        fitted = LinearSVC(**TIGHT).fit(X, y, sample_weight=(y != 2).astype(float))
    assert fitted.classes_.tolist() == [0, 1, 3]
    assert_same_machine(fitted, LinearSVC(**TIGHT).fit(X[y != 2], y[y != 2]), X)
    with pytest.warns(UserWarning, match="left out"):
        two = LinearSVC(class_weight={0: 0.0, 3: 0.0}, **TIGHT).fit(X, y)
    assert two.classes_.tolist() == [1, 2]
    assert two.coef_.shape == (1, 3)
    middle = np.isin(y, [1, 2])
    assert_same_machine(two, LinearSVC(**TIGHT).fit(X[middle], y[middle]), X)


# Samples and features of zeros


@every_machine
@pytest.mark.parametrize("fit_intercept", [True, False])
@both_losses
def test_empty_rows_and_features(model, fit_intercept, squared):
    X, y = half_sparse(model, 92)
    X[::4], X[:, 2] = 0.0, 0.0
    settings = {} if model is LinearSVOR else {"fit_intercept": fit_intercept}
    estimator = model(C=0.5, loss=loss_name(model, squared), **settings, **TIGHT)
    for samples in (X, sp.csr_array(X), sp.csr_array(X, dtype=np.float32)):
        fitted = clone(estimator).fit(samples, y)
        exact = samples.toarray().astype(float) if sp.issparse(samples) else samples
        assert fitted.result_.objective == pytest.approx(optimum(fitted, exact, y), rel=1e-6)
        assert np.all(fitted.coef_[..., 2] == 0)
        assert certify(fitted, samples, y).relative_gap <= 1e-8


@every_machine
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_nothing_but_zeros(model, fit_intercept):
    """Only the intercepts or thresholds are left, or nothing at all."""
    _, y = data(model, seed=93)
    settings = {} if model is LinearSVOR else {"fit_intercept": fit_intercept}
    for samples in (np.zeros((len(y), 2)), sp.csr_array((len(y), 2))):
        fitted = model(C=0.5, **settings, **TIGHT).fit(samples, y)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, np.zeros((len(y), 2)), y), rel=1e-6)
        np.testing.assert_array_equal(fitted.coef_, 0.0)
        assert len(set(fitted.predict(samples))) == 1


@every_machine
def test_more_features_than_samples_and_a_single_feature(model):
    X, y = data(model, seed=94, n=24, n_features=200)
    for samples in (X, X[:, :1]):
        fitted = model(C=0.01, **TIGHT).fit(samples, y)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, samples, y), rel=1e-6)


@pytest.mark.parametrize("model", [LinearNPSVOR, LinearSVC])
@pytest.mark.parametrize("n_ranks", [5, 9, 16, 17, 40])
def test_many_lanes(model, n_ranks):
    """More than fit into one vector of the core."""
    X, y = random_data(95, n=3 * n_ranks, n_ranks=n_ranks)
    fitted = model(C=0.3, tol=1e-7, max_iter=100_000, n_threads=2).fit(X, y)
    assert fitted.coef_.shape == (n_ranks, 3)
    proof = certify(fitted, X, y)
    assert proof.relative_gap <= 1e-7
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-9)


# Numbers at the ends of their range


@every_machine
@pytest.mark.parametrize("tol", [0.01, 1e-6])
@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e5, 1e14, 1e20, 1e100, 1e139])
def test_tiny_and_huge_samples_give_a_finite_model_or_a_clear_sentence(model, tol, scale):
    X, y = data(model, seed=95)
    for samples in (scale * X, sp.csr_array(scale * X)):
        estimator = model(tol=tol, max_iter=50)
        if scale >= 1e20:
            fit = partial(estimator.fit, samples, y)
            refuse(fit, ValueError, r"rows too large.*scale the features")
            continue
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            estimator.fit(samples, y)
        assert np.all(np.isfinite(estimator.coef_))
        assert np.all(np.isfinite(values(estimator, samples)))
        assert 0 <= estimator.result_.gap < np.inf
        proof = certify(estimator, samples, y)
        assert proof.primal == pytest.approx(estimator.result_.objective, rel=1e-6)


@every_machine
@both_losses
@pytest.mark.parametrize("C", [1e-300, 1e-100, 1e-40, 1e40, 1e100])
@pytest.mark.parametrize("max_iter", [1, 50])
def test_an_extreme_C_gives_a_finite_model(model, squared, C, max_iter):
    X, y = data(model, seed=95)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        fitted = model(C=C, loss=loss_name(model, squared), max_iter=max_iter).fit(X, y)
    assert np.all(np.isfinite(fitted.coef_))
    assert np.all(np.isfinite(values(fitted, X)))
    assert 0 <= fitted.result_.gap < np.inf
    if C < 1 and max_iter > 1:
        assert fitted.result_.relative_gap <= 0.01


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e20, 1e40, 1e130])
@both_losses
def test_tiny_and_huge_targets(scale, squared):
    """Predictions scale with the targets, if C does too; squared losses do not need that."""
    X, y = data(LinearSVR, seed=95)
    estimator = LinearSVR(epsilon=0.0, loss=loss_name(LinearSVR, squared), tol=1e-4)
    plain = clone(estimator).set_params(C=1e-3).fit(X, y)
    scaled = clone(estimator).set_params(C=1e-3 if squared else 1e-3 * scale).fit(X, scale * y)
    assert scaled.result_.relative_gap <= 1e-4
    np.testing.assert_allclose(scaled.predict(X) / scale, plain.predict(X), atol=0.02)


# Bad input


@pytest.fixture
def no_solver(monkeypatch):
    monkeypatch.setattr(
        linear_machine, "solve_linear", lambda *arguments, **options: pytest.fail("a solver was called")
    )


BAD_PARAMETERS = [
    ("C", [0, -1, np.nan, np.inf, "1", None, True], r"C=.*not valid: give a positive number"),
    ("tol", [0.0, -1e-3, np.nan, "1"], r"tol=.*not valid: give a positive number"),
    ("time_limit", [0, -1.0, "1"], r"time_limit=.*not valid: give a positive number"),
    ("max_iter", [-2, 1.5, None], r"max_iter=.*not valid: give -1 \(no limit\) or a whole number"),
    ("loss", ["log", None, 1], r"loss=.*unknown: give '.*' or 'squared_"),
    ("callback", [3, "print"], r"callback=.*not valid: give None or a function"),
    ("n_threads", [0, -1, 1.5, True], r"n_threads=.*not valid: give None"),
    ("random_state", [-1, "seed", 1.5], r"random_state=.*not valid: give None, a whole number"),
    ("solver", ["newton", "", "gcd"], r"solver=.*unknown: give 'auto' or one of 'rank-dcd'"),
    ("solver", [None, 3, RankDCD, ["rank-dcd"]], r"solver=.*not a solver: give a name or .* RankDCD\(\)"),
    ("fit_intercept", [None, 1, "yes"], r"fit_intercept=.*not valid: give True or False"),
    ("epsilon", [-0.1, np.nan, None, "0"], r"epsilon=.*not valid: give a number that is not negative"),
    ("C1", [0, -1, "1"], r"C1=.*not valid: give a positive number"),
    ("C2", [0, np.inf], r"C2=.*not valid: give a positive number"),
    ("predictor", ["r_new", None], r"predictor=.*unknown: give 'ordered' or 'nearest'"),
]


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("model", "name", "wrong", "pattern"),
    [(model, *row) for model in MACHINES for row in BAD_PARAMETERS if row[0] in model().get_params()],
)
def test_bad_parameters(model, name, wrong, pattern):
    X, y = data(model)
    for value in wrong:
        refuse(lambda value=value: model(**{name: value}).fit(X, y), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("model", [LinearSVOR, LinearSVC, LinearSVR])
@pytest.mark.parametrize("solver", ["dcd-1", "dcd-2", DCD1(), DCD2()], ids=str)
def test_the_papers_solvers_are_for_npsvor(model, solver):
    X, y = data(model)
    refuse(lambda: model(solver=solver).fit(X, y), ValueError, r"solver='dcd-.' is for NPSVOR only: use 'rank-dcd'")


@pytest.mark.parametrize("solver", ["dcd-1", "dcd-2"])
def test_the_papers_solvers_are_for_hinges(solver):
    X, y = data(LinearNPSVOR)
    pattern = rf"solver='{solver}' solves NPSVOR with the hinge loss only"
    refuse(lambda: LinearNPSVOR(solver=solver, loss="squared_hinge").fit(X, y), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@every_machine
def test_bad_samples(model):
    X, y = data(model)
    for entry in (np.nan, np.inf):
        bad = X.copy()
        bad[3, 1] = entry
        refuse(lambda bad=bad: model().fit(bad, y), ValueError, "contains NaN|contains infinity")
        refuse(lambda bad=bad: model().fit(sp.csr_array(bad), y), ValueError, "contains NaN|contains infinity")
    refuse(lambda: model().fit(X[0], y), ValueError, "Expected 2D array, got 1D")
    refuse(lambda: model().fit(X[:, :0], y), ValueError, r"0 feature\(s\)")
    refuse(lambda: model().fit(X[:1], y[:1]), ValueError, "minimum of 2 is required|1 sample")
    refuse(lambda: model().fit(X + 1j, y), ValueError, "Complex data not supported")
    refuse(lambda: model().fit([["a", "b"]] * len(y), y), ValueError, "could not convert string")
    refuse(lambda: model().fit(1e200 * X, y), ValueError, "as large as .*scale the features")


@pytest.mark.usefixtures("no_solver")
@every_machine
def test_bad_targets_and_weights(model):
    X, y = data(model)
    refuse(lambda: model().fit(X, None), ValueError, "requires y to be passed")
    refuse(lambda: model().fit(X, y[:-1]), ValueError, "inconsistent numbers of samples")
    refuse(lambda: model().fit(X, np.where(np.arange(len(y)) == 2, np.nan, y)), ValueError, "NaN|missing")
    for weight, pattern in (
        (np.ones(len(y) - 1), "inconsistent numbers of samples"),
        (np.ones((len(y), 2)), "1D array or scalar"),
        (-np.ones(len(y)), "negative"),
        (np.zeros(len(y)), "zero for every sample"),
        (np.full(len(y), np.nan), "NaN"),
    ):
        refuse(lambda weight=weight: model().fit(X, y, weight), ValueError, pattern)
    refuse(lambda: model(C=1e300).fit(X, y, np.full(len(y), 1e300)), ValueError, "overflows: give smaller")
    refuse(lambda: model(C=1e-300).fit(X, y, np.full(len(y), 1e-300)), ValueError, "zero for every sample: give larger")


@pytest.mark.usefixtures("no_solver")
@every_classifier
def test_one_class_is_not_enough(model):
    X, y = data(model)
    refuse(lambda: model().fit(X, np.ones(len(y))), ValueError, "needs at least two classes; y contains only one")
    refuse(lambda: model().fit(X, y, y == 1), ValueError, "above zero for 1 class only.*at least two classes")
    refuse(lambda: model(class_weight="even").fit(X, y), ValueError, "class_weight='even' is not valid")
    refuse(lambda: model(class_weight={"no": 1}).fit(X, y), ValueError, "names labels that are not classes")


@pytest.mark.usefixtures("no_solver")
def test_bad_costs_and_categories():
    X, y = data(LinearSVOR)
    refuse(lambda: LinearSVOR(cost="cubic").fit(X, y), ValueError, "cost='cubic' is unknown")
    refuse(lambda: LinearSVOR(cost=np.eye(3)).fit(X, y), ValueError, r"shape \(3, 3\), but y has 4 ranks")
    refuse(lambda: LinearSVOR(cost=np.eye(4)).fit(X, y), ValueError, "not V-shaped")
    flat = np.abs(np.subtract.outer([0, 0, 1, 2], [0, 0, 1, 2]))  # ranks 0 and 1 may be confused
    refuse(lambda: LinearSVOR(cost=flat).fit(X, y), ValueError, "no weight to one side of the threshold above rank 0")
    refuse(lambda: LinearSVOR(categories=[0, 1, 2]).fit(X, y), ValueError, "not among the categories.*: 3")


@every_machine
def test_new_samples(model):
    X, y = data(model)
    for use in ("predict", *(["decision_function"] if model is not LinearSVR else [])):
        with pytest.raises(NotFittedError):
            getattr(model(), use)(X)
        method = getattr(model().fit(X, y), use)
        refuse(lambda method=method: method(X[:, :2]), ValueError, "X has 2 features, but .* is expecting 3")
        refuse(lambda method=method: method(X[0]), ValueError, "Expected 2D array, got 1D")
        refuse(lambda method=method: method(np.full((1, 3), np.nan)), ValueError, "contains NaN")
        refuse(lambda method=method: method(np.full((1, 3), 1e300)), ValueError, "as large as .*scale")
