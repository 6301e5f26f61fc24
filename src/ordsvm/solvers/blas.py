"""The threads of BLAS and LAPACK, as NumPy and SciPy call them."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController


def blas_threads(n_threads: int) -> AbstractContextManager[object]:
    """Limits them: idle ones go on spinning and take a core. Only the main thread can change their number."""
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _libraries().limit(limits=n_threads, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes a millisecond
