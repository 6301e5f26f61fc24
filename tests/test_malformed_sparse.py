"""Sparse matrices whose arrays lead out of them: one clear sentence at every entry, before anything follows them."""

import warnings
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
    RowStore,
    certify,
    diagnose,
    inspection,
)
from ordsvm.kernels import RBF, Laplacian, Linear, NystroemMap, Polynomial, Sigmoid
from ordsvm.metrics import mae_scorer
from ordsvm.sparse import canonical, check_structure
from ordsvm.tables import TableModel
from tests.refusals import refuse

RNG = np.random.default_rng(0)
X = sp.csr_array(RNG.normal(size=(60, 4)))
Y = np.digitize(X[:, [0]].toarray().ravel(), [-0.4, 0.4])
FAR = 2**31 - 1


def with_changed(X, part, place, value):
    """The matrix with an element of one of its arrays changed behind SciPy's back."""
    X = X.copy()
    array = getattr(X, part) if isinstance(part, str) else X.coords[part]
    array[place] = value
    return X


def with_list(row, columns, values):
    X_lists = sp.lil_array(X)
    X_lists.rows[row], X_lists.data[row] = columns, values
    return X_lists


def with_array(X, part, array):
    X = X.copy()
    setattr(X, part, array)
    return X


BLOCKS = sp.bsr_array(X, blocksize=(2, 2))
MALFORMED = {
    "an index beyond the columns": (with_changed(X, "indices", 5, 4), r"indices has 4 at position 5, where 0 to 3"),
    "an index far beyond": (with_changed(X, "indices", 5, FAR), r"indices has 2147483647 at position 5"),
    "a negative index": (with_changed(X, "indices", 7, -1), r"indices has -1 at position 7, where 0 to 3"),
    "a falling indptr": (with_changed(X, "indptr", 10, 0), r"indptr falls from 36 to 0 at position 10"),
    "indptr beyond the values": (with_changed(X, "indptr", 10, FAR), r"indptr falls from 2147483647 to 44"),
    "a negative indptr": (with_changed(X, "indptr", 10, -FAR), r"indptr falls from 36 to -2147483647"),
    "a last indptr beyond the values": (with_changed(X, "indptr", -1, FAR), r"indptr goes from 0 to 2147483647"),
    "a last indptr before the values": (with_changed(X, "indptr", -1, 238), r"indptr goes from 0 to 238, not.* 240"),
    "a first indptr other than 0": (with_changed(X, "indptr", 0, 1), r"indptr goes from 1 to 240"),
    "a short indptr": (with_array(X, "indptr", X.indptr[:-1]), r"indptr has 60 elements, not 61"),
    "fewer indices than values": (with_array(X, "indices", X.indices[:-1]), r"239 indices for 240 values"),
    "indices of another type": (with_array(X, "indices", X.indices.astype(float)), r"dtype float64, not 1 and int32"),
    "long indices": (with_array(X, "indices", X.indices.astype(np.int64) + 2**32), r"indices has 4294967299"),
    "CSC, a row beyond": (with_changed(sp.csc_array(X), "indices", 5, FAR), r"CSC.*indices has 2147483647.*0 to 59"),
    "CSC, a negative row": (with_changed(sp.csc_array(X), "indices", 5, -FAR), r"CSC.*indices has -2147483647"),
    "CSC, a falling indptr": (with_changed(sp.csc_array(X), "indptr", 2, FAR), r"CSC.*indptr falls"),
    "COO, a row beyond": (with_changed(sp.coo_array(X), 0, 3, FAR), r"COO.*coords\[0\] has 2147483647"),
    "COO, a negative row": (with_changed(sp.coo_array(X), 0, 3, -FAR), r"COO.*coords\[0\] has -2147483647"),
    "COO, a column beyond": (with_changed(sp.coo_array(X), 1, 3, 4), r"COO.*coords\[1\] has 4.*0 to 3"),
    "BSR, a column beyond": (with_changed(BLOCKS, "indices", 3, 2), r"BSR.*indices has 2 at position 3.*0 to 1"),
    "BSR, a falling indptr": (with_changed(BLOCKS, "indptr", 3, FAR), r"BSR.*indptr falls"),
    "lists, a column beyond": (with_list(3, [0, FAR], [1.0, 2.0]), r"LIL.*rows has 2147483647"),
    "lists, a negative column": (with_list(3, [-FAR], [1.0]), r"LIL.*rows has -2147483647"),
    "lists of other lengths": (with_list(3, [0], [1.0] * 10**5), r"LIL.*row 3 has 1 columns and 100000 values"),
}
ONE = MALFORMED["a negative index"][0]
MACHINES = [SVOR, NPSVOR, SVC, SVR, LinearSVOR, LinearNPSVOR, LinearSVC, LinearSVR, NystroemSVOR]


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {type(m): m.fit(X, Y) for m in (machine(max_iter=1000) for machine in MACHINES)}
        made["calibrated"] = CalibratedOrdinal(SVOR(), cv=2).fit(X, Y)
        made["rounded"] = RoundedRegressor(SVR()).fit(X, Y)
        made["search"] = OrdinalSearchCV(SVOR(), {"C": [1.0]}, cv=2).fit(X, Y)
    return made


@pytest.mark.parametrize(("bad", "pattern"), MALFORMED.values(), ids=MALFORMED)
def test_every_malformation_is_named(bad, pattern):
    refuse(lambda: check_structure(bad), ValueError, r"X is a malformed .*" + pattern + r".*; build it anew")


@pytest.mark.parametrize("machine", [SVOR, LinearSVOR, NystroemSVOR])
@pytest.mark.parametrize("bad", [bad for bad, _ in MALFORMED.values()], ids=MALFORMED)
def test_no_machine_is_trained_on_it(machine, bad):
    refuse(lambda: machine().fit(bad, Y), ValueError, r"X is a malformed")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("method", ["fit", "predict", "score", "certify"])
def test_every_machine_refuses_it(fitted, machine, method):
    own = fitted[machine]
    call = {
        "fit": lambda: clone(own).fit(ONE, Y),
        "predict": lambda: own.predict(ONE),
        "score": lambda: own.score(ONE, Y),
        "certify": lambda: certify(own, ONE, Y),
    }[method]
    refuse(call, ValueError, r"X is a malformed CSR matrix of shape \(60, 4\)")


ENTRIES = {
    "validation": lambda models: SVOR().fit(X, Y, validation=(ONE, Y)),
    "calibration": lambda models: CalibratedOrdinal(make_pipeline(MaxAbsScaler(), SVOR())).fit(ONE, Y),
    "calibration, weights": lambda models: CalibratedOrdinal(SVOR()).fit(ONE, Y, np.arange(60.0)),
    "probabilities": lambda models: models["calibrated"].predict_proba(ONE),
    "rounded": lambda models: RoundedRegressor(SVR()).fit(ONE, Y),
    "rounded, prediction": lambda models: models["rounded"].predict(ONE),
    "search": lambda models: OrdinalSearchCV(SVOR(), {"C": [1.0]}).fit(ONE, Y),
    "search, prediction": lambda models: models["search"].predict(ONE),
    "diagnosis": lambda models: diagnose(models[SVOR], ONE, Y),
    "contributions": lambda models: inspection.contributions(models[LinearSVOR], ONE, X),
    "background": lambda models: inspection.contributions(models[LinearSVOR], X, ONE),
    "similar cases": lambda models: inspection.similar_cases(models[SVOR], ONE),
    "exact certificate": lambda models: models[NystroemSVOR].certify_exact(ONE, Y),
    "table": lambda models: TableModel(SVOR()).fit(ONE, Y),
    "table, prediction": lambda models: TableModel(SVOR()).fit(X, Y).predict(ONE),
    "table, narrower": lambda models: TableModel(SVOR()).fit(sp.hstack([X, X]), Y).predict(ONE),
    "pipeline, prediction": lambda models: make_pipeline("passthrough", SVOR()).fit(X, Y).predict(ONE),
    "prediction sets": lambda models: models["calibrated"].predict_set(ONE),
    "scorer": lambda models: mae_scorer(models[SVOR], ONE, Y),
    "store": lambda models: RowStore.from_blocks([(X, Y), (ONE, Y)]),
    "iterator": lambda models: LinearSVOR().fit(iter([(X, Y), (ONE, Y)])),
}


@pytest.mark.parametrize("call", ENTRIES.values(), ids=ENTRIES)
def test_every_other_entry_refuses_it(fitted, call):
    refuse(lambda: call(fitted), ValueError, r"(X|x|background) is a malformed CSR matrix")


NATIVE = [RBF(0.1), Laplacian(0.1), Polynomial(0.1, 1.0, 2), Sigmoid(0.1, 0.0), Linear()]
CALLS = {
    "values": lambda kernel, bad: kernel(bad, X),
    "values to": lambda kernel, bad: kernel(X, bad),
    "values of dense rows": lambda kernel, bad: kernel(X.toarray(), bad),
    "scores": lambda kernel, bad: kernel.scores(bad, X, np.ones(60)),
    "scores by": lambda kernel, bad: kernel.scores(X, bad, np.ones(60)),
    "scores in NumPy": lambda kernel, bad: kernel.scores_in_numpy(bad, X, np.ones(60)),
    "rows": lambda kernel, bad: kernel.rows(bad),
    "landmarks": lambda kernel, bad: NystroemMap.of(kernel, bad),
    "features": lambda kernel, bad: NystroemMap.of(RBF(0.1), X).transform(bad),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("kernel", NATIVE, ids=lambda kernel: type(kernel).__name__)
def test_kernels_that_are_called_refuse_it(kernel, call):
    for bad in (ONE, with_changed(X, "indices", 5, FAR), with_changed(X, "indptr", 10, 10**7)):
        refuse(lambda bad=bad: call(kernel, bad), ValueError, r"[XY] is a malformed CSR matrix")


@pytest.mark.parametrize("kernel", NATIVE, ids=lambda kernel: type(kernel).__name__)
def test_kernels_that_are_called_sum_columns_that_occur_twice(kernel):
    """The core has room for n_columns values of a row."""
    columns = np.tile(np.repeat([0, 1], 500), 6)
    many = sp.csr_array((np.full(len(columns), 0.001), columns, np.arange(0, 6001, 1000)), shape=(6, 2))
    dense, beta = many.toarray(), np.arange(6.0)
    np.testing.assert_allclose(kernel(many, many), kernel(dense, dense), rtol=1e-12)
    np.testing.assert_allclose(kernel.scores(many, many, beta), kernel.scores(dense, dense, beta), rtol=1e-12)
    np.testing.assert_allclose(kernel.rows(many).diagonal(), kernel.rows(dense).diagonal(), rtol=1e-12)


def test_the_partitions_of_distributed_rows_are_checked():
    loading = pytest.importorskip("ordsvm.distributed.loading")
    nystroem = pytest.importorskip("ordsvm.distributed.nystroem")
    refuse(lambda: loading.load(3, ONE, Y, None, False, "LinearSVOR"), ValueError, r"Block 3.*X is a malformed CSR")
    refuse(lambda: nystroem._checked_rows((ONE, Y)), ValueError, r"X is a malformed CSR")


def test_a_store_whose_columns_were_rewritten_with_their_checksum_is_refused(tmp_path):
    sparse = sp.csr_array(sp.random(50, 20, density=0.2, random_state=0, dtype=np.float32))
    RowStore.from_blocks([(sparse, np.arange(50) % 3)], folder=tmp_path / "rows")
    file = tmp_path / "rows" / "rows.bin"
    content = bytearray(file.read_bytes())
    place = 51 * 4 + 5 * 4  # behind the starts, the sixth column
    content[place : place + 4] = np.int32(-5).tobytes()
    file.write_bytes(content)
    store = RowStore.open(tmp_path / "rows")
    store._blocks[0, 3] = zlib.crc32(content)
    with pytest.raises(OSError, match=r"rows are malformed: columns has -5 at position 5.*write the store anew"):
        LinearSVOR().fit(store)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_sound_matrices_of_all_formats_pass(kind):
    for shape in ((60, 4), (0, 4), (3, 0)):
        check_structure(sp.random_array(shape, density=0.3, format=kind, rng=np.random.default_rng(1)))
    check_structure(X.toarray())
    expected = SVOR().fit(X, Y).decision_function(X)
    assert np.array_equal(SVOR().fit(X.asformat(kind), Y).decision_function(X.asformat(kind)), expected)


def test_a_row_with_a_column_twice_is_summed_whatever_its_flag_says():
    """The core has room for n_columns values of a row."""
    n = 50
    columns = np.tile(np.repeat([0, 1], n), 6)
    many = sp.csr_array((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, 2 * n)), shape=(6, 2))
    many.has_canonical_format = True  # as it would be after a change of indices
    assert np.array_equal(canonical(many).toarray(), np.full((6, 2), float(n)))
    assert canonical(many).nnz == 12
    assert many.nnz == len(columns)  # the caller's matrix is as it was
    many.data[: 2 * n] = 0.5
    same = SVOR(gamma=0.01).fit(many, [0, 1] * 3)
    assert np.array_equal(same.decision_function(many), same.decision_function(canonical(many)))
