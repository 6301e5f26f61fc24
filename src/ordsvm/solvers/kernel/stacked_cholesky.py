"""Cholesky factors of a stack of matrices, block by block: nearly all of the work is products of stacks of matrices,
which a GPU does at its full rate. Blocks on the diagonal are halved until they are small, since a GPU factors and
substitutes at a far lower one."""

from __future__ import annotations

from ordsvm.array_library import Array, ArrayLibrary

BLOCK = 512
LEAF = 64  # rows of what is factored at once: two blocks of fused_stacks.py


class StackedCholesky:
    """LL' = A for every A of a stack (p, n, n), which is overwritten by L but for the blocks on its diagonal; NaN where
    one has none. Nothing above the diagonal is read."""

    def __init__(self, library: ArrayLibrary, matrices: Array, block: int = BLOCK, leaf: int = LEAF) -> None:
        self._library = library
        n = matrices.shape[-1]
        self._parts = [slice(i, min(i + block, n)) for i in range(0, n, block)]
        self._inverses: list[Array] = []
        self._below: list[Array] = []  # the blocks on the diagonal, in L
        for part in self._parts:
            here = matrices[:, :, part]
            if part.start:
                before = matrices[:, part.start :, : part.start]
                own = before[:, : part.stop - part.start]
                library.add_product(here[:, part.start :], before, _transposed(own), -1.0)
            diagonal, below = here[:, part], here[:, part.stop :]
            inverse = _inverses_of_factors(library, diagonal, leaf)
            if part.stop < n:
                below[...] = library.matmul(below, _transposed(inverse))
            self._inverses.append(inverse)
            self._below.append(below)

    def solve(self, right: Array) -> Array:
        """X of AX = right for stacks (p, n, k)."""
        library = self._library
        x, y = 1.0 * right, 0.0 * right
        each = list(zip(self._parts, self._inverses, self._below, strict=True))
        for part, inverse, below in each:
            library.matmul(inverse, x[:, part], y[:, part])
            if below.shape[1]:
                library.add_product(x[:, part.stop :], below, y[:, part], -1.0)
        for part, inverse, below in reversed(each):
            if below.shape[1]:
                library.add_product(y[:, part], _transposed(below), x[:, part.stop :], -1.0)
            library.matmul(_transposed(inverse), y[:, part], x[:, part])
        return x


def inverse_of_factor(library: ArrayLibrary, matrix: Array) -> Array:
    """L⁻¹ for A = LL', of which nothing above the diagonal is read; NaN in it where A is not positive definite, which
    is not waited for."""
    return library.inverse_of_lower(library.cholesky_or_nan(matrix[None])[0])


def _inverses_of_factors(library: ArrayLibrary, matrices: Array, leaf: int) -> Array:
    """The same for every matrix of a stack, which may be overwritten."""
    if library.fuses and len(matrices) == 1:
        return inverse_of_factor(library, matrices[0])[None]
    inverse = library.zeros(*matrices.shape)
    _invert_factors(library, matrices, inverse, leaf)
    return inverse


def _invert_factors(library: ArrayLibrary, matrices: Array, inverse: Array, leaf: int) -> None:
    """By those of two parts, and products, into an array of 0; the second part of the matrices is overwritten."""
    n = matrices.shape[-1]
    if n <= leaf:
        _invert_leaf(library, matrices, inverse)
        return
    half = leaf * (-(-n // leaf) // 2)
    first, second = inverse[:, :half, :half], inverse[:, half:, half:]
    _invert_factors(library, matrices[:, :half, :half], first, leaf)
    below = library.matmul(matrices[:, half:, :half], _transposed(first))
    rest = matrices[:, half:, half:]
    library.add_product(rest, below, _transposed(below), -1.0)
    _invert_factors(library, rest, second, leaf)
    library.add_product(inverse[:, half:, :half], second, library.matmul(below, first), -1.0)


def _invert_leaf(library: ArrayLibrary, matrices: Array, inverse: Array) -> None:
    if library.fuses:
        from ordsvm.solvers.kernel.fused_stacks import invert_factors

        invert_factors(matrices, inverse)
    else:
        inverse[...] = library.inverse_of_lower(library.cholesky_or_nan(matrices))


def _transposed(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)
