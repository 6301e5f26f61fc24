"""Dense, sparse, precomputed, float32, lists and data frames: one problem, one model."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from ordsvm import SVORIM, certify
from tests.cases import random_data
from tests.model_cases import TIGHT, assert_same_machine, every_model


@every_model
def test_dense_sparse_precomputed_and_callable_agree(model):
    X, y = random_data(44, n_features=6)
    X[np.random.default_rng(44).random(X.shape) < 0.4] = 0.0
    new = random_data(45, n_features=6)[0]
    dense = model(**TIGHT).fit(X, y)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = model(**TIGHT).fit(kind(X), y)
        assert_same_machine(dense, sparse, new)
        assert_same_machine(dense, sparse, X)
        np.testing.assert_allclose(sparse.decision_function(kind(new)), dense.decision_function(new), atol=1e-5)
        assert certify(sparse, kind(X), y).primal == pytest.approx(dense.result_.objective, rel=1e-8)
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same_machine(dense, model(**TIGHT).fit(wide, y), new)
    precomputed = model(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, gamma=0.4), y)
    scores = precomputed.decision_function(rbf_kernel(new, X, gamma=0.4))
    np.testing.assert_allclose(scores, dense.decision_function(new), atol=1e-5)
    np.testing.assert_allclose(precomputed.thresholds_, dense.thresholds_, atol=1e-5)
    assert certify(precomputed, rbf_kernel(X, gamma=0.4), y).relative_gap <= 1e-6
    by_function = model(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=1e-8).fit(X, y)
    assert_same_machine(dense, by_function, new)


@every_model
def test_csr_may_be_unsorted_and_hold_duplicates_and_is_not_changed(model):
    X, y = random_data(46)
    tidy = sp.csr_matrix(X)
    halves = sp.csr_matrix(
        (np.repeat(tidy.data / 2, 2)[::-1], np.repeat(tidy.indices, 2)[::-1], 2 * tidy.indptr), shape=X.shape
    )
    expected = halves.toarray()
    assert not halves.has_canonical_format
    before = [halves.data.copy(), halves.indices.copy(), halves.indptr.copy()]
    dense, sparse = model(**TIGHT).fit(expected, y), model(**TIGHT).fit(halves, y)
    assert_same_machine(dense, sparse, expected)
    np.testing.assert_allclose(sparse.decision_function(halves), dense.decision_function(expected), atol=1e-5)
    assert certify(sparse, halves, y).relative_gap <= 1e-6
    for array, copied in zip([halves.data, halves.indices, halves.indptr], before, strict=True):
        np.testing.assert_array_equal(array, copied)


def test_csr_with_index_arrays_of_two_types_is_not_changed():
    X, y = random_data(46)
    mixed = sp.csr_matrix(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    SVORIM().fit(mixed, y)
    assert mixed.indices.dtype == np.int32


@every_model
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_float32_samples(model, kernel):
    X, y = random_data(47)
    single = X.astype(np.float32)
    in_single, in_double = (model(kernel=kernel, **TIGHT).fit(data, y) for data in (single, single.astype(np.float64)))
    assert_same_machine(in_single, in_double, single, atol=1e-6)
    assert in_single.support_vectors_.dtype == np.float32
    assert_same_machine(in_single, model(kernel=kernel, **TIGHT).fit(X, y), X, atol=1e-3)
    assert in_single.decision_function(single).dtype == np.float64


@every_model
def test_fortran_order_lists_and_integers_are_samples_too(model):
    X, y = random_data(48)
    X = np.round(5 * X)
    expected = model().fit(X, y)
    for other in (np.asfortranarray(X), X.tolist(), X.astype(int), X[:, ::-1][:, ::-1], pd.DataFrame(X)):
        np.testing.assert_array_equal(model().fit(other, y).result_.alpha, expected.result_.alpha)


@every_model
def test_data_frames_give_feature_names(model):
    X, y = random_data(49)
    names = ["size", "age", "price"]
    plain = model().fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        fitted = model().fit(frame, y)
        assert fitted.feature_names_in_.tolist() == names
        assert fitted.n_features_in_ == 3
        np.testing.assert_array_equal(fitted.decision_function(frame), plain.decision_function(X))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(pd.DataFrame(X, columns=names[::-1]))
    assert not hasattr(plain, "feature_names_in_")


@every_model
def test_labels_in_ordered_dtypes_and_series(model):
    X, y = random_data(50)
    grades = ["poor", "fair", "good", "great"]
    labels = [grades[rank] for rank in y]
    expected = model().fit(X, y).predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ordered in (
            pd.Categorical(labels, grades, ordered=True),
            pd.Series(pd.Categorical(labels, grades, ordered=True)),
            pl.Series(labels, dtype=pl.Enum(grades)),
        ):
            fitted = model().fit(X, ordered)
            assert fitted.classes_.tolist() == grades
            assert fitted.predict(X).tolist() == [grades[rank] for rank in expected]
            assert certify(fitted, X, ordered).relative_gap <= 1e-3
