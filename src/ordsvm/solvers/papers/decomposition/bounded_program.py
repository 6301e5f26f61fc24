"""Programs with general bounds and sums: (1) of Manno, Palagi & Sagratella (2018), and (3) where sums are apart.

    min over x   ½ x'Qx + c'x        l ≤ x ≤ u,   Σ_{v in group g} y_v x_v = b_g,   y_v = ±1

The library's problem has l = 0 and b = 0, so x = l + α: c becomes c + Ql, and the box of α is u − l. Where α has to add
up to something, a hinge of its own, at a sample without a kernel, takes the opposite: its box ends at what is missing.
Its offset is larger than any slope of the others can be, so at the optimum it is at its cap, and the sums are those
given (an exact penalty). All solvers for free thresholds do this, those for box problems where there are no groups.

Not supported, and refused: infinite bounds, and sums that no x within its bounds has. A variable is in one group, and
its coefficient is ±1; any other than 0 becomes that by scaling the variable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.kernels import KernelMatrix, Precomputed
from ordsvm.problem import Hinges, Problem, Treatment
from ordsvm.result import FitResult
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.run import Solver, solve


@dataclass(frozen=True)
class BoundedProgram:
    """A quadratic program with general bounds, and sums over groups of variables.

    Parameters
    ----------
    quadratic : ndarray of shape (n_variables, n_variables)
        Q, positive semidefinite.
    linear : ndarray of shape (n_variables,)
        The linear term c.
    lower : ndarray of shape (n_variables,)
        The bounds l, finite.
    upper : ndarray of shape (n_variables,)
        The bounds u, finite.
    sign : ndarray of shape (n_variables,)
        The coefficients y = ±1 in the sums.
    group : ndarray of shape (n_variables,)
        The group of every variable.
    total : ndarray of shape (n_groups,)
        The sum b of every group; empty where there are only bounds.

    See Also
    --------
    Decomposition : A solver for its hinges.

    References
    ----------
    .. [1] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018, (1)
       and (3).

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.solvers import SMO, BoundedProgram, Control
    >>> bounds = np.zeros(2), np.full(2, 2.0)
    >>> sums = np.ones(2), np.zeros(2, dtype=int), np.array([1.0])
    >>> program = BoundedProgram(np.eye(2), np.array([-3.0, 0.0]), *bounds, *sums)
    >>> x, result = program.solve(SMO(), Control(tol=1e-8))
    >>> x.round(3)
    array([1., 0.])
    """

    quadratic: Floats
    linear: Floats
    lower: Floats
    upper: Floats
    sign: Floats
    group: Ints
    total: Floats

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower <= self.upper)):
            raise ValueError("Bounds must be finite, and none of lower above its upper: a dual variable has a box.")
        if not np.all(np.abs(self.sign) == 1.0):
            raise ValueError("Coefficients of sums must be 1 or -1: divide a variable by the size of its own.")
        low, up = np.sort([self.sign * self.lower, self.sign * self.upper], axis=0)
        least, most, rounding = self._sums(low), self._sums(up), 1e-12 * self._sums(np.abs(low) + np.abs(up))
        out_of_reach = np.flatnonzero((self.total < least - rounding) | (self.total > most + rounding))
        if len(out_of_reach):
            wrong = int(out_of_reach[0])
            raise ValueError(
                f"No x within its bounds has the sum {self.total[wrong]:g} in group {wrong}: "
                f"give one from {least[wrong]:g} to {most[wrong]:g}."
            )

    def objective(self, x: Floats) -> float:
        """Compute the objective.

        Parameters
        ----------
        x : ndarray of shape (n_variables,)
            The variables.

        Returns
        -------
        float
            ½x'Qx + c'x.
        """
        return float(0.5 * x @ self.quadratic @ x + self.linear @ x)

    def solve(self, solver: Solver, control: Control) -> tuple[Floats, FitResult]:
        """Solve the program.

        Where the run was cut short, sums may not be what they should be.

        Parameters
        ----------
        solver : Solver
            Options of a solver.
        control : Control
            Limits, threads and observers.

        Returns
        -------
        x : ndarray of shape (n_variables,)
            The solution.
        result : FitResult
            How it went: `objective`, `gap` and `relative_gap` are those of this program; `status` is that of the
            hinges, whose objective has a penalty besides, so that `converged` may leave a larger relative gap than tol.
        """
        problem, K = self.problem()
        result = solve(problem, KernelMatrix(Precomputed().rows(K)), solver, control).result
        x, h = self.lower.copy(), problem.hinges
        own = h.sample < len(x)
        x[h.sample[own]] += result.alpha[own]
        objective = self.objective(x)
        relative = result.gap / abs(objective) if objective != 0.0 else float(result.gap > 0.0)
        return x, replace(result, objective=objective, relative_gap=relative)

    def problem(self) -> tuple[Problem, Floats]:
        """Make the problem of hinges, one for every variable and one for every group, and its K.

        Returns
        -------
        problem : Problem
            The hinges.
        matrix : ndarray of shape (n_samples, n_samples)
            K; the last sample is that of the groups.
        """
        n, n_groups = len(self.linear), len(self.total)
        sign = self.sign if n_groups else np.ones(n)
        K = np.pad(self.quadratic * np.outer(sign, sign), (0, 1))
        cap, offset = self.upper - self.lower, -(self.linear + self.quadratic @ self.lower)
        missing = self.total - self._sums(self.sign * self.lower)
        missing = np.clip(missing, -self._sums(cap * (sign < 0)), self._sums(cap * (sign > 0)))
        missing[np.abs(missing) <= 1e-12 * np.abs(self.lower).sum()] = 0.0  # rounding
        largest = np.abs(K).max() * cap.sum() + np.abs(offset).max()  # no slope is larger
        hinges = Hinges.table(
            np.append(np.arange(n), np.full(n_groups, n)),
            np.append(self.group if n_groups else np.zeros(n, dtype=np.int64), np.arange(n_groups)),
            np.append(sign, np.where(missing > 0, -1.0, 1.0)),
            np.append(offset, np.full(n_groups, 3.0 * largest)),
            np.append(cap, np.abs(missing)),
        )
        return Problem(hinges, Treatment.FREE if n_groups else Treatment.NONE, n + 1, max(n_groups, 1)), K

    def _sums(self, values: Floats) -> Floats:
        n_groups = len(self.total)
        return np.bincount(self.group, values, n_groups).astype(np.float64) if n_groups else np.zeros(0)
