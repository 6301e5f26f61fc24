"""Findings about columns: scales that differ widely, and columns that only number the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm.diagnosis.parts import column_ranges
from ordsvm.findings import Finding, listed
from ordsvm.kernels.arrays import compact

WIDEST = 100.0  # times the least range, up to which columns count as scaled alike
FEWEST_ROWS = 20  # from which on an order of all rows is no accident: it has a chance of 2 / 20!
MOST_GAPS = 2.0  # times the number of rows: values of a numbering are that dense, also after some rows were left out
UNEVEN = 3.0  # times the median step, up to which a column in the order of the rows counts them
LOOKED_AT = 1000  # rows, for a first look whether values repeat
WORDS = 0.5  # share of texts of more than one word, from which on a column of texts is no column of names


def unscaled_features(features: Any, names: Sequence[str]) -> Finding | None:
    """Columns whose ranges differ so much that those of small range have next to no weight in distances, or in ‖w‖²."""
    if features is None or features.shape[1] < 2:
        return None
    columns: Any = range(features.shape[1])
    if sp.issparse(features) and features.shape[1] > features.nnz:  # most columns hold nothing
        columns, (features,) = np.unique(features.indices), compact(features)
    ranges = column_ranges(features)
    varying = np.flatnonzero(np.nan_to_num(ranges) > 0)
    if len(varying) < 2:
        return None
    widest, least = varying[np.argmax(ranges[varying])], varying[np.argmin(ranges[varying])]
    ratio = float(ranges[widest] / ranges[least])
    if ratio < WIDEST or _deviate_alike(features, varying):
        return None
    wide, small = names[int(columns[widest])], names[int(columns[least])]
    sentence = (
        f"Features have scales that differ widely: {wide} has a range of {ranges[widest]:.3g}, {small} "
        f"one of {ranges[least]:.3g}, {ratio:,.0f} times less, and counts next to nothing in distances and penalties."
    )
    scaler = "MaxAbsScaler()" if sp.issparse(features) else "StandardScaler()"
    remedy = f"Scale the features: make_pipeline({scaler}, machine)."
    figures = {"widest": wide, "least": small, "ratio": ratio}
    return Finding("unscaled-features", sentence, remedy, figures)


def _deviate_alike(features: Any, varying: NDArray[np.intp]) -> bool:
    """Whether standard deviations are of one scale: a rare 0/1 column has a wide range once it is standardised."""
    if sp.issparse(features):
        return False  # columns with few values are left out already
    deviations = np.nanstd(np.asarray(features, dtype=np.float64), axis=0)[varying]
    return bool(deviations.max() < WIDEST * deviations.min())


def identifier_columns(columns: Mapping[str, Any]) -> Finding | None:
    """Columns with another value in every row, in the order of the rows or densely numbered."""
    if len(columns) < 2:  # one column in order is what a curve is fitted to
        return None
    found = [name for name, values in columns.items() if numbers_rows(values)]
    if not found:
        return None
    verb, them = ("have", "them") if len(found) > 1 else ("has", "it")
    sentence = (
        f"Like an identifier, {listed(found)} {verb} another value in every row, in the order of the rows or numbered "
        "without gaps, which tells training rows apart and says nothing about new ones."
    )
    return Finding(
        "identifier-column", sentence, f"Leave {them} out: X.drop(columns={found[:3]!r}).", {"columns": found}
    )


def numbers_rows(values: NDArray[Any]) -> bool:
    """Whether the values of a column are like numbers or names of the rows."""
    n = len(values)
    if n < FEWEST_ROWS:
        return False
    if values.dtype.kind in "OUT":
        return _names_rows(values)
    if values.dtype.kind not in "iufM":
        return False
    numbers = values.astype(np.int64 if values.dtype.kind == "M" else np.float64).astype(np.float64)
    if not np.all(np.isfinite(numbers)) or len(np.unique(numbers[:LOOKED_AT])) < min(n, LOOKED_AT):
        return False
    steps = np.diff(numbers)
    if np.all(steps > 0) or np.all(steps < 0):  # evenly, or else rows may have been sorted by it
        sizes = np.abs(steps)
        return bool(np.all(numbers == np.round(numbers)) or sizes.max() <= UNEVEN * np.median(sizes))
    gaps = np.diff(np.sort(numbers))
    least = float(gaps.min())
    if not least > 0 or gaps.sum() >= MOST_GAPS * n * least:
        return False
    return bool(np.all(np.abs(gaps / least - np.round(gaps / least)) < 1e-3))


def _names_rows(values: NDArray[Any]) -> bool:
    """Texts of one word each, all different."""
    first = values[:LOOKED_AT].tolist()
    if not all(isinstance(text, str) for text in first) or len(set(first)) < len(first):
        return False
    several = sum(len(text.split()) > 1 for text in first) / len(first)
    return several < WORDS and len(set(values.tolist())) == len(values)
