"""Every way an order reaches the labels, and every label that has none."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from ordsvm import NPSVOR, SVC, SVOR, SVR, CalibratedOrdinal, LinearSVC, LinearSVOR, RoundedRegressor
from ordsvm.problem.labels import Ranks, encode_labels

SIZES = ["small", "medium", "large"]  # not the alphabet's order
CODES = [2, 0, 1, 0]
LABELS = [SIZES[code] for code in CODES]


def encode_silently(y, categories=None) -> Ranks:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return encode_labels(y, categories)


def assert_ranks(ranks: Ranks, classes: list, codes: list[int]) -> None:
    assert ranks.classes.tolist() == classes
    assert ranks.codes.tolist() == codes
    assert ranks.codes.dtype == np.int64


@pytest.mark.parametrize(
    "y",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        pd.Series(LABELS),
        pd.Series(LABELS, dtype=object),
        pd.Index(LABELS),
        pd.Categorical(LABELS),
        pd.Categorical(LABELS, SIZES[::-1], ordered=True),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pl.Series(LABELS, dtype=pl.Enum(SIZES[::-1])),
    ],
)
@pytest.mark.parametrize("categories", [SIZES, tuple(SIZES), np.array(SIZES), pd.Index(SIZES), pl.Series(SIZES)])
def test_categories_give_the_order_whatever_holds_the_labels(y, categories):
    ranks = encode_silently(y, categories)
    assert_ranks(ranks, SIZES, CODES)
    assert ranks.classes[ranks.codes].tolist() == LABELS
    assert ranks.classes.dtype.kind == "U"


def ordered_dtypes(categories: list[str]) -> list:
    categorical = pd.Categorical(LABELS, categories, ordered=True)
    return [
        categorical,
        pd.Series(categorical),
        pd.Index(categorical),
        pl.Series(LABELS, dtype=pl.Enum(categories)),
    ]


@pytest.mark.parametrize("y", ordered_dtypes(SIZES))
def test_ordered_dtype_gives_the_order(y):
    assert_ranks(encode_silently(y), SIZES, CODES)


@pytest.mark.parametrize("y", ordered_dtypes(["tiny", *SIZES, "huge"]))
def test_ordered_dtype_keeps_ranks_that_do_not_occur(y):
    assert_ranks(encode_silently(y), ["tiny", *SIZES, "huge"], [code + 1 for code in CODES])


def test_categories_keep_ranks_that_do_not_occur():
    assert_ranks(encode_silently([4, 2, 4], [1, 2, 3, 4]), [1, 2, 3, 4], [3, 1, 3])


@pytest.mark.parametrize(
    "y",
    [
        LABELS,
        np.array(LABELS, dtype=object),
        pd.Series(LABELS),
        pd.Categorical(LABELS, SIZES),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
    ],
)
def test_plain_strings_are_sorted_with_a_warning(y):
    with pytest.warns(UserWarning, match=r"sorted order was assumed: 'large' < 'medium' < 'small'.*categories="):
        ranks = encode_labels(y)
    assert_ranks(ranks, ["large", "medium", "small"], [0, 2, 1, 2])


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([10, -1, 3, -1], [-1, 3, 10], [2, 0, 1, 0]),
        (np.array([2.0, 1.0, 2.0], dtype=np.float32), [1.0, 2.0], [1, 0, 1]),
        (np.array([200, 7, 200], dtype=np.uint8), [7, 200], [1, 0, 1]),
        ([True, False, True], [False, True], [1, 0, 1]),
        (np.array([3, 1, 2], dtype=object), [1, 2, 3], [2, 0, 1]),
        (pd.Series([3, 1, 2], dtype="Int64"), [1, 2, 3], [2, 0, 1]),
        (pd.Categorical([3, 1, 2], [3, 1, 2]), [1, 2, 3], [2, 0, 1]),
        (pl.Series([3, 1, 2], dtype=pl.Int8), [1, 2, 3], [2, 0, 1]),
    ],
)
def test_numbers_and_booleans_are_ordered_by_value(y, classes, codes):
    assert_ranks(encode_silently(y), classes, codes)


def test_dtype_of_the_labels_is_kept_or_the_natural_one():
    assert encode_silently([3, 1, 2]).classes.dtype == np.int64
    assert encode_silently(pd.Series([3, 1, 2], dtype="Int64")).classes.dtype == np.int64
    assert encode_silently([True, False]).classes.dtype == np.bool_
    for dtype in (np.uint8, np.int32, np.float32, np.bool_):
        assert encode_silently(np.array([1, 0, 1], dtype=dtype)).classes.dtype == dtype


def test_reversed_categories_mirror_the_ranks():
    up, down = encode_silently([1, 2, 4, 2], [1, 2, 4]), encode_silently([1, 2, 4, 2], [4, 2, 1])
    np.testing.assert_array_equal(down.codes, 2 - up.codes)
    np.testing.assert_array_equal(down.classes, up.classes[::-1])


def test_labels_with_an_order_may_be_anything_hashable():
    assert_ranks(encode_silently([2.5, 0.5, 1.0], [0.5, 1.0, 2.5]), [0.5, 1.0, 2.5], [2, 0, 1])
    assert_ranks(encode_silently(["many", 1, 2], [1, 2, "many"]), [1, 2, "many"], [2, 0, 1])
    bins = pd.cut(pd.Series([0.5, 2.5, 1.5]), [0, 1, 2, 3])
    assert_ranks(encode_silently(bins), list(bins.cat.categories), [0, 2, 1])


@pytest.mark.parametrize(
    "y",
    [
        [[3], [1], [2]],
        np.array([[3], [1], [2]]),
        pd.DataFrame({"y": [3, 1, 2]}),
        pl.DataFrame({"y": [3, 1, 2]}),
    ],
)
def test_column_vector_is_flattened_with_scikit_learns_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        ranks = encode_labels(y)
    assert_ranks(ranks, [1, 2, 3], [2, 0, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("y", ordered_dtypes(SIZES)[1::2])
def test_one_column_frame_keeps_its_order(y):
    assert_ranks(encode_labels((pd.DataFrame if isinstance(y, pd.Series) else pl.DataFrame)({"y": y})), SIZES, CODES)


@pytest.mark.parametrize(
    "y",
    [
        [1, None, 2],
        ["a", None, "b"],
        ["a", np.nan, "b"],
        [1.0, np.nan, 2.0],
        [1, pd.NA, 2],
        [1, pd.NaT, 2],
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Categorical(["a", None, "b"], ["b", "a"], ordered=True),
        pl.Series(["a", None, "b"]),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
    ],
)
def test_missing_labels_are_refused(y):
    with pytest.raises(ValueError, match=r"y contains missing labels .* in 1 of 3 entries; drop"):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([], ValueError, "y is empty"),
        ("abc", ValueError, r"y should be a 1d array .* got str of shape \(\)"),
        (np.zeros((3, 2)), ValueError, r"y should be a 1d array .* got ndarray of shape \(3, 2\)"),
        ([[1, 2], [3]], TypeError, "y holds labels of type list"),
        ([1.0, np.inf], ValueError, "y contains infinity"),
        ([1, 2j], ValueError, "Complex data not supported"),
        ([1, "a"], TypeError, "labels with no order, of type int and str; pass categories="),
        ([b"a", b"b"], TypeError, "labels with no order, of type bytes"),
        ([0.1, 0.25, 0.7], ValueError, "Unknown label type: continuous.*categories"),
        ([3, 3], ValueError, "Model needs at least two classes; y contains only one class: 3"),
        (pd.Categorical(["b", "b"], ["a", "b"], ordered=True), ValueError, "only one class: 'b'"),
    ],
)
def test_labels_without_an_order_are_refused(y, error, message):
    with pytest.raises(error, match=message):
        encode_labels(y, estimator_name="Model")


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ([1, 2], r"labels that are not among the categories 1, 2: 3; add them"),
        (["1", "2", "3"], r"not among the categories '1', '2', '3': 1, 2, 3;"),
        ([1, 2, 3, 2], "categories repeats 2;"),
        ([1], "categories has only 1; list two labels or more"),
        ([1, 2, None], "categories contains missing labels"),
        ([], "categories is empty"),
        ("123", r"categories should be a 1d array .* got str"),
        ({1, 2, 3}, r"categories should be a 1d array .* got set"),
    ],
)
def test_unusable_categories_are_refused(categories, message):
    with pytest.raises(ValueError, match=message):
        encode_labels([1, 2, 3], categories)


def test_long_lists_of_labels_are_cut_in_messages():
    with pytest.raises(ValueError, match=r"not among the categories 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.: -1;"):
        encode_labels([0, -1], range(50))


OBJECTS = {
    "numbers": (lambda y: y.astype(object), {}),
    "words": (lambda y: np.array(["a", "b", "c"])[y].astype(object), {}),
    "truth values": (lambda y: (y > 0).astype(object), {}),
    "halves": (lambda y: (y + 0.5).astype(object), {"categories": [0.5, 1.5, 2.5]}),
    "halves that are floats": (lambda y: y + 0.5, {"categories": [0.5, 1.5, 2.5]}),
    "several types": (lambda y: np.array([1, "two", 3.5], dtype=object)[y], {"categories": [1, "two", 3.5]}),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("machine", [SVOR, NPSVOR, LinearSVOR, CalibratedOrdinal, RoundedRegressor])
@pytest.mark.parametrize(("labels", "options"), OBJECTS.values(), ids=OBJECTS)
def test_labels_that_are_objects_are_scored_as_they_are_trained_on(machine, labels, options):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = labels(np.digitize(X[:, 0], [-0.4, 0.4]))
    if machine is CalibratedOrdinal:
        model = CalibratedOrdinal(SVOR(**options), cv=2)
    else:
        model = machine(**options) if machine is not RoundedRegressor else machine(SVR(), **options)
    weight = np.arange(60.0)
    right = np.array([true == found for true, found in zip(y, model.fit(X, y).predict(X).tolist(), strict=True)])
    assert model.score(X, y) == right.mean()
    assert model.score(X, y, weight) == pytest.approx(np.average(right, weights=weight), rel=1e-12)


@pytest.mark.parametrize("machine", [SVC, LinearSVC])
def test_classes_that_are_objects_are_scored_as_they_are_trained_on(machine):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    model = machine().fit(X, y.astype(object))
    assert model.score(X, y.astype(object)) == machine().fit(X, y).score(X, y) == np.mean(model.predict(X) == y)
