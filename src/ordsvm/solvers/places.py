"""Where `device="auto"` trains a kernel machine: on a GPU from so many samples or hinges on, fewer at large C.

A GPU needs some 0.05 s for the kernels that it launches, whatever the problem, and little more for thousands of
samples; Block takes longer the more hinges there are and, for ranks, the larger C is. Seconds of whole fits by Block
on 16 cores with AVX-512 / by ProximalNewton on an H200, tol = 1e-3, gamma = 1 / features (`python -m benchmarks gpu
--rows places`):

                                     n = 1,000      2,000          5,000          10,000
    california_housing, C = 1        .005 / .054    .013 / .057    .041 / .096    .094 / .113
    SVOR, 8 features    C = 100      .044 / .091    .175 / .081    .328 / .139    .682 / .185
    census_house16h,    C = 1        .008 / .052    .014 / .059    .050 / .090    .120 / .105
    SVOR, 16 features   C = 100      .046 / .058    .129 / .067    .736 / .154    1.12 / .247
    a9a,                C = 1        .006 / .041    .012 / .042    .039 / .080    .091 / .075
    SVC, 123 features   C = 100      .007 / .044    .017 / .063    .064 / .078    .141 / .128

Block's work is about hinges, of which these ranks have four a sample and two classes one. With this rule the place
that is taken needs at most 1.2 times the seconds of the other one in the table (california, 10,000 samples, C = 1), and
no GPU is waited for where the CPU would be done within 0.09 s. On another machine of this kind, whose host launches
kernels more slowly, it is more, in the same case (benchmarks/results/gpu.json). The number of features changes
neither side much, and the share of free samples, which does, is not known before.
"""

from __future__ import annotations

from ordsvm.kernels import RBF, Kernel, Laplacian
from ordsvm.problem import Problem

FROM_SAMPLES = 10_000  # whatever their hinges
LEAST_SAMPLES = 2_000
FROM_HINGES = 40_000  # at C = 1 and below, and where the size of kernel values is not known
POWER = -0.35  # of C: 8,000 hinges at C = 100
LARGEST_C = 100.0  # beyond which nothing has been measured


def pays_on_gpu(n_samples: int, n_hinges: int, stiffness: float) -> bool:
    """`stiffness`: of `stiffness_of`."""
    from_hinges = FROM_HINGES * min(max(stiffness, 1.0), LARGEST_C) ** POWER
    return n_samples >= FROM_SAMPLES or (n_samples >= LEAST_SAMPLES and n_hinges >= from_hinges)


def stiffness_of(problem: Problem, kernel: Kernel) -> float:
    """The mean cap of the hinges, in units of their margins, for kernels with k(x, x) = 1; for others 1."""
    hinges = problem.hinges
    if not isinstance(kernel, RBF | Laplacian) or len(hinges) == 0:
        return 1.0
    margin = float(abs(hinges.offset).max())
    return float(hinges.cap.mean()) / margin if margin > 0 else 1.0
