"""One kernel matrix for several problems over the same samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm.kernels import Custom, Kernel, Precomputed
from ordsvm.problem import Problem
from ordsvm.solvers import Block, Control, KernelMatrix, Solution, Solver, solve

FEW = 0.7  # share of the samples from which on a problem is about all of them


@dataclass(frozen=True)
class SharedMatrix:
    """The kernel matrix of all samples, with rows that all problems share.

    A problem about few of them, as one class against another, has a matrix of its own if the block method solves it,
    which would sooner make values of K anew than find them in long rows.
    """

    matrix: KernelMatrix
    kernel: Kernel
    samples: Any
    cache_size: float

    def solve(self, problem: Problem, solver: Solver, control: Control, start: NDArray[np.float64] | None) -> Solution:
        if control.examiner is None and isinstance(solver, Block) and not isinstance(self.kernel, Precomputed | Custom):
            small, samples = problem.about_its_samples()
            if len(samples) <= FEW * problem.n_samples:
                self.matrix.forget()  # the budget is for both
                matrix = KernelMatrix(self.kernel.rows(self.samples[samples]), self.cache_size)
                solution = solve(small, matrix, solver, control, start)
                beta = np.zeros(problem.n_samples)
                beta[samples] = solution.beta
                return replace(solution, beta=beta)
        return solve(problem, self.matrix, solver, control, start)
