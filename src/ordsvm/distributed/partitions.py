"""Distributed rows as blocks with their labels: dask arrays, data frames, lists of delayed blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.array import Array, concatenate, from_delayed
from dask.delayed import Delayed, delayed
from distributed import Future

from ordsvm.checks import shortened


@dataclass(frozen=True)
class Block:
    """Rows, labels and weights (or None) that are yet to be computed."""

    X: Any
    y: Any
    weight: Any


def blocks_of(X: Any, y: Any, sample_weight: Any = None) -> list[Block]:
    """The blocks of rows with those of labels and weights, if they match as far as their metadata say."""
    rows = _pieces("X", X)
    columns = [None] * len(rows) if y is None else _matching("y", y, X, rows)
    weights = [None] * len(rows) if sample_weight is None else _matching("sample_weight", sample_weight, X, rows)
    return [Block(*parts) for parts in zip(rows, columns, weights, strict=True)]


def _pieces(name: str, data: Any) -> list[Any]:
    if isinstance(data, Array):
        return _chunks(name, data)
    if _is_frame(data):
        return list(data.to_delayed())
    if _is_list(data):
        return list(data)
    raise TypeError(
        f"{name} is {shortened(data) if data is None else type(data).__name__}, which is not distributed: give a dask "
        "array, a dask data frame or a list of delayed blocks; for rows in memory use the estimator of the same name "
        "in ordsvm."
    )


def _chunks(name: str, data: Array) -> list[Any]:
    if data.ndim > 2 or (name == "X" and data.ndim < 2):
        expected = "two" if name == "X" else "one"
        raise ValueError(f"{name} has {data.ndim} dimensions, not {expected}: reshape it.")
    if data.ndim == 2 and data.numblocks[1] > 1:
        raise ValueError(
            f"{name} is divided into {data.numblocks[1]} chunks of columns: a row has to lie in one chunk; use "
            f"{name}.rechunk({{1: -1}})."
        )
    return list(data.to_delayed().ravel())


def _matching(name: str, data: Any, X: Any, rows: list[Any]) -> list[Any]:
    """The pieces of labels or weights: as many as there are of rows and, where sizes are known, of the same sizes."""
    pieces = _pieces(name, data)
    if len(pieces) != len(rows):
        raise ValueError(
            f"X comes in {len(rows)} blocks and {name} in {len(pieces)}: give as many, of the same rows; {_remedy(X)}."
        )
    if isinstance(X, Array) and isinstance(data, Array):
        known = ~(np.isnan(X.chunks[0]) | np.isnan(data.chunks[0]))
        if np.any(np.not_equal(X.chunks[0], data.chunks[0]) & known):
            raise ValueError(
                f"The chunks of X have {_listed(X.chunks[0])} rows and those of {name} {_listed(data.chunks[0])}: use "
                f"{name}.rechunk(X.chunks[0])."
            )
    divisions = [getattr(frame, "divisions", ()) for frame in (X, data)]
    if all(divisions) and not any(None in ends for ends in divisions) and divisions[0] != divisions[1]:
        raise ValueError(
            f"X and {name} are divided at different places of their index: use {name}.repartition(X.divisions), or "
            "take both from one data frame."
        )
    return pieces


def _remedy(X: Any) -> str:
    if isinstance(X, Array):
        return "rechunk one of them"
    if getattr(X, "divisions", None) is not None:
        return "with unknown divisions Dask can't align them, so take both from one data frame"
    return "a list for a list"


def _listed(sizes: Any) -> str:
    shown = [str(size) for size in sizes[:5]]
    return ", ".join(shown + ["..."] * (len(sizes) > 5))


def is_distributed(data: Any) -> bool:
    return isinstance(data, Array) or _is_frame(data) or _is_list(data)


def map_blocks(X: Any, function: Callable[[Any], np.ndarray], n_features: int) -> Any:
    """The function of every block of rows, not computed yet: a dask array, or for a list another list."""
    example = function(np.zeros((1, n_features)))
    pieces = [delayed(_of_rows)(function, example[:0], block) for block in _pieces("X", X)]
    if _is_list(X):
        return pieces
    heights = X.chunks[0] if isinstance(X, Array) else [np.nan] * len(pieces)
    arrays = [
        from_delayed(piece, (height, *example.shape[1:]), meta=example[:0])
        for piece, height in zip(pieces, heights, strict=True)
    ]
    return concatenate(arrays, allow_unknown_chunksizes=True)


def _of_rows(function: Callable[[Any], np.ndarray], nothing: np.ndarray, block: Any) -> np.ndarray:
    return function(block) if block.shape[0] else nothing


def _is_frame(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("npartitions", "divisions", "to_delayed"))


def _is_list(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(item, (Delayed, Future)) for item in data)
