"""BLAS where the address space is limited (`ulimit -v`): it gets its buffers before the data get theirs.

OpenBLAS allocates them at its first product, and ends the process where it can't. NumPy and SciPy bring one each.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import blas

try:
    import resource
except ImportError:  # not a system with such limits
    resource = None  # type: ignore[assignment]

BUFFERS = 100 << 20  # bytes for both
ORDER = 400  # of matrices whose product takes every thread


def make_buffers() -> None:
    """Has BLAS allocate what it needs, if memory is limited; raises MemoryError where there is too little left."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource is not None else -1
    if resource is None or limit == resource.RLIM_INFINITY:
        return
    left = limit - _size()
    if left < BUFFERS:
        raise MemoryError(
            f"The limit of this process's memory leaves {max(0, left) >> 20} MB, too little for BLAS, which would end "
            "it: raise the limit (ulimit -v)."
        )
    square = np.ones((ORDER, ORDER))
    square @ square
    blas.dgemm(1.0, square, square)


def _size() -> int:
    """Bytes of the address space in use; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
