"""Newton's system for many features: BLAS adds up what the core adds up, and conjugate gradients prove as much."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import LinearInteriorPoint, LinearSVC, LinearSVOR, LinearSVR, certify
from ordsvm.problem.label_table import LabelTable
from ordsvm.solvers import Control
from ordsvm.solvers.auto import LinearRows
from ordsvm.solvers.linear import interior_point, wide_system
from ordsvm.solvers.linear.feature_system import System
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton
from ordsvm.solvers.linear.solve import RowsInMemory
from tests.linear_cases import both_losses, every_machine, loss_name
from tests.linear_cases import data as machine_data

APPLIED, FORMED = {"MOST_FORMED": 0}, {"PRODUCT": 1e12}  # never formed; from the second iteration on
FORMS = pytest.mark.parametrize("how", [APPLIED, FORMED], ids=["applied", "formed"])


@pytest.fixture
def wide(monkeypatch):
    """Makes data of any width wide ones."""

    def make(**constants) -> None:
        monkeypatch.setattr(interior_point, "WIDE", 1)
        for name, value in constants.items():
            monkeypatch.setattr(wide_system, name, value)

    return make


def fitted(model, X, y, **options):
    return model(**({"tol": 1e-7, "solver": "linear-interior-point"} | options)).fit(X, y)


@every_machine
@both_losses
@FORMS
def test_it_is_the_optimum_of_the_core(model, squared, how, wide):
    X, y = machine_data(model, seed=3, n=200, n_features=12)
    options = {"loss": loss_name(model, squared), "C": 2.0}
    narrow = fitted(model, X, y, **options)
    wide(**how, HEAVY_ROWS=20)
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        machine = fitted(model, rows, y, **options)
        assert machine.result_.status == "converged"
        assert machine.result_.objective == pytest.approx(narrow.result_.objective, rel=1e-6)
        assert certify(machine, rows, y).relative_gap <= 1.1e-7
        assert machine.n_iter_ <= narrow.n_iter_ + 5


def test_weights_and_no_intercept(wide):
    X, y = machine_data(LinearSVC, seed=4, n=120, n_features=8)
    weight = np.random.default_rng(4).integers(0, 3, size=len(y)).astype(float)
    machines = {
        name: LinearSVC(solver="linear-interior-point", tol=1e-7, fit_intercept=False, C=3.0)
        for name in ("narrow", "wide")
    }
    narrow = machines["narrow"].fit(X, y, weight)
    wide(**APPLIED)
    again = machines["wide"].fit(X, y, weight)
    assert again.result_.objective == pytest.approx(narrow.result_.objective, rel=1e-6)
    assert not again.intercept_.any()


@pytest.mark.parametrize("thresholds", [False, True])
def test_sums_are_those_of_the_core(thresholds):
    X, y = machine_data(LinearSVOR, seed=5, n=300, n_features=7)
    table = LabelTable.of_thresholds(np.where(np.arange(4)[:, None] > np.arange(3), 1.0, -1.0), np.full((4, 3), 0.7))
    task = FeatureTask(table, y.astype(np.int32))
    if not thresholds:
        task = FeatureTask(LinearSVC()._formulate(X, LinearSVC()._check_target(y), None).table, y.astype(np.int32))
    newton = FeatureNewton(FeatureRows(RowsInMemory(X)), task, Control(tol=1e-3), 0.0)
    other = interior_point.wide_core(X, task, Control(tol=1e-3))
    other.forms = True
    n_vectors, random = (1 if thresholds else 4), np.random.default_rng(0)
    steps = np.tile([0.0, 1.0, 1.0, 1.0], (n_vectors, 1))
    given = (random.standard_normal((n_vectors, newton.n_weights)), np.zeros((n_vectors, newton.n_weights)))
    levels = np.zeros((2, 3 if thresholds else 0))
    for core in (newton.core, other):
        core.begin(*given, levels, steps)
        for first, block in newton.source.blocks():
            assert core.add(block, first, newton)
    for vector in range(n_vectors):
        mine, own = (System.of(core, vector, newton.n_weights) for core in (other, newton.core))
        np.testing.assert_allclose(np.triu(mine.matrix), np.triu(own.matrix), rtol=1e-10, atol=1e-10)
        for name in ("pull", "push"):
            np.testing.assert_allclose(getattr(mine, name), getattr(own, name), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(mine.by_alpha.weights, own.by_alpha.weights, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(mine.by_alpha.thresholds, own.by_alpha.thresholds, rtol=1e-9, atol=1e-9)
        assert (mine.loss, mine.linear) == pytest.approx((own.loss, own.linear))
    assert other.rows_read == 300


def test_the_preconditioner_inverts_its_matrix():
    random = np.random.default_rng(6)
    X, v = random.standard_normal((40, 9)), random.uniform(0.1, 50.0, size=40)
    rows = wide_system.WideRows(X, appends_one=True)
    part = wide_system._Part(40, 10, 0, forms=False)
    part.add(rows, slice(0, 40), X, np.tile(v, (4, 1, 1)))
    extended = np.hstack([X, np.ones((40, 1))])
    H = np.eye(10) + extended.T @ (v[:, None] * extended)
    products = wide_system.Products(rows, part, lambda n_steps: n_steps < 1, n_heavy=40)
    values = random.standard_normal(10)
    np.testing.assert_allclose(products._product(values), H @ values)
    np.testing.assert_allclose(products._preconditioner()(values), np.linalg.solve(H, values))
    np.testing.assert_allclose(products(values, 1e-9), np.linalg.solve(H, values), atol=1e-8)  # in one step


def test_from_applied_to_formed(wide):
    """Once steps of conjugate gradients take longer than the matrix would."""
    X, y = machine_data(LinearSVOR, seed=7, n=150, n_features=20)
    wide(HEAVY_ROWS=1)
    task = FeatureTask(LinearSVOR(C=10.0)._formulate(X, LinearSVOR()._check_target(y), None).table, y.astype(np.int32))
    newton = FeatureNewton(FeatureRows(RowsInMemory(X)), task, Control(tol=1e-6), 0.0)
    newton.core = system = interior_point.wide_core(X, task, Control(tol=1e-6))
    system.break_even = 8
    assert not system.forms
    assert newton.run(np.zeros(3)).result.converged
    assert system.forms
    assert system.rows_read == newton.n_iter * 150


def test_many_features_take_this_way(monkeypatch):
    """1,600 columns; the core's panels would take 20 MB a thread."""
    made = []
    system = wide_system.WideSystem
    monkeypatch.setattr(interior_point, "WideSystem", lambda *args: made.append(system(*args)) or made[-1])
    random = np.random.default_rng(8)
    X = random.standard_normal((400, 1600)).astype(np.float32)
    y = X[:, :20].sum(axis=1) + random.standard_normal(400)
    model = LinearSVR(C=0.01, tol=1e-3, solver=LinearInteriorPoint()).fit(X, y)
    assert len(made) == 1
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= 1.1e-3


def test_a_time_limit_ends_conjugate_gradients(wide):
    X, y = machine_data(LinearSVOR, seed=9, n=200, n_features=10)
    wide(**APPLIED)
    with pytest.warns(UserWarning, match="time_limit"):
        model = fitted(LinearSVOR, X, y, time_limit=1e-9)
    assert np.isfinite(model.result_.relative_gap)
    assert certify(model, X, y).gap == pytest.approx(model.result_.gap, rel=1e-6)


def test_auto_counts_steps_of_conjugate_gradients():
    """For single fits of rows in memory; a system that is formed ends at 5,000 features."""
    rows = LinearRows(20_000, 10_000, 10_000.0, 1, 100.0, 1e-3)
    assert rows.prefers_features()
    assert not rows._replace(stiffness=1.0).prefers_features()
    for other in ({"disk": 40_000.0, "n_duals": 4}, {"share": 0.6}, {"n_features": 50_000, "n_samples": 200_000}):
        assert not rows._replace(**other).prefers_features()


@every_machine
@both_losses
def test_sparse_rows_without_values(model, squared):
    """Scores are intercepts or thresholds alone, as with dense rows of zeros."""
    _, y = machine_data(model)
    X = sp.csr_array((len(y), wide_system.WIDE))
    options = {"C": 10.0, "tol": 1e-6, "loss": loss_name(model, squared), "solver": "linear-interior-point"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, dense = model(**options).fit(X, y), model(**options).fit(X.toarray(), y)
        assert fitted.result_.converged
        assert certify(fitted, X, y).relative_gap <= 1.01e-6
    assert fitted.result_.objective == pytest.approx(dense.result_.objective, rel=1e-5)
