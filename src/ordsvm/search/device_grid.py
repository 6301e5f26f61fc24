"""Candidates of a search that share a kernel, on a device: all folds and all C side by side."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.devices import usable_device
from ordsvm.estimators.base import Fit, prepare
from ordsvm.estimators.kernel import Trained
from ordsvm.kernels import Kernel
from ordsvm.kernels.full_kernel import FullKernel
from ordsvm.kernels.products.device_matrix import few_roundings
from ordsvm.kernels.products.norm_rounding import NormRounding, ScoreRounding
from ordsvm.kernels.products.on_torch import TorchProducts, torch_products
from ordsvm.search.paths import FoldSamples, Parameters, may_follow, scales_with_C
from ordsvm.solvers.auto import is_auto, trains_side_by_side
from ordsvm.solvers.kernel.interior_point.side_by_side import Folds, Solved, solve_side_by_side
from ordsvm.solvers.kernel.interior_point.stacked_start import PathStarts, are_near
from ordsvm.torch_library import TorchLibrary, torch_library


class DeviceGrid:
    """Machines that differ in C alone, on every fold; the first one asked for makes all of them.

    machine     with the parameters that they share, and its device
    kernel      of all folds
    X           all samples, of which folds have numbers
    before      the grid of another kernel and the same other parameters, which is solved first; where the kernels are
                near each other, problems begin where those of the other one have been
    """

    def __init__(
        self, machine: Any, kernel: Kernel, X: Any, C: Sequence[float], before: DeviceGrid | None = None
    ) -> None:
        self._machine, self._kernel, self._X, self._C = machine, kernel, X, np.array(C, dtype=np.float64)
        self._before = before
        self._starts = PathStarts()
        self._lock = threading.Lock()
        self._fits: list[Fit] | None = None
        self._found: dict[tuple[int, int], Solved] = {}

    @staticmethod
    def takes(machine: Any, candidates: Sequence[Parameters], kernel: Kernel, n_samples: int) -> bool:
        """Whether a fit from nothing, by the solver that "auto" chooses, is what these candidates are about."""
        chosen = [parameters.get("C", machine.C) for parameters in candidates]
        plain = may_follow(machine) and is_auto(machine.solver) and scales_with_C(machine)
        return (
            plain
            and all(isinstance(C, Real) and float(C) > 0 for C in chosen)
            and trains_side_by_side(kernel, n_samples)
        )

    def solved(self, trains: Sequence[FoldSamples]) -> None:
        """Trains all of them, once; `trains`: numbers of samples, labels and weights of every fold."""
        with self._lock:
            _core.check_ended()
            if self._fits is not None:
                return
            before, self._before = self._before, None
            if before is not None and are_near(before._kernel, self._kernel):
                before.solved(trains)  # which a job before this one has begun
                self._starts = PathStarts(before._starts)
            self._fits = self._unit_fits(trains)
            tasks = [fit.task for fit in self._fits]
            if not tasks or any(len(task.problems) > 1 for task in tasks):
                return
            samples = [fit.X[fit.task.order, 0].astype(np.int64) for fit in self._fits]
            folds = Folds([task.problems[0] for task in tasks], samples)
            if folds.are_alike():
                library = torch_library(usable_device(self._machine.device))
                with library.current(), library.apart():
                    self._found = self._solved_by(library, folds)

    def _solved_by(self, library: TorchLibrary, folds: Folds) -> dict[tuple[int, int], Solved]:
        """None where K does not fit into memory: machines are then trained one by one."""
        try:
            products = torch_products(library, self._kernel, self._X)
            every = library.span(0, self._X.shape[0])
            K = products.part(every, every)
        except library.out_of_memory:
            return {}
        rounding = self._rounding(library, products, K)
        return solve_side_by_side(library, K, folds, self._C, float(self._machine.tol), self._starts, rounding)

    def _rounding(self, library: TorchLibrary, products: TorchProducts, K: Array) -> ScoreRounding:
        """Of scores that are made of these values."""
        n_features = self._X.shape[1]
        half_squares = products.half_squares()
        return ScoreRounding(
            max(few_roundings(n_features), products.roundings() or 0.0),
            float(abs(K.diagonal()).max()),
            None if half_squares is None else NormRounding(library.host(half_squares), n_features),
        )

    def _unit_fits(self, trains: Sequence[FoldSamples]) -> list[Fit]:
        """At C = 1; none where one of them is refused, as a fold of one class is: single fits then tell which."""
        machine = clone(self._machine).set_params(C=1.0)
        try:
            return [prepare(machine, train.X, train.y, train.weight) for train in trains]
        except ValueError:
            return []

    def machine(self, fold: int, number: int, machine: Any) -> Any | None:
        """The trained machine of a fold and a number among the C; None where the method has not certified it.

        Its samples are numbers, and its scores those that came with the fit, on the host.
        """
        if self._fits is None or (fold, number) not in self._found:
            return None
        solved = self._found[fold, number]
        unit = self._fits[fold]
        machine.n_features_in_, machine.device = 1, "cpu"
        fit = replace(unit, machine=machine, task=unit.task.times_C(float(machine.C)))
        scores: Floats = solved.scores[:, np.newaxis]
        return fit.recover(Trained(FullKernel(None, scores), [solved.solution]))
