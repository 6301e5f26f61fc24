"""Columns of a table as numbers: what was learned about each, and how it turns cells into features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from ordsvm._typing import Floats
from ordsvm.checks import caller_level
from ordsvm.tables.reading import TableError, import_pandas, row_number

MOST_ODD = 0.1  # share of cells that are no numbers in what may be a column of numbers


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, made to have mean 0 and standard deviation 1; the median takes the place of missing ones."""

    name: str
    median: float
    mean: float
    deviation: float

    @classmethod
    def learn(cls, name: str, cells: Any) -> Self:
        values = _numbers(name, cells)
        known = values[~np.isnan(values)]
        median = float(np.median(known)) if len(known) else 0.0
        filled = np.where(np.isnan(values), median, values)
        deviation = float(filled.std())
        mean = float(filled.mean())
        return cls(name, median, mean, deviation if deviation > 1e-12 * abs(mean) else 1.0)

    @classmethod
    def learn_all(cls, names: Sequence[str], values: Floats) -> list[Self]:
        """The same of many columns at once, the rows of an array without missing or infinite values."""
        median, mean, deviation = np.median(values, axis=1), values.mean(axis=1), values.std(axis=1)
        deviation[deviation <= 1e-12 * np.abs(mean)] = 1.0
        return list(map(cls, names, median.tolist(), mean.tolist(), deviation.tolist()))

    def features(self, cells: Any) -> Floats:
        values = _numbers(self.name, cells)
        return ((np.where(np.isnan(values), self.median, values) - self.mean) / self.deviation)[:, np.newaxis]

    def feature_names(self) -> list[str]:
        return [self.name]


@dataclass(frozen=True)
class CategoryColumn:
    """Names, a feature for each, 1 where the cell holds it; a missing or unknown one has 0 in all of them."""

    name: str
    values: tuple[str, ...]

    @classmethod
    def learn(cls, name: str, cells: Any) -> Self:
        return cls(name, tuple(sorted({str(cell) for cell in cells[cells.notna()]})))

    def features(self, cells: Any) -> Any:
        position = {value: i for i, value in enumerate(self.values)}
        codes = np.array([position.get(str(cell), -1) for cell in cells.tolist()], dtype=np.int64)
        codes[cells.isna().to_numpy()] = -1
        known = np.flatnonzero(codes >= 0)
        shape = (len(codes), len(self.values))
        return sp.csr_array((np.ones(len(known)), (known, codes[known])), shape=shape)

    def feature_names(self) -> list[str]:
        return [f"{self.name}={value}" for value in self.values]


@dataclass(frozen=True)
class TextColumn:
    """Text as TF-IDF of its words and pairs of words, those that two texts at least have in common."""

    name: str
    words: tuple[str, ...]
    idf: Floats
    longest: int = 2  # words in a row that count as one

    @classmethod
    def learn(cls, name: str, cells: Any) -> Self:
        vectorizer = TfidfVectorizer(ngram_range=(1, cls.longest), min_df=2, sublinear_tf=True)
        try:
            vectorizer.fit(_texts(cells))
        except ValueError:
            raise TableError(f"No word of column {name!r} is in two rows: drop the column.") from None
        return cls(name, tuple(vectorizer.get_feature_names_out().tolist()), vectorizer.idf_)

    def features(self, cells: Any) -> Any:
        vectorizer = TfidfVectorizer(ngram_range=(1, self.longest), sublinear_tf=True, vocabulary=list(self.words))
        vectorizer.idf_ = self.idf
        return vectorizer.transform(_texts(cells))

    def feature_names(self) -> list[str]:
        return [f"{self.name}: {word}" for word in self.words]


def plain_numbers(frame: Any, names: Sequence[Any]) -> tuple[list[Any], Floats]:
    """Those of the columns that hold finite numbers only, in NumPy's types, and their values, one column a row.

    Column by column, pandas takes a tenth of a millisecond for each of several steps.
    """
    wanted = set(names) if len(frame) else set()
    plain = [
        name
        for name, dtype in zip(frame.columns.tolist(), frame.dtypes.tolist(), strict=True)
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and name in wanted
    ]
    part = frame if len(plain) == len(frame.columns) else frame[plain]
    values = np.ascontiguousarray(part.to_numpy(dtype=np.float64).T)
    finite = np.isfinite(values).all(axis=1)
    if finite.all():
        return plain, values
    return [name for name, good in zip(plain, finite.tolist(), strict=True) if good], values[finite]


Column = NumberColumn | CategoryColumn | TextColumn


def learn_column(name: str, cells: Any, is_text: bool) -> Column:
    """The column by what its cells are."""
    types = import_pandas().api.types
    if is_text:
        return TextColumn.learn(name, cells)
    if types.is_bool_dtype(cells.dtype) or types.is_numeric_dtype(cells.dtype):
        return NumberColumn.learn(name, cells)
    if types.is_datetime64_any_dtype(cells.dtype):
        raise TableError(f"Column {name!r} holds dates, which are neither numbers nor names: drop or convert it.")
    n_values, odd = cells.nunique(), _odd_cell(name, cells)
    if n_values > max(50, len(cells) // 10):
        raise TableError(
            f"{odd}: correct it, or leave the cell empty."
            if odd
            else f"Column {name!r} holds {n_values} different values in {len(cells)} rows, too many for names: give "
            f"--text {name} if it is text, or --drop {name}."
        )
    if odd:
        remedy = "It is read as names: where it is to be numbers, leave such cells empty."
        warnings.warn(f"{odd}. {remedy}", UserWarning, stacklevel=caller_level())
    return CategoryColumn.learn(name, cells)


def _odd_cell(name: str, cells: Any) -> str:
    """What is no number in a column of numbers, in words; nothing where the column is not about numbers."""
    is_known = cells.notna().to_numpy()
    is_number = np.isfinite(
        import_pandas().to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    )
    odd = np.flatnonzero(is_known & ~is_number)
    if len(odd) == 0 or len(odd) > MOST_ODD * np.count_nonzero(is_known):
        return ""
    number, place = min((row_number(cells, i), i) for i in odd.tolist())
    return (
        f"Column {name!r} holds numbers in {np.count_nonzero(is_number):,} of {len(cells):,} rows, but "
        f"{cells.tolist()[place]!r} in data row {number}"
    )


def _numbers(name: str, cells: Any) -> Floats:
    pandas = import_pandas()
    values = pandas.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(np.isnan(values) & cells.notna().to_numpy() | np.isinf(values))
    if len(bad):
        number, place = min((row_number(cells, i), i) for i in bad.tolist())
        raise TableError(
            f"Column {name!r} holds {cells.tolist()[place]!r} in data row {number}, where a number belongs: correct it "
            "or leave the cell empty."
        )
    return values


def _texts(cells: Any) -> list[str]:
    return ["" if missing else str(cell) for cell, missing in zip(cells.tolist(), cells.isna(), strict=True)]
