"""Cholesky factors of a stack of matrices, block by block: nearly all of the work is products of stacks of matrices,
which a GPU does at its full rate. Blocks on the diagonal are halved until they are small, since a GPU factors and
substitutes at a far lower one."""

from __future__ import annotations

from ordsvm.array_library import Array, ArrayLibrary

BLOCK = 512
LEAF = 128  # rows of what is factored by the library


class StackedCholesky:
    """LL' = A for every A of a stack (p, n, n), which is overwritten by L; NaN where one has none."""

    def __init__(self, library: ArrayLibrary, matrices: Array, block: int = BLOCK, leaf: int = LEAF) -> None:
        self._lower, self._inverses = matrices, []
        n = matrices.shape[-1]
        self._parts = [slice(i, min(i + block, n)) for i in range(0, n, block)]
        for part in self._parts:
            before, below = slice(0, part.start), slice(part.stop, n)
            if part.start:
                from_here = slice(part.start, n)
                matrices[:, from_here, part] -= matrices[:, from_here, before] @ _transposed(matrices[:, part, before])
            inverse = _inverse_of_factor(library, matrices[:, part, part], leaf)
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


def _inverse_of_factor(library: ArrayLibrary, matrices: Array, leaf: int) -> Array:
    """L⁻¹ of every matrix: by those of its halves, and products."""
    n = matrices.shape[-1]
    if n <= leaf:
        return library.inverse_of_lower(library.cholesky_or_nan(matrices))
    half = n // 2
    first = _inverse_of_factor(library, matrices[:, :half, :half], leaf)
    below = matrices[:, half:, :half] @ _transposed(first)
    second = _inverse_of_factor(library, matrices[:, half:, half:] - below @ _transposed(below), leaf)
    inverse = library.zeros(*matrices.shape)
    inverse[:, :half, :half], inverse[:, half:, half:] = first, second
    inverse[:, half:, :half] = -(second @ (below @ first))
    return inverse


def _transposed(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)
