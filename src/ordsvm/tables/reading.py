"""Reads CSV, TSV, Parquet and svmlight files, compressed or not; a bad file gets one sentence."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import warnings
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.atomic_files import readable_name
from ordsvm.checks import caller_level, shortened
from ordsvm.rows.disk.store_files import TemporaryFolder
from ordsvm.rows.svmlight import OPENERS, svmlight_pieces

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
SEPARATORS = {"csv": ",", "tsv": "\t"}
LOOKED_AT = 1000  # cells of a column
ROW_NUMBERS = "data row"  # the name of an index that holds numbers of rows in a file, from 0


class TableError(ValueError):
    """A file, or a column of it, cannot be used as it is."""


@dataclass(frozen=True, eq=False)
class Table:
    """The contents of a file: a data frame, or the rows and labels of an svmlight file.

    Parameters
    ----------
    rows : DataFrame or csr_array of shape (n_rows, n_columns)
        The rows.
    labels : ndarray of shape (n_rows,) or None
        The labels of an svmlight file; None for files with named columns.
    name : str
        The name of the file without its folder; bytes that are not UTF-8 are escapes, as in "caf\\xe9.csv".
    fingerprint : str
        SHA-256 of the file.
    queries : ndarray of shape (n_rows,) or None, default=None
        The query of every row, as `qid:` of an svmlight file has it; None where the file has none.
    """

    rows: Any
    labels: Floats | None
    name: str
    fingerprint: str = field(repr=False)
    queries: Ints | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def has_columns(self) -> bool:
        """Whether columns have names, as in all files but svmlight."""
        return self.labels is None

    def take(self, which: NDArray[Any]) -> Table:
        """Select some of the rows.

        Parameters
        ----------
        which : ndarray of int
            The numbers of the rows.

        Returns
        -------
        Table
            These rows, with the name and the fingerprint of the whole file; the index of a data frame holds their
            numbers there, from 0.
        """
        if self.labels is not None:
            queries = None if self.queries is None else self.queries[which]
            return replace(self, rows=self.rows[which], labels=self.labels[which], queries=queries)
        rows = self.rows.iloc[which]
        if self.rows.index.name != ROW_NUMBERS:
            rows = rows.set_axis(import_pandas().Index(which, name=ROW_NUMBERS))
        return replace(self, rows=rows)


def read(path: str | os.PathLike[str], kind: str | None = None) -> Table:
    """Read a CSV, TSV, Parquet or svmlight file, compressed or not.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : {"csv", "tsv", "parquet", "svmlight"} or None, default=None
        The format; None: by the ending of the name, as in "data.csv.gz".

    Returns
    -------
    Table
        The rows of the file.

    Raises
    ------
    TableError
        Where the file is missing, empty, damaged or of an unknown format.

    See Also
    --------
    TableEncoder : Makes features of the columns.
    TableModel : Encoder and model, trained together.
    ordsvm.RowStore.from_svmlight : Reads svmlight files that are larger than memory.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from ordsvm.tables import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"size": [1.5, 2.5], "grade": ["low", "high"]}).to_csv(f"{folder}/data.csv", index=False)
    ...     table = read(f"{folder}/data.csv")
    >>> len(table), list(table.rows.columns)
    (2, ['size', 'grade'])
    """
    name = os.fspath(path)
    if not Path(path).exists():
        raise TableError(f"There is no file {name!r}: give the name of a file with data.")
    if Path(path).is_dir():
        raise TableError(f"{name!r} is a folder: give the name of a file in it.")
    kind = kind or _kind(path)
    if not Path(path).is_file():
        return _from_pipe(path, kind)
    try:
        rows, labels, queries = _svmlight(path) if kind == "svmlight" else (_frame(path, kind), None, None)
    except TableError:
        raise
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise TableError(f"{name!r} can't be read: {_line(error)}.") from None
    if rows.shape[0] == 0:
        raise TableError(f"{name!r} has no rows: give a file with data.")
    return Table(rows, labels, readable_name(path), _fingerprint(path), queries)


def _from_pipe(path: str | os.PathLike[str], kind: str) -> Table:
    """What can be read once only, such as a pipe, is copied to a file first."""
    with TemporaryFolder("ordsvm-") as folder:
        copy = folder / Path(path).name
        with open(path, "rb") as source, copy.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        try:
            return read(copy, kind)
        except TableError as error:
            raise TableError(str(error).replace(str(copy), os.fspath(path))) from None


def _kind(path: str | os.PathLike[str]) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = FORMATS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise TableError(
            f"The name {os.fspath(path)!r} does not say what the file is: it should end in {', '.join(FORMATS)}, with "
            f"or without {', '.join(COMPRESSED)}, or give --format csv, tsv, parquet or svmlight."
        )
    return kind


def _frame(path: str | os.PathLike[str], kind: str) -> Any:
    pandas = import_pandas()
    name = os.fspath(path)
    try:
        if kind == "parquet":
            return _parquet(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # cells without a column would be left out
            frame = pandas.read_csv(path, sep=_separator(path, kind), low_memory=False, index_col=False)
    except pandas.errors.ParserWarning:
        raise TableError(f"{name!r} has rows with more cells than its first line names: correct that line.") from None
    except ImportError as error:
        raise TableError(f"{name!r} can't be read: {_line(error)}.") from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError, ValueError) as error:
        raise TableError(f"{name!r} is not a readable {kind} file: {_line(error)}; correct it there.") from None
    frame = with_texts_as_names(frame, repr(name))
    _warn_of_decimal_commas(frame, Path(path).name)
    return frame


def _separator(path: str | os.PathLike[str], kind: str) -> str:
    """Of the first line: a CSV file whose line has no comma may have semicolons, or tabs, in their place."""
    names = [str(name) for name in import_pandas().read_csv(path, sep=SEPARATORS[kind], nrows=0).columns]
    others = [sign for sign in (";", "\t") if kind == "csv" and len(names) == 1 and sign in names[0]]
    return others[0] if others else SEPARATORS[kind]


def _warn_of_decimal_commas(frame: Any, name: str) -> None:
    """Columns whose cells are all like 3,14 are words to pandas."""
    for column in frame.columns[[dtype.kind not in "biufM" for dtype in frame.dtypes]]:
        cells = frame[column].iloc[:LOOKED_AT].dropna().astype(str)
        with_comma = cells[cells.str.contains(",")]
        if len(with_comma) and cells.str.fullmatch(r"[-+]?\d+(,\d+)?").all():
            warnings.warn(
                f"Column {column!r} of {name!r} holds numbers with a decimal comma, such as {with_comma.iloc[0]!r}, "
                "which are read as words: write them with a point, as pandas.read_csv(..., decimal=',') and to_csv do.",
                UserWarning,
                stacklevel=caller_level(),
            )


def _parquet(path: str | os.PathLike[str]) -> Any:
    """Parquet compresses its columns itself; a file that was packed once more is unpacked first."""
    openers: dict[str, Any] = {**OPENERS, ".xz": lzma.open}
    opener = openers.get(Path(path).suffix.lower())
    pandas = import_pandas()
    if opener is None:
        return pandas.read_parquet(path)
    with opener(path, "rb") as file:
        return pandas.read_parquet(io.BytesIO(file.read()))


def _svmlight(path: str | os.PathLike[str]) -> tuple[Any, Floats, Ints | None]:
    """All rows at once, with as many features as there are; columns may count from 0 or from 1. Their queries too."""
    try:
        blocks = [block for block, _ in svmlight_pieces(path, with_queries=True)]
    except ValueError as error:
        raise TableError(_line(error)) from None
    if not blocks:
        raise TableError(f"{os.fspath(path)!r} has no rows: give a file with data.")
    rows = sp.vstack([block for block, _, _ in blocks], format="csr")
    n_features = max(1, int(rows.indices.max(initial=0)) + 1)
    rows = sp.csr_array((rows.data.astype(np.float64), rows.indices, rows.indptr), shape=(rows.shape[0], n_features))
    labels = np.concatenate([labels for _, labels, _ in blocks])
    queries = np.concatenate([ids for _, _, ids in blocks])
    if 0 < len(queries) < len(labels):
        raise TableError(
            f"{os.fspath(path)!r} has qid in {len(queries)} of its {len(labels)} rows: give it in all of them, or in "
            "none."
        )
    return rows, labels, queries if len(queries) else None


def with_texts_as_names(frame: Any, given: str = "X") -> Any:
    """Return the data frame with texts for the names of its columns, as files have them: 0 is "0".

    Raises TableError where two columns have the same text for a name.
    """
    names = frame.columns.tolist()
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise TableError(
            f"{given} has {texts.count(twice)} columns of the name {twice!r}: names are compared as texts; "
            "give every column a name of its own."
        )
    return frame if texts == names else frame.set_axis(texts, axis=1)


def column(table: Table, name: str) -> Any:
    """A column by name, or a sentence with the names there are."""
    if name not in table.rows.columns:
        known = ", ".join(map(str, table.rows.columns[:20])) + (", …" if len(table.rows.columns) > 20 else "")
        raise TableError(f"{table.name!r} has no column {name!r}: its columns are {known}.")
    return table.rows[name]


def row_number(cells: Any, place: int) -> int:
    """The number of a row, from 1: in the file that it was taken from, or else in the frame."""
    return int(cells.index[place] if cells.index.name == ROW_NUMBERS else place) + 1


def matching(table: Table, conditions: dict[str, str]) -> Ints:
    """The numbers of the rows in which every named column holds the given value, as text."""
    if conditions and not table.has_columns:
        raise TableError(f"{table.name!r} is an svmlight file, whose columns have no names: leave out the condition.")
    keep = np.ones(len(table), dtype=bool)
    for name, value in conditions.items():
        cells = [str(cell) for cell in column(table, name).tolist()]
        if value not in cells:
            raise TableError(f"No row of {table.name!r} has {name}={value}: it holds {shortened(sorted(set(cells)))}.")
        keep &= np.array([cell == value for cell in cells])
    if not keep.any():
        raise TableError(f"No row of {table.name!r} meets all conditions: give fewer.")
    return np.flatnonzero(keep)


def _fingerprint(path: str | os.PathLike[str]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("Tables need pandas: pip install 'ordsvm[cli]'.") from None
    return pandas
