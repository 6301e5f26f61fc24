"""Sparse rows on a device, which holds them as dense ones: whether there is room, and a block at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from ordsvm.array_library import Array
from ordsvm.torch_library import TorchLibrary

BYTES_OF_VALUE = 28  # on a device: float64 twice, and two parts in float16
BLOCK_VALUES = 2**24  # made dense at a time
MEMORY_FACTS = Path("/proc/meminfo")


def dense_on(library: TorchLibrary, samples: Any) -> Array:
    """Samples on a device in float64; only blocks of sparse ones are dense on the host."""
    if not sp.issparse(samples):
        return library.array(samples)
    rows_with_room(library, *samples.shape)
    there = library.zeros(*samples.shape)
    step = max(1, BLOCK_VALUES // max(1, samples.shape[1]))
    for begin in range(0, samples.shape[0], step):
        there[begin : begin + step] = library.array(samples[begin : begin + step].toarray())
    return there


def rows_with_room(library: TorchLibrary, n_rows: int, n_features: int) -> float:
    """How many more rows than these a device has room for as dense ones; refuses these if it has too little."""
    of_row = BYTES_OF_VALUE * max(1, n_features)
    free = free_bytes(library)
    if n_rows * of_row > free:
        raise MemoryError(
            f"device={library.name!r} holds rows as dense ones: {n_rows:,} sparse rows of {n_features:,} features need "
            f"about {n_rows * of_row / 2**30:.2g} GB there, and {free / 2**30:.2g} GB are free. Give device='cpu', "
            "which keeps rows sparse, or make fewer features, with TruncatedSVD or by hashing."
        )
    return free / of_row - n_rows


def free_bytes(library: TorchLibrary) -> float:
    """Of the device; of the host's memory where that is the device. Infinite where it is not known."""
    free = library.free_memory()
    if not math.isnan(free):
        return free
    if library.device.type == "cpu" and MEMORY_FACTS.exists():
        for line in MEMORY_FACTS.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
    return math.inf
