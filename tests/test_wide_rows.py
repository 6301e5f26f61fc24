"""Sparse rows with far more columns than values: the core is given the columns that hold something, and all results are
those of the same values in as few columns, bit by bit.
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVR,
    CalibratedOrdinal,
    NystroemSVOR,
    OrdinalSearchCV,
    certify,
    diagnose,
    inspection,
    load,
    save,
)
from ordsvm.kernels import RBF, KernelMatrix, Laplacian, Linear, Polynomial, Sigmoid, kernels
from ordsvm.kernels.arrays import compact

WIDE = 2**40  # columns: an array with an element for each has 8 TB
RNG = np.random.default_rng(0)
NARROW = sp.csr_array(sp.random(80, 30, density=0.2, random_state=1, format="csr"))
NEW = sp.csr_array(sp.random(25, 40, density=0.2, random_state=2, format="csr"))  # ten columns that no sample has
Y = np.digitize(NARROW[:, [3, 4, 5]].sum(axis=1) + 0.1 * RNG.normal(size=80), [0.1, 0.7])
PLACES = np.sort(RNG.choice(WIDE, size=40, replace=False))
KERNELS = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.3),
    "poly": Polynomial(0.3, 1.0, 3.0),
    "sigmoid": Sigmoid(0.3, 0.1),
    "linear": Linear(),
}


def spread(X):
    """The same values in columns far apart."""
    return sp.csr_array((X.data, PLACES[X.indices], X.indptr.astype(np.int64)), shape=(X.shape[0], WIDE))


def in_forty(X):
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], 40))


@pytest.fixture(autouse=True)
def columns_of_the_core(monkeypatch):
    """How many columns the core is given, and no array with an element for each column."""
    counts = []

    def counting(function, place):
        def call(*arguments):
            counts.append(arguments[place])
            return function(*arguments)

        return call

    monkeypatch.setattr(kernels._core, "csr_rows", counting(kernels._core.csr_rows, 4))
    monkeypatch.setattr(kernels._core, "csr_scores", counting(kernels._core.csr_scores, 3))
    tracemalloc.start()
    yield counts
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**28
    assert max(counts, default=0) <= NARROW.nnz + NEW.nnz


SAMPLES, WIDE_SAMPLES, ROWS, WIDE_ROWS = in_forty(NARROW), spread(NARROW), in_forty(NEW), spread(NEW)
CASES = {
    "rbf": lambda: SVOR(gamma=0.3),
    "laplacian": lambda: SVOR(kernel="laplacian", gamma=0.3),
    "poly": lambda: SVOR(kernel="poly", gamma=0.3, coef0=1.0),
    "sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.1),
    "linear": lambda: SVOR(kernel="linear"),
    "linear, rank-dcd": lambda: SVOR(kernel="linear", solver="rank-dcd"),
    "gcd": lambda: SVOR(gamma=0.3, solver="gcd"),
    "interior-point": lambda: SVOR(gamma=0.3, solver="interior-point"),
    "decomposition": lambda: SVOR(gamma=0.3, solver="decomposition"),
    "proximal-newton": lambda: SVOR(gamma=0.3, solver="proximal-newton"),
    "ordered": lambda: SVOREX(gamma=0.3),
    "NPSVOR": lambda: NPSVOR(gamma=0.3),
    "SVC": lambda: SVC(gamma=0.3),
    "SVR": lambda: SVR(gamma=0.3),
    "Nyström": lambda: NystroemSVOR(gamma=0.3, n_landmarks=20, solver="rank-dcd"),
    "leverage": lambda: NystroemSVOR(gamma=0.3, n_landmarks=20, landmarks="leverage", solver="rank-dcd"),
    "early stopping": lambda: SVOR(gamma=0.3, early_stopping=True, random_state=0),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_wide_rows_give_the_results_of_compact_ones(make, columns_of_the_core):
    wide, compact_one = (make().set_params(deterministic=True).fit(X, Y) for X in (WIDE_SAMPLES, SAMPLES))
    assert wide.result_.status == compact_one.result_.status == "converged"
    assert wide.result_.objective == compact_one.result_.objective
    assert np.array_equal(wide.dual_coef_, compact_one.dual_coef_)
    for other, one in ((WIDE_ROWS, ROWS), (WIDE_ROWS[:1], ROWS[:1]), (WIDE_SAMPLES, SAMPLES)):
        scores = [model._scores(model._check_new_data(X)) for model, X in ((wide, other), (compact_one, one))]
        assert np.array_equal(*scores)
    proof, expected = certify(wide, WIDE_SAMPLES, Y), certify(compact_one, SAMPLES, Y)
    assert proof.primal == pytest.approx(expected.primal, rel=1e-12)
    assert proof.gap == pytest.approx(expected.gap, rel=1e-6, abs=1e-12 * expected.primal)
    assert columns_of_the_core or "linear" in str(wide.kernel)


def test_scores_with_columns_that_no_support_vector_has_are_those_of_the_formula():
    for kernel in KERNELS.values():
        beta = RNG.normal(size=80)
        expected = kernel(NEW.toarray(), in_forty(NARROW).toarray()) @ beta
        assert np.allclose(kernel.scores(WIDE_ROWS, WIDE_SAMPLES, beta), expected, rtol=1e-12, atol=1e-12)
        assert np.allclose(kernel(WIDE_ROWS, WIDE_SAMPLES) @ beta, expected, rtol=1e-12, atol=1e-12)
        assert kernel.rounding(WIDE_SAMPLES) == pytest.approx(kernel.rounding(SAMPLES), rel=1e-6)
        product = KernelMatrix.of(kernel, WIDE_SAMPLES, 10.0).product(beta)
        assert np.array_equal(product, KernelMatrix.of(kernel, SAMPLES, 10.0).product(beta))


def test_searches_calibration_validation_and_files(tmp_path):
    for make in (
        lambda: OrdinalSearchCV(SVOR(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=3),
        lambda: CalibratedOrdinal(SVOR(gamma=0.3), cv=3),
    ):
        wide, narrow = (make().fit(X, Y) for X in (WIDE_SAMPLES, SAMPLES))
        assert np.array_equal(wide.predict(WIDE_ROWS), narrow.predict(ROWS))
    wide, narrow = (SVOR(gamma=0.3).fit(X, Y, validation=(X, Y)) for X in (WIDE_SAMPLES, SAMPLES))
    save(wide, tmp_path / "wide.ordsvm")
    scores = load(tmp_path / "wide.ordsvm").decision_function(WIDE_ROWS)
    assert np.array_equal(scores, narrow.decision_function(ROWS))
    assert [look.validation_mae for look in wide.result_.history] == [
        look.validation_mae for look in narrow.result_.history
    ]


def test_gamma_is_that_of_all_columns():
    assert SVOR(gamma="auto").fit(WIDE_SAMPLES, Y).kernel_.gamma == 1.0 / WIDE


def test_coef_has_an_element_for_every_feature():
    X = sp.csr_array((NARROW.data, 100 * NARROW.indices, NARROW.indptr), shape=(80, 3000))
    model = SVOR(kernel="linear").fit(X, Y)
    assert model.coef_.shape == (3000,)
    assert np.allclose(X @ model.coef_, model.decision_function(X))
    assert np.array_equal(np.flatnonzero(model.coef_) % 100, np.zeros(len(np.flatnonzero(model.coef_))))


def test_compact_leaves_what_has_values_in_most_columns_and_keeps_the_order():
    (same,) = compact(SAMPLES)
    assert same is SAMPLES
    dense = RNG.normal(size=(2, 40))
    assert compact(dense, WIDE_SAMPLES)[0] is dense
    one, other = compact(WIDE_SAMPLES, WIDE_ROWS)
    assert one.shape[1] == other.shape[1] <= 40
    assert one.indices.dtype == one.indptr.dtype == np.int32
    assert np.array_equal(one.toarray(), in_forty(NARROW).toarray())
    assert compact(sp.csr_array((3, WIDE)))[0].shape == (3, 1)
    assert WIDE_SAMPLES.shape == (80, WIDE)


def test_diagnosis_and_similar_cases():
    scale = sp.diags_array(np.where(np.arange(40) == 3, 1e4, 1.0))
    found = []
    for X in (WIDE_SAMPLES, SAMPLES):
        model = SVOR(gamma=0.3).fit(X, Y)
        found.append((diagnose(model, X, Y).names, inspection.similar_cases(model, X[:1])))
    assert found[0] == found[1]
    wide, narrow = spread(sp.csr_array(SAMPLES @ scale)), sp.csr_array(SAMPLES @ scale)
    unscaled = [
        next(each for each in diagnose(SVOR(gamma=0.3).fit(X, Y), X, Y) if each.name == "unscaled-features")
        for X in (wide, narrow)
    ]
    assert unscaled[0].figures["ratio"] == unscaled[1].figures["ratio"]
    assert unscaled[0].figures["widest"] == f"column {PLACES[3]}"
    assert unscaled[1].figures["widest"] == "column 3"
