"""Newton's system by features for many features: H never formed, or added up by BLAS.

The steps of the hinges are the core's (cpp/linear/interior_point), from scores that are products with row blocks of X.
What they give for every row, v, β, pull and push, is added up here.

    H applied   conjugate gradients; a step is a product with H, X'(v∘(Xp)), and so ONE MORE READ OF X each. v of all
                rows is kept. Thresholds are eliminated: S = I + X'diag(Σ_k v_k)X − B E⁻¹ B', B = X'V,
                E = I + diag(Σ_i v_ik).
    H formed    X'diag(v)X is dsyrk of √v·X, a row block at a time: one d × d matrix, whatever the number of threads,
                where the core keeps one for every thread. An iteration costs n d² / 2 products and d³ / 6.

The first iterations apply H, as few steps do there; from the first one whose steps take longer than H would, it is
formed, if all of them together have at most MOST_FORMED² numbers.

Preconditioner   D + X_S'diag(v_S)X_S, S the rows with the largest v‖x‖², D the diagonal of the rest, inverted by
                 Woodbury's formula: towards the end few rows have large v, those near their margin. More rows are in
                 S the more steps the last iteration took.
Accuracy         what conjugate gradients leave, r, is X'β − w after the step, if no α is cut short, and ½‖r‖² is its
                 part of the gap (losses.py). They end where that is a hundredth of the gap at the next τ, 2τ Σc.
Rows left out    none. H without some rows is smaller by at most the sum of their v‖x‖², and it is at least I, so that
                 rows whose sum is at most δ could be left out: the residual grows by at most δ times the direction.
                 But v of a row far from its margins is τc/G²: with δ = 0.01 that is 1 % of the rows and less in the
                 iterations to a gap of 1e-3, and 10 % in those to 1e-6 (benchmark wide, left-out).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.solvers.linear.feature_system import Point, System

WIDE = 1500  # weights from which BLAS adds up H faster than the core, whose panel is then longer than its caches
MOST_FORMED = 5000  # its square: the numbers up to which H of all weight vectors are formed, 200 MB
SUM_BYTES, PRODUCT_BYTES = 32 << 20, 2 << 20  # of row blocks as doubles: for dsyrk, and to be read twice from a cache
HEAVY_ROWS, HEAVY_BY_STEPS = 1000, 20  # of the preconditioner: at most, and for every step of the last iteration
HEAVY_BY_VALUES = 2.0  # times the root of the values of X: their factor is then read as fast as X
DENSE_SHARE = 0.1  # of the values of sparse rows, from which BLAS multiplies them faster
MOST_STEPS = 500  # of conjugate gradients
PRODUCT = 10.0  # what an operation of a product with X costs, in operations of dsyrk: X comes from memory
LEFT_SHARE = 0.01  # of the next gap may be left by conjugate gradients


@dataclass(frozen=True)
class WideRows:
    """X, dense or CSR, with a 1 appended to every row or not, read in row blocks."""

    X: Any
    appends_one: bool

    @property
    def n_weights(self) -> int:
        return int(self.X.shape[1]) + int(self.appends_one)

    @property
    def n_values(self) -> int:
        return int(self.X.nnz) if sp.issparse(self.X) else int(np.prod(self.X.shape))

    @property
    def product_bytes(self) -> int:
        """Return the size of row blocks in a product; sparse rows are one block, as SciPy copies parts of a matrix."""
        return 8 * self.n_weights * self.X.shape[0] if sp.issparse(self.X) else PRODUCT_BYTES

    def blocks(self, n_bytes: int) -> Iterator[tuple[slice, Any]]:
        """In float64."""
        if n_bytes >= 8 * self.n_weights * self.X.shape[0]:
            yield slice(0, self.X.shape[0]), self.X.astype(np.float64, copy=False)
            return
        step = max(32, n_bytes // (8 * self.n_weights))
        for first in range(0, self.X.shape[0], step):
            which = slice(first, min(first + step, self.X.shape[0]))
            yield which, self.X[which].astype(np.float64, copy=False)

    def some(self, numbers: Any, factors: Floats) -> Any:
        """Return these rows, each times a factor; CSR where few of their values are stored."""
        rows = self.X[numbers].astype(np.float64, copy=False)
        if not sp.issparse(rows) or rows.nnz > DENSE_SHARE * np.prod(rows.shape):
            return self.extended(rows.toarray() if sp.issparse(rows) else rows) * factors[:, None]
        if self.appends_one:
            rows = sp.hstack([rows, np.ones((rows.shape[0], 1))])
        return (sp.diags(factors) @ rows).tocsr()

    def extended(self, rows: Any) -> Floats:
        rows = np.asarray(rows, dtype=np.float64)
        return np.hstack([rows, np.ones((len(rows), 1))]) if self.appends_one else rows

    def times(self, block: Any, weights: Floats) -> Floats:
        """Block · weights, (n_rows, n_vectors)."""
        scores = np.asarray(block @ weights[: self.X.shape[1]])
        return scores + weights[-1] if self.appends_one else scores

    def summed(self, block: Any, values: Floats) -> Floats:
        """Block' · values, (n_weights, …)."""
        sums = np.asarray(block.T @ values)
        return np.concatenate([sums, values.sum(axis=0)[None]]) if self.appends_one else sums

    def squares(self, block: Any, values: Floats) -> Floats:
        return self.summed(block.power(2) if sp.issparse(block) else block * block, values)


class WideSystem:
    """What `_core.FeatureSystem` does for rows in memory, but for the sums. `core` has no features."""

    def __init__(self, rows: WideRows, core: _core.FeatureSystem, caps: Floats, has_thresholds: bool) -> None:
        self.rows, self.core, self.caps, self.has_thresholds = rows, core, caps, has_thresholds
        self.n_vectors = len(caps)
        n, d = rows.X.shape[0], rows.n_weights
        forming, product = n * d * (d + 0.0) + d**3 / 3, 4.0 * PRODUCT * max(1, rows.n_values)
        self.break_even = forming / product  # steps of conjugate gradients that take as long as H
        self.most_heavy = min(HEAVY_ROWS, int(HEAVY_BY_VALUES * np.sqrt(rows.n_values)))
        self.may_form, self.forms = self.n_vectors * d * d <= MOST_FORMED**2, False
        self.rows_read = 0
        self.spent = 0.0  # steps of conjugate gradients, and those that take as long as the matrices that were formed
        self.n_steps = [0] * self.n_vectors  # of conjugate gradients, in the last iteration
        self._watch: _core.LinearWatch | None = None
        self._parts: list[_Part] = []

    def begin(self, weights: Floats, change: Floats, thresholds: Floats, steps: Floats) -> None:
        none = np.zeros((self.n_vectors, 0))
        self.core.begin(none, none, thresholds, steps)
        self._weights, self._change = weights.T, change.T
        n, d, m = self.rows.X.shape[0], self.rows.n_weights, thresholds.shape[1] if self.has_thresholds else 0
        self._parts = [_Part(n, d, m, self.forms) for _ in range(self.n_vectors)]

    def add(self, block: _core.RowBlock, first: int, watch: _core.LinearWatch) -> bool:
        """All rows, in blocks of its own."""
        self._watch = watch
        for which, rows in self.rows.blocks(SUM_BYTES):
            if watch.report(0, 0):
                return False
            scores, changes = (self.rows.times(rows, weights) for weights in (self._weights, self._change))
            given = self.core.step_rows(np.ascontiguousarray(scores), np.ascontiguousarray(changes), which.start)
            given = given.reshape(4, -1, scores.shape[0])
            self.rows_read += scores.shape[0]
            for vector, part in enumerate(self._parts):
                own = given if self.has_thresholds else given[:, vector : vector + 1]
                part.add(self.rows, which, rows, own)
        return True

    def accept(self, vector: int) -> None:
        self.core.accept(vector)

    def beta(self) -> Floats:
        return self.core.beta()

    def system(self, vector: int) -> System:
        part, hinges = self._parts[vector], self.core.sums(vector)[2]
        by_alpha, pull, push = part.right_sides()
        if part.forms:
            self.spent += self.break_even
            return System(part.whole_matrix(), by_alpha, pull, push, *hinges)
        n_heavy = min(self.most_heavy, HEAVY_BY_STEPS * (1 + max(self.n_steps)))
        solve = Products(self.rows, part, partial(self._goes_on, vector), n_heavy)
        return ProductSystem(part.diagonal, by_alpha, pull, push, *hinges, solve=solve, caps=float(self.caps[vector]))

    def _goes_on(self, vector: int, n_steps: int) -> bool:
        """Whether conjugate gradients may take another step after so many."""
        self.spent += n_steps > 0  # asked before the first step too
        self.n_steps[vector] = n_steps
        most = min(self.break_even, MOST_STEPS) if self.may_form else MOST_STEPS
        if self.may_form and n_steps >= most:
            self.forms = True  # from the next pass on; this direction is as good as it is
        return n_steps < most and not (self._watch is not None and self._watch.report(0, 0))


class _Part:
    """What a pass adds up for one weight vector."""

    def __init__(self, n: int, d: int, m: int, forms: bool) -> None:
        self.m, self.forms = m, forms
        self.matrix = np.zeros((d, d), order="F") if forms else None
        self.extra = np.zeros((d, m + 3))
        self.columns = np.zeros((4, m))
        self.diagonal = np.ones(d + m)
        self.weight, self.size = (np.zeros(0), np.zeros(0)) if forms else (np.zeros(n), np.zeros(n))

    def add(self, rows: WideRows, which: slice, block: Any, given: Floats) -> None:
        total = given.sum(axis=1)
        v = total[0]
        thresholds = given[0] if self.m else np.zeros((0, len(v)))
        self.extra += rows.summed(block, np.vstack([thresholds, total[1:]]).T)
        if self.m:
            self.columns += given.sum(axis=2)
        if self.forms:
            dense = rows.extended(block.toarray() if sp.issparse(block) else block)
            self.matrix = dsyrk(1.0, (dense * np.sqrt(v)[:, None]).T, beta=1.0, c=self.matrix, overwrite_c=1)
            return
        d = len(self.extra)
        self.diagonal[:d] += rows.squares(block, v)
        squares = block.multiply(block).sum(axis=1) if sp.issparse(block) else np.einsum("ij,ij->i", block, block)
        self.weight[which], self.size[which] = v, v * (np.asarray(squares).ravel() + rows.appends_one)

    def right_sides(self) -> tuple[Point, Floats, Floats]:
        beta, pull, push = self.extra[:, self.m :].T
        whole_pull, whole_push = np.concatenate([pull, -self.columns[2]]), np.concatenate([push, -self.columns[3]])
        return Point(beta, 0.0 - self.columns[1]), whole_pull, whole_push

    def whole_matrix(self) -> Floats:
        """H in the upper triangle."""
        assert self.matrix is not None
        d, m = len(self.extra), self.m
        whole = self.matrix
        if m:
            whole = np.zeros((d + m, d + m), order="F")
            whole[:d, :d] = self.matrix
            whole[:d, d:] = -self.extra[:, :m]
            whole[d:, d:] = np.diag(self.columns[0])
        whole[np.diag_indices(d + m)] += 1.0
        self.matrix = None
        return whole


@dataclass(frozen=True)
class Products:
    """The solution of Newton's system by conjugate gradients."""

    rows: WideRows
    part: _Part
    goes_on: Callable[[int], bool]
    n_heavy: int

    def __call__(self, right: Floats, enough: float) -> Floats:
        """To a residual of at most this length."""
        d, part = len(self.part.extra), self.part
        coupling, own = part.extra[:, : part.m], 1.0 + part.columns[0]
        reduced = right[:d] + coupling @ (right[d:] / own)
        weights = self._gradients(reduced, enough, coupling, own)
        return np.concatenate([weights, (right[d:] + coupling.T @ weights) / own])

    def _gradients(self, right: Floats, enough: float, coupling: Floats, own: Floats) -> Floats:
        precondition = self._preconditioner()
        solution, residual = np.zeros_like(right), right.copy()
        direction, old = np.zeros_like(right), 1.0
        n_steps = 0
        while self.goes_on(n_steps) and float(np.linalg.norm(residual)) > enough:
            n_steps += 1
            better = precondition(residual)
            new = float(residual @ better)
            direction = better + (new / old) * direction
            old = new
            product = self._product(direction) - coupling @ ((coupling.T @ direction) / own)
            step = new / float(direction @ product)
            solution += step * direction
            residual -= step * product
        return solution

    def _product(self, direction: Floats) -> Floats:
        """(I + X'diag(v)X) direction."""
        product = direction.copy()
        for which, block in self.rows.blocks(self.rows.product_bytes):
            product += self.rows.summed(block, self.part.weight[which] * self.rows.times(block, direction))
        return product

    def _preconditioner(self) -> Callable[[Floats], Floats]:
        d, v = len(self.part.extra), self.part.weight
        heavy = np.argpartition(-self.part.size, min(self.n_heavy, len(v) - 1))[: self.n_heavy]
        heavy = heavy[v[heavy] > 0]
        roots = self.rows.some(heavy, np.sqrt(v[heavy]))
        if sp.issparse(roots):
            diagonal = np.maximum(self.part.diagonal[:d] - np.asarray(roots.power(2).sum(axis=0)).ravel(), 1.0)
            inner = (roots @ sp.diags(1.0 / diagonal) @ roots.T).toarray()
        else:
            diagonal = np.maximum(self.part.diagonal[:d] - np.einsum("ij,ij->j", roots, roots), 1.0)
            inner = (roots / diagonal) @ roots.T
        inner[np.diag_indices_from(inner)] += 1.0
        factor = cho_factor(inner)

        def apply(values: Floats) -> Floats:
            scaled = values / diagonal
            return scaled - (roots.T @ cho_solve(factor, roots @ scaled)) / diagonal

        return apply


@dataclass(frozen=True, kw_only=True)
class ProductSystem(System):
    """A system whose matrix is not formed: `matrix` is the diagonal."""

    solve: Products
    caps: float

    def direction(self, at: Point, tau: float) -> Point:
        """Newton's direction from `at` towards τ."""
        residual = np.concatenate([self.by_alpha.weights - at.weights, self.by_alpha.thresholds - at.thresholds])
        enough = np.sqrt(2.0 * LEFT_SHARE * 2.0 * tau * self.caps)
        solution = self.solve(residual + self.pull + tau * self.push, float(enough))
        return Point(solution[: len(at.weights)], solution[len(at.weights) :])
