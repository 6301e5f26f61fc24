"""Scores of new samples on a device, a row block at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.devices import TensorRows
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import Precomputed
from ordsvm.kernels.products.dense_rows import dense_on, rows_with_room
from ordsvm.kernels.products.on_torch import torch_products
from ordsvm.torch_library import TorchLibrary, torch_library

BLOCK_ROWS = 2**18
BLOCK_FEATURES = 2**28  # of all rows of a block
LEAST_VALUES = 10**8  # of the kernel, from which on a device is faster than a few threads


def is_worth_a_device(X: Any, support: Any) -> bool:
    return bool(X.shape[0] * support.shape[0] >= LEAST_VALUES)


def device_scores(device: str, kernel: Kernel, X: Any, support: Any, beta: Floats) -> Floats:
    """k(X, support) @ beta, as `Kernel.scores`; X may be a tensor.

    As there, values between samples in float32 are computed with about that precision, and others in float64, those of
    rows far out by differences. No score depends on the other rows of X.
    """
    if len(beta) == 0 or X.shape[0] == 0:
        return np.zeros((X.shape[0], *beta.shape[1:]))
    samples = X.tensor if isinstance(X, TensorRows) else X
    library = torch_library(device) if samples is X else TorchLibrary(str(samples.device))
    weights = library.array(beta.reshape(len(beta), -1))
    rows = _rows_of_block(library, samples, support)
    parts, begin = [], 0
    while begin < X.shape[0]:
        try:
            with library.current():
                parts.append(_block_scores(library, kernel, samples[begin : begin + rows], support, weights))
            begin += rows
        except library.out_of_memory as error:
            rows = library.less_than(rows, error)
    return library.host(library.join(parts)).reshape(X.shape[0], *beta.shape[1:])


def _rows_of_block(library: TorchLibrary, samples: Any, support: Any) -> int:
    """At a time; fewer where sparse ones, dense on the device, have no room beside the support vectors."""
    rows = max(1, min(BLOCK_ROWS, BLOCK_FEATURES // max(1, samples.shape[1])))
    if not (sp.issparse(samples) or sp.issparse(support)):
        return rows
    room = rows_with_room(library, support.shape[0] + 1, samples.shape[1])
    return int(min(rows, 1 + room / 2))


def _block_scores(library: TorchLibrary, kernel: Kernel, block: Any, support: Any, weights: Array) -> Array:
    if isinstance(kernel, Precomputed):
        return library.array(block)[:, library.index(support)] @ weights
    n, is_single = block.shape[0], "float32" in str(block.dtype) and support.dtype == np.float32
    both = library.join([dense_on(library, block), dense_on(library, support)])
    products = torch_products(library, kernel, both, reference=slice(n, None))
    columns = products.rows(library.span(n, len(both)))
    product = products.product if is_single else products.exact_product
    scores = _scores_by(library, partial(product, products.first(n), columns), weights)
    better = [(products.beyond_norms(n), products.product_by_differences)]
    if is_single:
        better.insert(0, (products.far(n), products.exact_product))
    for rows, product in better:
        if len(rows) > 0:
            scores[rows] = _scores_by(library, partial(product, products.rows(rows), columns), weights)
    return scores


def _scores_by(library: TorchLibrary, product: Callable[[Array], Array], weights: Array) -> Array:
    """A column for every one of the weights."""
    return library.join([product(weights[:, k].contiguous())[:, None] for k in range(weights.shape[1])], axis=1)
