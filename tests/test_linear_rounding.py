"""What is claimed of linear machines covers float64's rounding: by solvers and by `certify`, by one estimate."""

import warnings

import numpy as np
import pytest

from ordsvm import DCD1, DCD2, LinearNPSVOR, LinearSVR, NystroemSVR, certify
from ordsvm.problem import Certificate
from ordsvm.problem.label_table import LabelTable
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.losses import certificate, losses
from ordsvm.solvers.linear.rounding import with_rounding
from ordsvm.solvers.solution import DualVariables
from tests.linear_cases import both_losses, data, every_machine, loss_name
from tests.linear_truth import Long, in_extended_precision, true_gap


def assert_covered(model, X, y) -> None:
    gap, proof = true_gap(model, X, y), certify(model, X, y)
    assert -1e-17 * model.result_.objective <= gap <= model.result_.gap
    assert gap <= proof.gap


@every_machine
@both_losses
@pytest.mark.parametrize("solver", ["rank-dcd", "linear-interior-point", "auto"])
@pytest.mark.parametrize(("C", "scale"), [(1e-2, 1.0), (1.0, 1e6), (1e8, 1.0), (1e8, 1e6), (1e4, 1e-3)])
@pytest.mark.filterwarnings("ignore")
def test_the_gap_covers_rounding(model, squared, solver, C, scale):
    X, y = data(model, seed=3, n=60)
    options = {"C": C, "loss": loss_name(model, squared), "solver": solver, "tol": 1e-6, "max_iter": 100}
    assert_covered(model(**options).fit(scale * X, y), scale * X, y)


@pytest.mark.parametrize("solver", [DCD1(), DCD2()])
@pytest.mark.parametrize("C", [1.0, 1e6])
@pytest.mark.filterwarnings("ignore")
def test_the_gap_of_the_papers_solvers_covers_rounding(solver, C):
    X, y = data(LinearNPSVOR, seed=3, n=60)
    assert_covered(LinearNPSVOR(C=C, solver=solver, max_iter=50).fit(X, y), X, y)


@both_losses
@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("solver", ["rank-dcd", "linear-interior-point"])
@pytest.mark.filterwarnings("ignore")
def test_far_targets_and_a_penalised_intercept(squared, far, solver):
    """Nothing can be subtracted from the targets, as the intercept costs ½b²."""
    X, y = data(LinearSVR, seed=3, n=60)
    model = LinearSVR(C=1e8, loss=loss_name(LinearSVR, squared), solver=solver, max_iter=100)
    assert_covered(model.fit(X, y + far), X, y + far)


def test_the_estimate_grows_with_C():
    """All targets can be met: the objective does not grow, and a gap of tol is below what scores resolve."""
    X, _ = data(LinearSVR, seed=3, n=60)
    y = X @ np.arange(1.0, 1.0 + X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVR(C=1e12, tol=1e-6, solver="linear-interior-point").fit(X, y)
    proof = certify(model, X, y)
    assert model.result_.status == "precision"
    assert proof.relative_gap > 1e-6
    assert proof.gap == pytest.approx(model.result_.gap, rel=0.5)


@both_losses
@pytest.mark.parametrize("tube", [0.0, 10.0])
@pytest.mark.parametrize("seed", range(8))
def test_slopes_far_from_those_of_the_dual_and_tubes(squared, tube, seed):
    """Large caps and scores just outside of the tube: β = 0 says nothing of the slopes, and 10 has a rounding."""
    rng = np.random.default_rng(seed)
    X, coef, b, cap = rng.normal(size=(60, 3)), rng.normal(size=(3, 1)), np.full(1, 0.3), 1e12
    targets = X @ coef[:, 0] + b + tube + 1e-6 * rng.uniform(size=60)
    ones, labels = np.ones((1, 1)), np.zeros(60, dtype=np.int32)
    task = FeatureTask(LabelTable(-cap * ones, cap * ones, 0 * ones, tube * ones), labels, None, targets, True, squared)
    loss, beta = losses(task.table, labels, None, targets, squared), np.zeros((60, 1))
    bare = certificate(X, beta, loss, b=b, coef=coef)
    proof = with_rounding(bare, task, np.sum(X**2, axis=1), DualVariables([beta]), coef)
    score = X.astype(Long) @ coef + b
    gap = in_extended_precision(loss).of(score).sum() + (np.sum(coef.astype(Long) ** 2) + b @ b) / 2
    assert gap <= proof.gap <= bare.gap * (1 + 1e-6)


@both_losses
@pytest.mark.parametrize("solver", ["rank-dcd", "linear-interior-point"])
@pytest.mark.filterwarnings("ignore")
def test_targets_just_outside_of_a_wide_tube(squared, solver):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), 10.0 + 0.01 * rng.normal(size=60)
    loss = loss_name(LinearSVR, squared)
    model = LinearSVR(C=1e12, epsilon=10.0, loss=loss, fit_intercept=False, solver=solver, max_iter=100)
    assert_covered(model.fit(X, y), X, y)


def test_a_gap_below_0_is_0():
    assert Certificate(primal=1.0, dual=1.0, gap=-7.5e-37, violation=0.0, thresholds=np.zeros(1)).gap == 0.0
    assert np.isnan(Certificate(1.0, np.nan, np.nan, 0.0, np.zeros(1)).gap)


@pytest.mark.filterwarnings("ignore")
def test_features_of_1e15_leave_no_gap_below_0():
    X, y = data(LinearSVR, seed=1, n=20)
    for seed in range(5):
        rows = 1e13 * X * 10.0 ** np.random.default_rng(seed).uniform(-1, 1, X.shape[1])
        model = LinearSVR(C=1e-8, max_iter=50).fit(rows, y)
        assert certify(model, rows, y).gap >= 0.0


def test_nystroem_machines_are_counted_too():
    X, y = data(LinearSVR, seed=3, n=60)
    model = NystroemSVR(C=10.0, n_landmarks=20, random_state=0).fit(X, y + 1e9)
    assert certify(model, X, y + 1e9).gap <= model.result_.gap * (1 + 1e-6)
