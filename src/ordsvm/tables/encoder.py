"""TableEncoder: a data frame in, features out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ordsvm.conventions import linked, read_only
from ordsvm.tables.columns import CategoryColumn, Column, NumberColumn, TextColumn, learn_column, plain_numbers
from ordsvm.tables.reading import TableError, with_texts_as_names

if TYPE_CHECKING:
    from pandas import DataFrame

MANY = 1000  # features of names; from here on rows are sparse, as they are with text


def _named(X: Any) -> Any:
    """Return a data frame of pandas with texts for names; raise TableError for anything else."""
    if hasattr(X, "columns") and hasattr(X, "to_pandas"):
        raise TableError(f"X is a {type(X).__module__.split('.')[0]} data frame: give one of pandas, X.to_pandas().")
    if not hasattr(X, "columns") or not hasattr(X, "iloc"):
        raise TableError(f"A {type(X).__name__} has no named columns: give a pandas data frame.")
    return with_texts_as_names(X)


def _dense(block: Any) -> Any:
    return block.toarray() if sp.issparse(block) else block


@linked
class TableEncoder(TransformerMixin, BaseEstimator):
    """Features of the columns of a pandas data frame.

    Numbers are standardised, categories become one feature each, named columns of text become TF-IDF of their words.
    Missing numbers are replaced by the median of the column; a missing or unknown category has 0 in all features.
    Names of columns are texts, as in a file: the columns 0, 1, 2 of ``pd.DataFrame(array)`` are "0", "1", "2", and a
    CSV file with these names has them too.

    Parameters
    ----------
    text : str or sequence of str, default=()
        The column that holds text, or several.

    Attributes
    ----------
    columns_ : tuple of NumberColumn, CategoryColumn or TextColumn
        What was learned about every column.
    sparse_ : bool
        Whether the features are a sparse matrix.

    See Also
    --------
    TableModel : Encoder and model, trained together.
    sklearn.compose.ColumnTransformer : Transformers chosen column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordsvm.tables import TableEncoder
    >>> frame = pd.DataFrame({"size": [1.0, 3.0], "colour": ["red", "blue"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out()
    array(['size', 'colour=blue', 'colour=red'], dtype=object)
    >>> encoder.transform(frame)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """

    columns_: tuple[Column, ...]
    sparse_: bool

    def __init__(self, text: str | Sequence[str] = ()) -> None:
        self.text = text

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns."""
        return read_only(np.array([column.name for column in self.columns_], dtype=object))

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.columns_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.input_tags.two_d_array = False  # but a data frame
        return tags

    def fit(self, X: DataFrame, y: ArrayLike | None = None) -> Self:
        """Learn about every column of a data frame.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)
            The rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        TableEncoder
            The fitted encoder.

        Raises
        ------
        TableError
            Where a column is missing, or holds dates, or too many different names; where two columns have the same
            name, or there is no row.
        """
        X = _named(X)
        text = [str(name) for name in ([self.text] if isinstance(self.text, str) else self.text)]
        missing = [name for name in text if name not in X.columns]
        if missing:
            raise TableError(f"There is no column {missing[0]!r}: the columns are {', '.join(X.columns)}.")
        if not len(X.columns):
            raise TableError("There is no column to learn from: keep one at least.")
        if not len(X):
            raise TableError("X has no rows to learn from: give one at least.")
        plain, values = plain_numbers(X, [name for name in X.columns if name not in text])
        learned = dict(zip(plain, NumberColumn.learn_all(plain, values), strict=True))
        self.columns_ = tuple(
            learned[name] if name in learned else learn_column(name, X[name], name in text) for name in X.columns
        )
        n_names = sum(len(column.values) for column in self.columns_ if isinstance(column, CategoryColumn))
        self.sparse_ = n_names >= MANY or any(isinstance(column, TextColumn) for column in self.columns_)
        if not len(self.get_feature_names_out()):
            raise TableError("The columns hold nothing to learn from: all of their cells are empty.")
        return self

    def transform(self, X: DataFrame) -> Any:
        """Make features of the rows.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)
            Rows with the columns that were learned about; others are ignored.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features)
            The features.

        Raises
        ------
        TableError
            Where a column is missing, or a cell of a column of numbers is none.
        """
        check_is_fitted(self)
        X = _named(X)
        missing = [column.name for column in self.columns_ if column.name not in X.columns]
        if missing:
            raise TableError(
                f"The data lack the column {missing[0]!r}, which the model was trained with: give all of "
                f"{', '.join(column.name for column in self.columns_)}."
            )
        blocks = self._blocks(X)
        if self.sparse_:
            return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
        return np.ascontiguousarray(np.hstack([_dense(block) for block in blocks]))

    def _blocks(self, X: Any) -> list[Any]:
        """Features of the columns in order; runs of plain numbers are one block."""
        plain, values = plain_numbers(X, [column.name for column in self.columns_ if isinstance(column, NumberColumn)])
        place = {name: number for number, name in enumerate(plain)}
        blocks: list[Any] = []
        for is_plain, run in groupby(self.columns_, lambda column: column.name in place):
            columns = list(run)
            if not is_plain:
                blocks += [column.features(X[column.name]) for column in columns]
                continue
            mean, deviation = (
                np.array([getattr(column, name) for column in columns]) for name in ("mean", "deviation")
            )
            cells = values[[place[column.name] for column in columns]]
            blocks.append(((cells - mean[:, np.newaxis]) / deviation[:, np.newaxis]).T)
        return blocks

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for every feature.

        Parameters
        ----------
        input_features : object, default=None
            Ignored: the names are those of the data frame that was given to `fit`.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        return np.array([name for column in self.columns_ for name in column.feature_names()], dtype=object)
