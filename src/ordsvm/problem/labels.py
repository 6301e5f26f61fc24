"""Labels with an order, turned into ranks 0, 1, ..., r - 1.

The order comes from the first of these that there is:

1. `categories`, the labels listed lowest first;
2. the dtype of y: an ordered pandas Categorical or a polars Enum;
3. the values, where the labels are numbers or booleans;
4. the alphabet, where they are plain strings: seldom what was meant ("high" < "low"), hence a warning.

pandas and polars are recognised by the attributes of their dtypes, so neither has to be installed.
"""

import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ordsvm._typing import Ints
from ordsvm.checks import caller_level

_HAS_TOLD_ORDER: ContextVar[bool] = ContextVar("ordsvm_has_told_order", default=False)
_NUMBER_TYPES = (int, float, complex, np.number, np.bool_)
_HOW_TO_ORDER = "pass categories=[...], lowest first, or an ordered pandas Categorical or polars Enum"


@dataclass(frozen=True, eq=False)
class Ranks:
    """The labels from lowest to highest, and where each sample stands: `classes[codes]` is y again.

    are_listed: True if `categories` or an ordered dtype names all labels there are, seen in y or not.
    """

    classes: NDArray[Any]
    codes: Ints
    are_listed: bool = False


def encode_labels(y: Any, categories: Any = None, *, estimator_name: str = "Ordinal regression") -> Ranks:
    """Find the order of the labels and give every sample its rank.

    With `categories` or an ordered dtype every listed label keeps its rank, seen in y or not, and labels may
    be anything hashable: fractions such as 2.5 stars, the intervals of `pandas.cut`. Without them, labels are
    numbers or strings and only those in y get a rank.
    """
    require_y(y, estimator_name, "label")
    y = _single_column(y)
    labels = label_array(y)
    if categories is None:
        categories = ordered_dtype_categories(y)
    if categories is None:
        ranks = _ranks_by_value(labels)
        _require_two_classes(ranks.classes, estimator_name)
        return ranks
    classes = category_array(categories)
    codes = rank_codes(labels, classes)
    _require_two_classes(classes[np.unique(codes)], estimator_name)
    return Ranks(classes, codes, are_listed=True)


def encode_classes(y: Any, *, estimator_name: str = "Classification") -> Ranks:
    """Labels whose order means nothing: the distinct ones are sorted, as in scikit-learn, and each sample gets its."""
    require_y(y, estimator_name, "label")
    labels = label_array(_single_column(y))
    if labels.dtype.kind not in "biufU":
        raise TypeError(f"y holds labels of type {_types(labels)}; give all of them as numbers or all as strings.")
    ranks = _distinct(labels)
    if not _clearly_classes(labels, ranks.classes):
        check_classification_targets(labels)
    _require_two_classes(ranks.classes, estimator_name)
    return ranks


def require_y(y: Any, estimator_name: str, kind: str) -> None:
    if y is None:
        message = f"{estimator_name} requires y to be passed, but the target y is None"
        raise ValueError(f"{message}; give one {kind} per sample.")


def ordered_dtype_categories(y: Any) -> Any | None:
    """The categories of an ordered pandas Categorical or a polars Enum, lowest first; None for all else."""
    dtype = getattr(y, "dtype", None)
    is_enum = type(dtype).__name__ == "Enum" and type(dtype).__module__.partition(".")[0] == "polars"
    is_ordered = getattr(dtype, "ordered", None) is True
    return list(dtype.categories) if dtype is not None and (is_enum or is_ordered) else None


def category_array(categories: Any) -> NDArray[Any]:
    """`categories` as an array of at least two different labels."""
    classes = label_array(categories, "categories")
    distinct = dict.fromkeys(classes.tolist())
    if len(distinct) < len(classes):
        repeated = [label for label in distinct if classes.tolist().count(label) > 1]
        raise ValueError(f"categories repeats {_listed(repeated)}; list every label once, lowest first.")
    if len(classes) < 2:
        raise ValueError(f"categories has only {_listed(distinct)}; list two labels or more, lowest first.")
    return classes


def rank_codes(labels: NDArray[Any], classes: NDArray[Any], name: str = "y") -> Ints:
    """The position of each label in `classes`. Labels match as Python objects do: 1 is 1.0, but not "1"."""
    position = {label: rank for rank, label in enumerate(classes.tolist())}
    if labels.dtype.kind in "biufU":  # few different ones among many: look up each once
        distinct = np.unique(labels)
        codes = np.array([position.get(label, -1) for label in distinct.tolist()], dtype=np.int64)
        codes = codes[np.searchsorted(distinct, labels)]
    else:
        codes = np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).any():
        unknown = dict.fromkeys(labels[codes < 0].tolist())
        if _numbers_for(unknown, classes):
            raise ValueError(
                f"{name} holds numbers where the categories are {_listed(position)}: estimators such as "
                "VotingClassifier number labels by the alphabet; give them ranks 0, 1, ... and leave categories out."
            )
        raise ValueError(
            f"{name} contains labels that are not among the categories {_listed(position)}: "
            f"{_listed(unknown)}; add them to categories or drop those samples."
        )
    return codes


def _numbers_for(labels: Iterable[Any], classes: NDArray[Any]) -> bool:
    """Return True if the labels may be numbers that another estimator has put in place of categories that are words."""
    if classes.dtype.kind != "U" or any(text.isdecimal() for text in classes.tolist()):
        return False
    counted, found = range(len(classes)), set(labels)
    return 0 in found and all(not isinstance(label, str) and label in counted for label in found)


def label_array(values: Any, name: str = "y") -> NDArray[Any]:
    """A sequence of labels as a 1-d array of numbers, strings or, failing that, objects; none missing."""
    # Without a NumPy dtype, NumPy would choose one: [1, "a"] would become ["1", "a"], an Int64 NA a NaN.
    has_numpy_dtype = isinstance(getattr(values, "dtype", None), np.dtype)
    array = np.asarray(values) if has_numpy_dtype else np.asarray(values, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_column_vector(name)
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array or list with one label per entry; got {type(values).__name__} "
            f"of shape {array.shape}."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty; give at least one label.")
    array = _natural_dtype(array)
    _reject_unusable(array, name)
    return array


def _single_column(y: Any) -> Any:
    """The column of a one-column data frame: as an array it would lose the order its dtype carries."""
    columns = getattr(y, "columns", None)
    if columns is None or len(columns) != 1:
        return y
    _warn_column_vector("y")
    return y[columns[0]]


def _warn_column_vector(name: str) -> None:
    message = f"A column-vector {name} was passed when a 1d array was expected; its single column is used."
    warnings.warn(message, DataConversionWarning, stacklevel=caller_level())


def _natural_dtype(array: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all numbers, or all strings, in the dtype NumPy has for them."""
    if array.dtype.kind not in "OT":  # T: NumPy 2's strings of variable length
        return array
    labels = array.tolist()
    is_uniform = all(isinstance(v, str) for v in labels) or all(isinstance(v, _NUMBER_TYPES) for v in labels)
    return np.asarray(labels) if is_uniform else array.astype(object)


def _reject_unusable(array: NDArray[Any], name: str) -> None:
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} holds complex numbers, which have no order.")
    if kind == "O" and not all(isinstance(v, Hashable) for v in array):
        raise TypeError(f"{name} holds labels of type {_types(array)}; give one number or string per entry.")
    missing = sum(map(_is_missing, array)) if kind == "O" else np.count_nonzero(array != array)
    if missing:
        raise ValueError(
            f"{name} contains missing labels (None, NaN, NaT or NA) in {missing} of {len(array)} entries; "
            "drop those entries or give them a label."
        )
    if kind == "f" and np.isinf(array).any():
        raise ValueError(f"{name} contains infinity; labels have to be finite: replace or drop it.")


def _is_missing(label: Any) -> bool:
    """None, pandas' NA (whose comparisons are NA again) or anything unequal to itself."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


@contextmanager
def order_is_told() -> Iterator[None]:
    """Give no warning of the sorted order of strings in this block: a fit to the same labels has given it."""
    token = _HAS_TOLD_ORDER.set(True)
    try:
        yield
    finally:
        _HAS_TOLD_ORDER.reset(token)


def _ranks_by_value(labels: NDArray[Any]) -> Ranks:
    """The distinct labels in ascending order: numbers by value, strings by the alphabet."""
    if labels.dtype.kind == "U":
        ranks = _distinct(labels)
        if _HAS_TOLD_ORDER.get():
            return ranks
        order = _listed(ranks.classes.tolist(), " < ")
        message = f"y holds strings with no order of their own; the sorted order was assumed: {order}. "
        warnings.warn(f"{message}To set the order, {_HOW_TO_ORDER}.", UserWarning, stacklevel=caller_level())
        return ranks
    if labels.dtype.kind not in "biuf":
        raise TypeError(f"y holds labels with no order, of type {_types(labels)}; {_HOW_TO_ORDER}.")
    ranks = _distinct(labels)
    try:
        if not _clearly_classes(labels, ranks.classes):
            check_classification_targets(labels)
    except ValueError as error:
        remedy = "If these numbers are ranks, list them in categories, lowest first."
        raise ValueError(f"{error} {remedy}") from None
    return ranks


def _distinct(labels: NDArray[Any]) -> Ranks:
    """The distinct labels in ascending order, and which of them every sample has."""
    if labels.dtype.kind == "i":
        least, most = int(labels.min()), int(labels.max())
        if most - least <= 2 * len(labels):  # counted, not sorted
            above = labels - least if labels.dtype == np.int64 else labels.astype(np.int64) - least
            is_there = np.bincount(above) > 0
            classes = np.flatnonzero(is_there) + least
            return Ranks(classes.astype(labels.dtype, copy=False), (is_there.cumsum() - 1)[above])
    classes, codes = np.unique(labels, return_inverse=True)
    return Ranks(classes, codes.astype(np.int64, copy=False))


def _clearly_classes(labels: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Whole numbers or strings, each of them twice on average: they need no check by scikit-learn, which takes a fifth
    of a millisecond."""
    whole = labels.dtype.kind != "f" or bool(np.all(classes == np.floor(classes)))
    return whole and 2 * len(classes) <= len(labels)


def _require_two_classes(present: NDArray[Any], estimator_name: str) -> None:
    if len(present) < 2:
        raise ValueError(
            f"{estimator_name} needs at least two classes; y contains only one class: {_listed(present.tolist())}. "
            "Give samples of another class too."
        )


def _types(array: NDArray[Any]) -> str:
    return " and ".join(sorted({type(label).__name__ for label in array}))


def _listed(labels: Iterable[Any], separator: str = ", ", limit: int = 10) -> str:
    """The labels as a reader would type them; a long list is cut."""
    shown = [repr(label) for label in labels]
    return separator.join(shown[:limit] + ["..."] * (len(shown) > limit))
