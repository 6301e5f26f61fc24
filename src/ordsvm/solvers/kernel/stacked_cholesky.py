"""Cholesky factors of a stack of matrices, block by block: nearly all of the work is products of stacks of matrices,
which a GPU does at its full rate."""

from __future__ import annotations

import numpy as np

from ordsvm.array_library import Array, ArrayLibrary

BLOCK = 512


class StackedCholesky:
    """LL' = A for every A of a stack (p, n, n), which is overwritten by L; LinAlgError where one has none."""

    def __init__(self, library: ArrayLibrary, matrices: Array, block: int = BLOCK) -> None:
        self._lower, self._inverses = matrices, []
        n = matrices.shape[-1]
        self._parts = [slice(i, min(i + block, n)) for i in range(0, n, block)]
        for part in self._parts:
            before, below = slice(0, part.start), slice(part.stop, n)
            if part.start:
                from_here = slice(part.start, n)
                matrices[:, from_here, part] -= matrices[:, from_here, before] @ _transposed(matrices[:, part, before])
            lower = library.cholesky(matrices[:, part, part])
            if lower is None:
                raise np.linalg.LinAlgError("A matrix of the stack is not positive definite.")
            inverse = library.inverse_of_lower(lower)
            self._inverses.append(inverse)
            if part.stop < n:
                matrices[:, below, part] = matrices[:, below, part] @ _transposed(inverse)

    def solve(self, right: Array) -> Array:
        """X of AX = right for stacks (p, n, k)."""
        x = 1.0 * right
        for part, inverse in zip(self._parts, self._inverses, strict=True):
            x[:, part] = inverse @ x[:, part]
            x[:, part.stop :] -= self._lower[:, part.stop :, part] @ x[:, part]
        for part, inverse in zip(reversed(self._parts), reversed(self._inverses), strict=True):
            x[:, part] -= _transposed(self._lower[:, part.stop :, part]) @ x[:, part.stop :]
            x[:, part] = _transposed(inverse) @ x[:, part]
        return x


def _transposed(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)
