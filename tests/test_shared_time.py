"""One time limit for several problems: what is left of it goes to those that had too little."""

from dataclasses import replace

import numpy as np
import pytest

from ordsvm.formulations import svor
from ordsvm.kernels import RBF
from ordsvm.solvers import GCD, Control, KernelMatrix, solve
from ordsvm.solvers.kernel.problems import solve_each

PROBLEM = svor(np.repeat([0, 1, 2], 2), n_ranks=3, C=1.0)
LONG = 1e6  # seconds: no clock ends a test


class Script:
    """Ends each call as a list has it, and keeps the controls and starts that it was given."""

    def __init__(self, *statuses):
        X = np.arange(6.0).reshape(-1, 1)
        self.solution = solve(PROBLEM, KernelMatrix(RBF(gamma=0.5).rows(X)), GCD(), Control(tol=1e-6))
        self.statuses, self.controls, self.starts = list(statuses), [], []

    def __call__(self, problem, control, start):
        self.controls.append(control)
        self.starts.append(start)
        return replace(self.solution, result=replace(self.solution.result, status=self.statuses.pop(0), n_iter=10))

    def run(self, n_problems=2, **options):
        control = Control(**({"time_limit": LONG} | options))
        found = solve_each([PROBLEM] * n_problems, [None] * n_problems, control, self)
        return [(solution.result.status, solution.result.n_iter) for solution in found]


def test_the_rest_goes_to_the_problem_that_had_too_little():
    script = Script("time_limit", "converged", "converged")
    assert script.run() == [("converged", 20), ("converged", 10)]
    shares = [control.time_limit for control in script.controls]
    assert shares == pytest.approx([LONG / 2, LONG, LONG], rel=1e-3)
    np.testing.assert_array_equal(script.starts[2], script.solution.result.alpha)


def test_it_is_divided_again_until_all_have_ended():
    script = Script("time_limit", "time_limit", "converged", "time_limit", "converged")
    assert script.run() == [("converged", 20), ("converged", 30)]


def test_max_iter_counts_all_steps_of_a_problem():
    script = Script("time_limit", "converged", "converged")
    script.run(max_iter=15)
    assert [control.max_iter for control in script.controls] == [15, 15, 5]


@pytest.mark.parametrize("statuses", [("converged", "converged"), ("time_limit", "callback"), ("max_iter", "gap")])
def test_what_has_ended_otherwise_has_ended(statuses):
    assert [status for status, _ in Script(*statuses).run()] == list(statuses)


def test_a_callback_ends_all_of_it():
    script = Script("time_limit", "time_limit", "callback")
    assert [status for status, _ in script.run()] == ["callback", "time_limit"]
