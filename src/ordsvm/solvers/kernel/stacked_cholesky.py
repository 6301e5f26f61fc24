"""Cholesky factors of a stack of matrices, block by block: nearly all of the work is products of stacks of matrices,
which a GPU does at its full rate. Blocks on the diagonal are halved until they are small, since a GPU factors and
substitutes at a far lower one."""

from __future__ import annotations

from ordsvm.array_library import Array, ArrayLibrary

BLOCK = 512
LEAF = 64  # rows of what is factored at once: two blocks of fused_stacks.py


class StackedCholesky:
    """LL' = A for every A of a stack (p, n, n), which is overwritten by L; NaN where one has none. Nothing above the
    diagonal is read."""

    def __init__(self, library: ArrayLibrary, matrices: Array, block: int = BLOCK, leaf: int = LEAF) -> None:
        self._library, self._lower, self._inverses = library, matrices, []
        n = matrices.shape[-1]
        self._parts = [slice(i, min(i + block, n)) for i in range(0, n, block)]
        for part in self._parts:
            before, below = slice(0, part.start), slice(part.stop, n)
            if part.start:
                from_here = slice(part.start, n)
                left, right = matrices[:, from_here, before], _transposed(matrices[:, part, before])
                library.add_product(matrices[:, from_here, part], left, right, -1.0)
            inverse = _inverse_of_factor(library, matrices[:, part, part], leaf)
            self._inverses.append(inverse)
            if part.stop < n:
                matrices[:, below, part] = matrices[:, below, part] @ _transposed(inverse)

    def solve(self, right: Array) -> Array:
        """X of AX = right for stacks (p, n, k)."""
        library, x = self._library, 1.0 * right
        for part, inverse in zip(self._parts, self._inverses, strict=True):
            x[:, part] = inverse @ x[:, part]
            library.add_product(x[:, part.stop :], self._lower[:, part.stop :, part], x[:, part], -1.0)
        for part, inverse in zip(reversed(self._parts), reversed(self._inverses), strict=True):
            library.add_product(x[:, part], _transposed(self._lower[:, part.stop :, part]), x[:, part.stop :], -1.0)
            x[:, part] = _transposed(inverse) @ x[:, part]
        return x


def inverse_of_factor(library: ArrayLibrary, matrix: Array) -> Array:
    """L⁻¹ for A = LL', of which nothing above the diagonal is read and which may be overwritten; NaN in it where A is
    not positive definite, which is not waited for."""
    if library.fuses:
        return _inverse_of_factor(library, matrix[None], LEAF)[0]
    return library.inverse_of_lower(library.cholesky_or_nan(matrix[None])[0])


def _inverse_of_factor(library: ArrayLibrary, matrices: Array, leaf: int) -> Array:
    """L⁻¹ of every matrix."""
    inverse = library.zeros(*matrices.shape)
    _invert_factor(library, matrices, inverse, leaf)
    return inverse


def _invert_factor(library: ArrayLibrary, matrices: Array, inverse: Array, leaf: int) -> None:
    """By those of two parts, and products, into an array of 0; the second part of the matrices is overwritten."""
    n = matrices.shape[-1]
    if n <= leaf:
        _invert_leaf(library, matrices, inverse)
        return
    half = leaf * (-(-n // leaf) // 2)
    first, second = inverse[:, :half, :half], inverse[:, half:, half:]
    _invert_factor(library, matrices[:, :half, :half], first, leaf)
    below = matrices[:, half:, :half] @ _transposed(first)
    rest = matrices[:, half:, half:]
    library.add_product(rest, below, _transposed(below), -1.0)
    _invert_factor(library, rest, second, leaf)
    library.add_product(inverse[:, half:, :half], second, below @ first, -1.0)


def _invert_leaf(library: ArrayLibrary, matrices: Array, inverse: Array) -> None:
    if library.fuses:
        from ordsvm.solvers.kernel.fused_stacks import invert_factors

        invert_factors(matrices, inverse)
    else:
        inverse[...] = library.inverse_of_lower(library.cholesky_or_nan(matrices))


def _transposed(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)
