"""What `fit` of a linear machine takes in place of an array: rows that may be more than memory holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ordsvm.checkpoint import Session
from ordsvm.rows.disk.kept_store import kept_store
from ordsvm.rows.disk.row_store import RowStore


@contextmanager
def training_rows(X: Any, y: Any, sample_weight: Any, session: Session | None = None) -> Iterator[tuple[Any, Any, Any]]:
    """X, y and sample_weight; those of a store where X is one, or can be made one for as long as training takes.

    With the session of a checkpoint the store lies in its folder, and stays there.
    """
    if not is_stream(X):
        yield X, y, sample_weight
        return
    if y is not None or sample_weight is not None:
        raise ValueError("A store, file or iterator brings its own labels and weights: leave out y and sample_weight.")
    if isinstance(X, RowStore):
        yield X, X.y, X.sample_weight
        return
    with _store_of(X, session) as store:
        yield store, store.y, store.sample_weight


def _store_of(X: Any, session: Session | None) -> RowStore:
    if session is not None:
        return kept_store(X, session)
    return RowStore.from_blocks(X) if isinstance(X, Iterator) else RowStore.from_svmlight(X)


def require_rows_in_memory(X: Any) -> None:
    if is_stream(X):
        raise TypeError("Rows to predict or certify have to be in memory: go through them block by block.")


def is_stream(X: Any) -> bool:
    return isinstance(X, RowStore | Iterator | str | os.PathLike)
