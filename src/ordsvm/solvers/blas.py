"""The threads of BLAS and LAPACK, as NumPy and SciPy call them."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

MANY_ROWS = 1000  # of a matrix, for one thread to take more than a hundredth of a second to factor it


def threads_for(n_rows: int, n_threads: int) -> int:
    """One for small matrices: several wait for each other where other work has the cores, up to a second a factor of
    336 rows, which takes one of them 2 ms."""
    return n_threads if n_rows >= MANY_ROWS else 1


def blas_threads(n_threads: int) -> AbstractContextManager[object]:
    """Limits them: idle ones go on spinning and take a core. Only the main thread can change their number."""
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _libraries().limit(limits=n_threads, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes a millisecond
