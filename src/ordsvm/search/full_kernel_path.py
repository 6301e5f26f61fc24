"""A machine along rising C where all kernel values are in memory."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.estimators.base import Fit, prepare
from ordsvm.estimators.kernel import KernelMachine, Trained
from ordsvm.kernels.full_kernel import FullKernel
from ordsvm.search.paths import FoldSamples, scales_with_C, train_anew
from ordsvm.solvers.kernel.full_kernel import FullKernelPath
from ordsvm.solvers.solution import Solution


class PathMemory:
    """What fits of a fold with one kernel leave to those with the next.

    fits    the fit of every path at C = 1, by the path's name
    alpha   dual variables by the path's name, C and the number of the problem
    """

    def __init__(self) -> None:
        self.fits: dict[Hashable, Fit] = {}
        self.alpha: dict[tuple[Hashable, float, int], Floats] = {}


class Starts:
    """What one run of a search leaves to the next: dual variables of fits to a loose tolerance, from which those to a
    finer one start, and what the fits of a fold have in common."""

    def __init__(self) -> None:
        self._alpha: dict[tuple[int, Hashable], dict[tuple[Hashable, float, int], Floats]] = {}
        self._fits: dict[int, dict[Hashable, Fit]] = {}

    def of(self, fold: int, kernel: Hashable) -> dict[tuple[Hashable, float, int], Floats]:
        return self._alpha.setdefault((fold, kernel), {})

    def fits(self, fold: int) -> dict[Hashable, Fit]:
        """Those at C = 1, by the path's name."""
        return self._fits.setdefault(fold, {})


class FullKernelMachinePath:
    """A machine at one C after the other, as `MachinePath`. Its samples are numbers that its kernel looks values up by.

    The problems are about all samples of the kernel. Those that are not trained on have no hinges: their scores come
    with the fit, and the machine is tested without another product. Where the solver of the core does not reach the
    tolerance, as where that is finer than sums are, the machine's own solver takes over.
    """

    def __init__(
        self,
        machine: KernelMachine,
        train: FoldSamples,
        name: Hashable,
        *,
        kernel: FullKernel,
        before: PathMemory,
        own: PathMemory,
        near: dict[tuple[Hashable, float, int], Floats] | None = None,
    ) -> None:
        self.machine = machine
        self.train = train
        self.kernel = kernel
        self._before, self._own = before, own
        self._near = near
        self._name = name
        self._paths: list[FullKernelPath] = []

    def fit(self, C: float, checkpoint: Any = None) -> Any:
        """At one C; only the machine's own solver, which may take long, uses the checkpoint."""
        self.machine.C = C
        if not scales_with_C(self.machine):
            return train_anew(self.machine, self.train, checkpoint)
        unit = self._unit_fit(C)
        solutions: list[Solution] = []
        for number, path in enumerate(self._paths):
            key = (self._name, C, number)
            near = None if self._near is None else self._near.get(key)
            start = self._before.alpha.get(key) if near is None else near
            solution = path.solve(C, float(self.machine.tol), start, near is not None)
            if solution is None:
                return replace(unit, task=unit.task.times_C(C)).run(checkpoint)
            solutions.append(solution)
            self._own.alpha[key] = solution.result.alpha
            if self._near is not None:
                self._near[key] = solution.result.alpha
        scores = np.column_stack([path.scores() for path in self._paths])
        return unit.recover(Trained(FullKernel(self.kernel.values, scores), solutions))

    def _unit_fit(self, C: float) -> Fit:
        """The fit of this machine at C = 1, which does not depend on the kernel; C is what the machine has now."""
        fits = self._own.fits
        if self._name in self._before.fits:
            fits.setdefault(self._name, self._before.fits[self._name])
        if self._name not in fits:
            fit = prepare(self.machine, self.train.X, self.train.y, self.train.weight)
            fits[self._name] = replace(fit, task=fit.task.times_C(1.0 / C))
        unit = fits[self._name]
        if not self._paths:
            self.machine.n_features_in_ = 1
            numbers = unit.X[unit.task.order, 0].astype(np.int32)
            self._paths = [FullKernelPath(self.kernel.values, problem, numbers) for problem in unit.task.problems]
        return replace(unit, machine=self.machine)
