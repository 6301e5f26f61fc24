"""What a checkpoint is of: parameters in words that are the same in every process, and digests of arrays."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

LONGEST = 120  # characters of a description; a digest stands for the rest
# Parameters that do not change what a fit ends at: limits, threads, memory and observers.
FREE_TO_CHANGE = frozenset(
    {"callback", "verbose", "n_threads", "n_jobs", "cache_size", "memory_limit", "time_limit", "max_iter", "warm_start"}
)


def digest(*values: Any) -> str:
    """Of arrays, sparse matrices, data frames, row stores, texts or None: differs where one of them does."""
    hasher = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(hasher, value)
    return hasher.hexdigest()


def described(value: Any) -> str:
    """A value in words that name what matters of it, and no address in memory."""
    text = _words(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({digest(text)})"


def parameters_in_words(estimator: Any) -> dict[str, str]:
    """The parameters of an estimator that change what a fit ends at."""
    given = estimator.get_params(deep=False)
    return {name: described(value) for name, value in given.items() if name not in FREE_TO_CHANGE}


def _feed(hasher: Any, value: Any) -> None:
    if value is None or isinstance(value, str):
        hasher.update(repr(value).encode())
    elif isinstance(fingerprint := getattr(value, "fingerprint", None), str):  # of a row store
        hasher.update(fingerprint.encode())
    elif hasattr(value, "columns") and hasattr(value, "items"):  # a data frame
        for name, column in value.items():
            _feed(hasher, str(name))
            _feed(hasher, np.asarray(column))
    elif sp.issparse(value):
        csr = value.tocsr()
        for part in (np.asarray(csr.shape), csr.data, csr.indices, csr.indptr):
            _feed(hasher, part)
    else:
        _feed_array(hasher, np.asarray(value))


def _feed_array(hasher: Any, array: NDArray[Any]) -> None:
    hasher.update(f"{array.dtype.str} {array.shape}".encode())
    if array.dtype.hasobject:
        hasher.update(repr(array.tolist()).encode())
    else:
        hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _words(value: Any) -> str:
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return f"array {digest(value)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_words(key)}: {_words(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_words, value)) + "]"
    if isinstance(value, np.random.RandomState):
        return f"RandomState {digest(repr(value.get_state()))}"
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType | type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params") and not isinstance(value, type):
        return f"{type(value).__name__}({_pairs(parameters_in_words(value))})"
    if is_dataclass(value):
        return f"{type(value).__name__}({_pairs({f.name: _words(getattr(value, f.name)) for f in fields(value)})})"
    if isinstance(value, np.generic):
        return _words(value.item())
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))  # 10.0 is 10
    text = repr(value)
    return text if " at 0x" not in text else f"{type(value).__module__}.{type(value).__qualname__}"


def _pairs(words: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in words.items())


def data_identity(X: Any, rest: str) -> dict[str, str]:
    """Of samples in memory, and of what targets and weights make of them."""
    return {"X": digest(X), "labels, targets, weights or samples held out": rest}
