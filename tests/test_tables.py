"""Tables: files of all kinds come out alike, and columns become the features that scikit-learn would make."""

import bz2
import gzip
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ordsvm import SVOR, CalibratedOrdinal, LinearSVOR, load, save
from ordsvm.diagnosis.parts import columns_of
from ordsvm.tables import TableEncoder, TableError, TableModel, columns, read
from ordsvm.tables.reading import matching
from ordsvm.tables.row_digests import known_rows, row_digests
from tests.cases import random_data

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 4.0, 7.5, 3.0],
        "count": [3, 1, 4, 1, 5, 9],
        "colour": ["red", None, "blue", "red", "green", "blue"],
        "review": ["good wine", "bad wine", "good beer", None, "bad beer", "good wine indeed"],
        "grade": ["low", "high", "mid", "low", "mid", "high"],
    }
)
LABELS = FRAME["grade"].to_numpy()


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.csv.bz2", "data.csv.xz", "data.CSV.zip", "data.tsv"])
def test_text_files(name, tmp_path):
    FRAME.to_csv(tmp_path / name, index=False, sep="\t" if "tsv" in name else ",")
    pd.testing.assert_frame_equal(read(tmp_path / name).rows, FRAME, check_dtype=False)


@pytest.mark.parametrize("compression", [None, gzip.open, bz2.open])
def test_parquet(compression, tmp_path):
    path = tmp_path / "data.parquet"
    FRAME.to_parquet(path)
    if compression is not None:
        packed = path.with_suffix(".parquet.gz" if compression is gzip.open else ".parquet.bz2")
        with compression(packed, "wb") as file:
            file.write(path.read_bytes())
        path = packed
    pd.testing.assert_frame_equal(read(path).rows, FRAME, check_dtype=False)


def test_svmlight(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:0.5 3:2\n2 2:1\n# a comment\n3 1:-1 2:4\n")
    table = read(path)
    np.testing.assert_array_equal(table.rows.toarray()[:, 1:], [[0.5, 0, 2], [0, 1, 0], [-1, 4, 0]])
    np.testing.assert_array_equal(table.labels, [1, 2, 3])
    assert len(table) == 3


def test_queries_of_an_svmlight_file(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 qid:7 1:0.5\n2 qid:7 2:1\n3 qid:9 1:-1\n")
    np.testing.assert_array_equal(read(path).queries, [7, 7, 9])
    np.testing.assert_array_equal(read(path).take([2, 0]).queries, [9, 7])
    path.write_text("1 1:0.5\n")
    assert read(path).queries is None
    path.write_text("1 qid:7 1:0.5\n2 2:1\n")
    with pytest.raises(TableError, match="has qid in 1 of its 2 rows"):
        read(path)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("data.csv", b"", "not a readable csv file: No columns"),
        ("data.csv", b"a,b\n", "has no rows"),
        ("data.csv", b"a,b\n1,2\n1,2,3,4\n", "not a readable csv file.*line 3, saw 4"),
        ("data.csv", b"a,b\n1,2,3\n4,5,6\n", "more cells than its first line"),
        ("data.csv", b"a,b\n\xff\xfe,1\n", "not a readable csv file"),
        ("data.csv.gz", b"not packed", "can't be read"),
        ("data.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "can't be read"),
        ("data.parquet", b"PAR1nonsense", "can't be read|not a readable parquet"),
        ("data.svm", b"1 2:3 2:4:5\n", "not an svmlight file"),
        ("data.svm", b"", "has no rows"),
        ("data.doc", b"a", "does not say what the file is"),
        ("data", b"a", "does not say what the file is"),
    ],
)
def test_bad_files(name, content, complaint, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=complaint):
        read(tmp_path / name)


def test_no_file(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read(tmp_path)


def test_conditions(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    table = read(tmp_path / "data.csv")
    np.testing.assert_array_equal(matching(table, {"colour": "red", "count": "1"}), [3])
    with pytest.raises(TableError, match=r"No row of 'data\.csv' has colour=pink"):
        matching(table, {"colour": "pink"})


def test_features_are_those_of_scikit_learn():
    encoder = TableEncoder(text=["review"]).fit(FRAME.drop(columns="grade"))
    found = encoder.transform(FRAME)
    assert sp.issparse(found)
    numbers = FRAME[["size", "count"]].fillna(FRAME[["size", "count"]].median())
    names = OneHotEncoder(handle_unknown="ignore").fit(FRAME.loc[FRAME["colour"].notna(), ["colour"]])
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    expected = [
        StandardScaler().fit_transform(numbers),
        names.transform(FRAME[["colour"]]).toarray(),
        words.fit_transform(FRAME["review"].fillna("")).toarray(),
    ]
    np.testing.assert_allclose(found.toarray(), np.hstack(expected), atol=1e-12)
    assert len(encoder.get_feature_names_out()) == found.shape[1]


def test_new_rows_may_hold_what_training_did_not():
    encoder = TableEncoder().fit(FRAME[["size", "colour"]])
    new = pd.DataFrame({"colour": ["pink", None], "size": [None, "2.0"], "other": [1, 2]})
    found = encoder.transform(new)
    assert not found[:, 1:].any()
    np.testing.assert_allclose(found[:, 0], encoder.transform(FRAME.assign(size=[3.0, 2.0] * 3))[:2, 0])


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (pd.DataFrame({"id": [f"a{i}" for i in range(100)]}), "100 different values in 100 rows.*--text id.*--drop id"),
        (pd.DataFrame({"day": pd.date_range("2020-01-01", periods=3)}), "holds dates"),
        (pd.DataFrame({"x": [np.inf, 1.0]}), "holds inf in data row 1"),
        (pd.DataFrame({"x": [None, None]}, dtype=object), "nothing to learn from"),
        (pd.DataFrame(index=range(3)), "no column to learn from"),
    ],
)
def test_columns_that_can_not_be_used(frame, complaint):
    with pytest.raises(TableError, match=complaint):
        TableEncoder().fit(frame)


def test_text_without_a_common_word():
    with pytest.raises(TableError, match="No word of column 'review'"):
        TableEncoder(text=["review"]).fit(pd.DataFrame({"review": ["one", "two"]}))


def test_missing_columns_and_wrong_cells():
    encoder = TableEncoder().fit(FRAME[["size", "colour"]])
    with pytest.raises(TableError, match="lack the column 'colour'"):
        encoder.transform(FRAME[["size"]])
    with pytest.raises(TableError, match="'size' holds 'tall' in data row 2"):
        encoder.transform(pd.DataFrame({"size": [1.0, "tall"], "colour": ["red", "red"]}))


@pytest.mark.parametrize("text", [(), ("review",)])
def test_a_model_of_a_table_goes_through_a_file(text, tmp_path):
    columns = FRAME[["size", "colour", *text]]
    model = TableModel(SVOR(categories=["low", "mid", "high"]), TableEncoder(text), "grade").fit(columns, LABELS)
    model.about_ = {"rows": 6, "held_out": np.array([3, 4])}
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    np.testing.assert_array_equal(loaded.decision_function(FRAME), model.decision_function(FRAME))
    assert loaded.encoder_.columns_[:2] == model.encoder_.columns_[:2]
    np.testing.assert_array_equal(loaded.about_["held_out"], [3, 4])
    assert not hasattr(loaded, "predict_proba")


def test_a_name_is_one_column_of_text():
    columns = FRAME.drop(columns="grade")
    alone, listed = (TableEncoder(text).fit(columns) for text in ("review", ["review"]))
    np.testing.assert_array_equal(alone.transform(columns).toarray(), listed.transform(columns).toarray())


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_csv_file_may_have_another_sign_than_commas(sign, tmp_path):
    FRAME.to_csv(tmp_path / "data.csv.gz", sep=sign, index=False)
    pd.testing.assert_frame_equal(read(tmp_path / "data.csv.gz").rows, FRAME)
    (tmp_path / "one.csv").write_text("a\n1;2\n3;4\n")
    assert read(tmp_path / "one.csv").rows["a"].tolist() == ["1;2", "3;4"]


def test_decimal_commas_are_named(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("a\tb\tc\n2\t1\t1,x\n1,5\t2\t2\n")
    with pytest.warns(UserWarning, match=r"Column 'a' of 'data.tsv' holds numbers with a decimal comma, such as '1,5'"):
        assert read(path).rows["a"].tolist() == ["2", "1,5"]


def test_a_calibrated_model_has_sets_and_cumulative_probabilities():
    X, y = random_data(0, n=60, n_ranks=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = TableModel(CalibratedOrdinal(SVOR(), cv=3), TableEncoder()).fit(frame, y)
    features = model.features(frame)
    np.testing.assert_array_equal(model.predict_cumproba(frame), model.machine_.predict_cumproba(features))
    np.testing.assert_array_equal(model.predict_set(frame, 0.8), model.machine_.predict_set(features, 0.8))
    assert model.guaranteed_coverage(0.95) == model.machine_.guaranteed_coverage(0.95) > 0.5
    plain = TableModel(SVOR(), TableEncoder()).fit(frame, y)
    assert not hasattr(plain, "predict_set")
    assert not hasattr(plain, "guaranteed_coverage")
    assert not hasattr(plain, "predict_cumproba")


def test_a_fit_that_fails_leaves_the_old_model():
    model = TableModel(SVOR(), TableEncoder(), "grade").fit(FRAME[["size"]], LABELS)
    before = vars(model).copy()
    with pytest.raises(ValueError):
        model.fit(FRAME[["colour"]], LABELS[:-1])
    assert vars(model) == before


def test_rows_of_an_svmlight_file_may_lack_the_last_features(tmp_path):
    rows = sp.csr_array(np.eye(4)[[0, 1, 2, 3, 3, 2]])
    model = TableModel(LinearSVOR()).fit(rows, [0, 0, 1, 1, 1, 0])
    np.testing.assert_array_equal(model.predict(rows[:2, :3]), model.predict(rows[:2]))
    with pytest.raises(TableError, match="5 features, and the model was trained with 4"):
        model.predict(sp.csr_array((1, 5)))


def test_columns_of_plain_numbers_are_learned_at_once_and_to_the_same_bits(monkeypatch):
    """100,000 columns took pandas half a minute, one by one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(21, 300)) * 10.0 ** rng.integers(-6, 6, size=300)).set_axis(
        [f"c{i}" for i in range(300)], axis=1
    )
    frame["whole"], frame["constant"], frame["flag"] = np.arange(21), 0.1, np.arange(21) % 2 == 0
    singly = [columns.NumberColumn.learn(name, frame[name]) for name in frame.columns]
    features = np.hstack([column.features(frame[column.name]) for column in singly])
    monkeypatch.setattr(columns, "_numbers", lambda *arguments: pytest.fail("a column was read alone"))
    encoder = TableEncoder().fit(frame)
    assert encoder.columns_ == tuple(singly)
    assert np.array_equal(encoder.transform(frame), features)


def test_plain_and_other_columns_keep_their_order():
    frame = pd.DataFrame({"a": [1.0, 3.0], "b": ["x", "y"], "c": [np.nan, 2.0], "d": [4, 2], "e": [1.0, 3.0]})
    expected = [[-1, 1, 0, 0, 1, -1], [1, 0, 1, 0, -1, 1]]
    assert np.array_equal(TableEncoder().fit(frame).transform(frame), expected)


PIPE = """
import os, signal, sys, threading
from ordsvm.tables import read
os.mkfifo("data.csv")
writer = threading.Timer(0.2, lambda: open("data.csv", "w").write("a,b\\n1,2\\n3,4\\n"))
writer.daemon = True
writer.start()
table = read("data.csv")
print(table.rows.to_numpy().tolist(), table.name, len(table.fingerprint), flush=True)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    read("data.csv")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once_and_ctrl_c_ends_the_wait_for_a_writer(tmp_path):
    """For its fingerprint it was opened again, which waited for ever."""
    child = subprocess.run([sys.executable, "-c", PIPE], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert child.stdout == "[[1, 2], [3, 4]] data.csv 64\ninterrupted\n", child.stderr


def test_a_wrong_cell_in_a_column_of_numbers_is_named():
    ages = [str(age) for age in range(20, 60)]
    ages[7] = "unknown"
    frame = pd.DataFrame({"age": ages})
    with pytest.warns(UserWarning, match="'age' holds numbers in 39 of 40 rows, but 'unknown' in data row 8"):
        TableEncoder().fit(frame)
    many = pd.DataFrame({"age": [f"{i}.5" for i in range(200)] + ["n/a?"]})
    with pytest.raises(TableError, match=r"but 'n/a\?' in data row 201: correct it, or leave the cell empty"):
        TableEncoder().fit(many)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder().fit(pd.DataFrame({"room": ["101", "102b", "103", "104a"] * 5}))


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_digests_know_rows_by_features_and_label(form):
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(100, 4)) * (random.random((100, 4)) < 0.7), random.integers(0, 3, 100)
    given = X if form == "dense" else sp.csr_array(X)
    digests = row_digests(given, codes)
    np.testing.assert_array_equal(digests, row_digests(X + 0.0, codes))
    assert len(np.unique(digests)) == len(np.unique(np.column_stack([X, codes]), axis=0))
    assert not np.isin(row_digests(given, codes + 1), digests).any()
    trained = np.sort(digests[:60])
    order = random.permutation(100)
    np.testing.assert_array_equal(known_rows(digests[order], trained), order < 60)
    assert not known_rows(digests[60:], trained).any()
    twice = np.concatenate([digests[:60], digests[:1]])
    assert known_rows(twice, trained).all()  # a copy was trained on too
    assert not known_rows(np.concatenate([np.repeat(digests[:5], 20), digests[60:]]), trained).any()  # 5 of 60 rows
    assert known_rows(np.repeat(digests[:3], 20), np.sort(np.repeat(digests[:3], 20))) is None


@pytest.mark.parametrize(
    "names",
    [[0, 1, 2], [0.5, 1.5, 2.5], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c"), ("d", "b")]), [0, "1", None]],
    ids=["numbers", "fractions", "levels", "mixed"],
)
def test_names_of_columns_that_are_no_texts(names, tmp_path):
    """They are compared as texts, in the model file and in a CSV file too."""
    X, _ = random_data(3, n=60)
    frame = pd.DataFrame(X[:, :3])
    frame[2] = np.where(frame[2] > 0, "up", "down")
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    with_texts = frame.set_axis([str(name) for name in pd.Index(names)], axis=1)
    frame = frame.set_axis(pd.Index(names), axis=1)
    model = TableModel(SVOR(), TableEncoder()).fit(frame, y)
    expected = TableModel(SVOR(), TableEncoder()).fit(with_texts, y).decision_function(with_texts)
    assert model.feature_names_in_.tolist() == with_texts.columns.tolist()
    save(model, tmp_path / "m.ordsvm")
    with_texts.to_csv(tmp_path / "rows.csv", index=False)
    for rows in (frame, with_texts, frame.iloc[:, ::-1], read(tmp_path / "rows.csv").rows):
        np.testing.assert_array_equal(load(tmp_path / "m.ordsvm").decision_function(rows), expected)
    assert list(columns_of(frame, list(model.feature_names_in_))) == with_texts.columns.tolist()  # for diagnose


def test_text_columns_named_by_numbers():
    frame = pd.DataFrame({0: ["good wine", "bad wine", "good beer"], 1: [1.0, 2.0, 3.0]})
    expected = TableEncoder(text="0").fit_transform(frame.rename(columns=str)).toarray()
    for text in ("0", [0], ["0"]):
        np.testing.assert_array_equal(TableEncoder(text=text).fit_transform(frame).toarray(), expected)


def test_column_names_that_occur_twice(tmp_path):
    frame = pd.DataFrame(np.ones((4, 3)), columns=["a", 1, "1"])
    for rows in (frame, frame.set_axis(["a", "1", "1"], axis=1)):
        with pytest.raises(
            TableError, match=r"X has 2 columns of the name '1': .* give every column a name of its own"
        ):
            TableEncoder().fit(rows)
        with pytest.raises(TableError, match="X has 2 columns of the name '1'"):
            TableEncoder().fit(frame.iloc[:, :2]).transform(rows)


def test_frames_without_rows_or_columns():
    frame = pd.DataFrame(np.ones((4, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TableError, match="X has no rows to learn from: give one at least"):
            TableEncoder().fit(frame.iloc[:0])
        with pytest.raises(TableError, match="There is no column to learn from"):
            TableModel(SVOR(), TableEncoder()).fit(frame.iloc[:, :0], [0, 1, 0, 1])
        assert TableEncoder().fit(frame).transform(frame.iloc[:0]).shape == (0, 3)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sp.csr_array, sp.csc_array, sp.coo_array])
def test_a_model_without_an_encoder_takes_what_its_machine_takes(form):
    """All but CSR rows ended in an AttributeError about `data` or `indices`, after the fit."""
    rows = np.random.default_rng(0).normal(size=(30, 3))
    y = np.digitize(rows[:, 0], [-0.4, 0.4])
    model = TableModel(SVOR(gamma=0.1)).fit(form(rows), y)
    expected = SVOR(gamma=0.1).fit(form(rows), y).decision_function(form(rows))
    np.testing.assert_array_equal(model.decision_function(form(rows)), expected)
