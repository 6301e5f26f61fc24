"""The block method: kernels and data of every kind, threads, limits, and when "auto" chooses it."""

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import NPSVOR, SVC, SVOR, SVOREX, SVORIM, SVR, Block, RedSVM, ShashuaLevinSVOR, certify
from ordsvm.kernels import RBF, Custom, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from ordsvm.solvers import GCD, SMO, Control, KernelMatrix, solve
from ordsvm.solvers.auto import Work, auto
from tests.cases import FORMULATIONS, N_RANKS, random_data

KERNELS = [
    Linear(),
    RBF(0.1),
    Polynomial(0.1, 1.0, 2.0),
    Polynomial(0.05, 2.0, 1.5),
    Sigmoid(0.01, 0.0),
    Laplacian(0.1),
]
TREATMENTS = {"svc-none": GCD, "svor": GCD, "svorim": SMO, "svorex": SMO}
FORMS = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "csr": sp.csr_array}

every_treatment = pytest.mark.parametrize("name", TREATMENTS)


def mixed_data(n_features: int, density: float, n: int = 400):
    X, y = random_data(3, n=n, n_features=n_features, noise=3.0)
    X[np.random.default_rng(4).uniform(size=X.shape) > density] = 0.0
    return X, y


@every_treatment
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(("n_features", "density"), [(5, 1.0), (40, 1.0), (60, 0.1), (2500, 0.01)])
def test_kernels_and_data_of_every_kind(name, kernel, n_features, density):
    """Short, long, sparse and very wide rows go different ways to K; each ends at a certified optimum."""
    X, y = mixed_data(n_features, density)
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    K = kernel(X, X)
    objectives = []
    for form in FORMS.values():
        matrix = KernelMatrix(kernel.rows(form(X)), cache_size=2.0)
        result = solve(problem, matrix, Block(q1=128, q2=32), Control(n_threads=2)).result
        assert result.converged
        assert problem.violation(result.alpha, K @ problem.beta(result.alpha)) <= 1e-3 + 1e-5
        objectives.append(result.objective)
    reference = solve(problem, KernelMatrix(kernel.rows(X)), TREATMENTS[name](), Control()).result
    assert reference.converged
    if not isinstance(kernel, Sigmoid):
        np.testing.assert_allclose(objectives, reference.objective, rtol=2e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_exact_scores_are_those_of_the_formula(kernel):
    """Enough features that support vectors are packed in several parts."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 4000)) / 60
    beta = rng.normal(size=600) * (rng.uniform(size=600) < 0.9)
    expected = kernel(X, X) @ beta
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(kernel.rows(form(X)).product(beta), expected, rtol=0, atol=1e-9)


@every_treatment
@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_find_the_optimum_and_the_same_one_every_time(name, n_threads):
    X, y = random_data(6, n=2500, n_features=8)
    problem = FORMULATIONS[name](y, N_RANKS, 3.0)

    def fit(n_threads):
        matrix, control = KernelMatrix(RBF(0.1).rows(X)), Control(tol=1e-4, n_threads=n_threads)
        return solve(problem, matrix, Block(q1=512, q2=64), control).result

    alone, first, again = fit(1), fit(n_threads), fit(n_threads)
    np.testing.assert_array_equal(first.alpha, again.alpha)
    assert first.n_iter == again.n_iter
    assert first.converged
    assert first.objective == pytest.approx(alone.objective, rel=2e-4)


@pytest.mark.parametrize("q2", [2, 3])
@pytest.mark.parametrize("n_threads", [2, 3, 4])
def test_a_pair_that_violates_is_not_torn_apart(q2, n_threads):
    """Few support vectors, and smaller sets than threads."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3500, 8))
    y = (X @ rng.normal(size=8) > 0).astype(int)
    problem = FORMULATIONS["svc-free"](y, 2, 100.0)
    result = solve(problem, KernelMatrix(Linear().rows(X)), Block(q2=q2), Control(n_threads=n_threads)).result
    assert result.converged


@every_treatment
@pytest.mark.parametrize("max_iter", [0, 1, 100])
def test_steps_are_counted_and_a_stopped_run_is_honest(name, max_iter):
    X, y = random_data(7, n=300)
    problem, K = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)(X, X)
    control = Control(tol=1e-6, max_iter=max_iter)
    result = solve(problem, KernelMatrix(RBF(0.5).rows(X)), Block(q2=16), control).result
    assert result.status == "max_iter"
    assert result.n_iter == max_iter
    proof = problem.certificate(result.alpha, K @ problem.beta(result.alpha))
    assert result.gap == pytest.approx(proof.gap, rel=1e-9)
    assert result.violation == pytest.approx(proof.violation, abs=1e-9)


@every_treatment
def test_reports_come_after_as_many_steps_as_asked_for(name):
    X, y = random_data(8, n=300)
    problem, seen = FORMULATIONS[name](y, N_RANKS, 5.0), []
    control = Control(report_every=50, callback=lambda progress: seen.append(progress.n_iter) or len(seen) == 3)
    result = solve(problem, KernelMatrix(RBF(0.5).rows(X)), Block(q2=16), control).result
    assert result.status == "callback"
    assert seen == [50, 100, 150]


def test_large_scores_leave_float32_behind():
    """A target in the hundreds and a tolerance that float32 scores do not resolve."""
    X, y = random_data(9, n=200)
    model = SVR(kernel="linear", C=5.0, epsilon=0.02, tol=1e-6, solver="block").fit(X, 300.0 + 100.0 * y)
    assert model.result_.converged


def test_every_machine_reaches_it():
    X, y = random_data(10, n=120)
    for machine in (SVOR, SVORIM, SVOREX, ShashuaLevinSVOR, RedSVM, NPSVOR, SVC, SVR):
        model = machine(solver="block", tol=1e-4).fit(X, y)
        assert model.result_.converged
        assert model.result_.solver == "block"
        assert certify(model, X, y).violation <= 1e-4 + 1e-8


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize("machine", [SVOR, SVORIM, SVOREX, SVC, SVR])
def test_screened_samples_make_no_difference_to_the_proof(machine, C):
    """Most samples are far on the right side, so that their scores are not computed anew: the proof with all of them
    is the same."""
    X, _ = random_data(5, n=1500)
    score = X @ [2.0, -1.0, 0.5]
    y = score if machine is SVR else (score > 0).astype(int) if machine is SVC else np.digitize(score, [-2.0, 0.0, 2.0])
    options = {"epsilon": 1.0} if machine is SVR else {}
    model = machine(C=C, gamma=0.2, solver=Block(newton=False), **options).fit(X, y)
    assert len(model.support_) < 0.8 * len(y)
    own, proof = model.result_, certify(model, X, y)
    assert own.objective == pytest.approx(proof.primal, rel=1e-9)
    assert own.gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-9 * proof.primal)
    assert own.violation == pytest.approx(proof.violation, abs=1e-9)


def test_features_far_from_0_do_not_make_a_false_proof():
    """Rounding them to float32 moves a few samples, whose scores are off while all others are right."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        sign = rng.choice([-1.0, 1.0], 600)
        X = 4.0 * rng.random((600, 2)) - 2.0
        off_grid = rng.choice(600, 4, replace=False)
        wide = 0.5 + 1.5 * rng.random(600)
        wide[off_grid] = 0.5 + 0.2 * rng.random(4)
        X[:, 0] = sign * wide + 0.2 * np.sin(3.0 * X[:, 1])
        on_grid = np.round(16.0 * X) / 16.0
        on_grid[off_grid] = X[off_grid]
        model = SVC(C=10.0, gamma=0.5, solver=Block(newton=False)).fit(on_grid + 2.0**19, sign)
        proof = certify(model, on_grid + 2.0**19, sign)
        assert proof.violation <= 1.01 * max(model.result_.violation, 1e-6)
        assert proof.gap <= 1.01 * model.result_.gap + 1e-9 * proof.primal


WIDE = sp.random_array((120, 5000), density=0.001, format="csr", random_state=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("kernel", "take", "name"),
    [
        (RBF(0.5), lambda X: X, "block"),
        (RBF(0.5), sp.csr_array, "block"),
        (RBF(0.5), lambda X: WIDE, "block"),
        (Precomputed(), lambda X: RBF(0.5)(X, X), "block"),
        (Custom(RBF(0.5)), lambda X: X, "block"),
        (Sigmoid(0.1, 0.0), lambda X: X, "smo"),
    ],
    ids=["dense", "sparse", "wide", "precomputed", "function", "sigmoid"],
)
def test_auto_is_block_unless_k_is_indefinite(kernel, take, name):
    X, y = random_data(11, n=120)
    samples = take(X)
    assert auto(Work.of(FORMULATIONS["svorim"](y, N_RANKS, 1.0), kernel, samples)).name == name
    assert auto(Work.of(FORMULATIONS["svor"](y, N_RANKS, 1.0), kernel, samples)).name == name.replace("smo", "gcd")


def test_auto_is_not_block_for_small_problems():
    X, y = random_data(11, n=15)
    assert auto(Work.of(FORMULATIONS["svorim"](y, N_RANKS, 1.0), RBF(0.5), X)).name == "smo"


@pytest.mark.parametrize("option", [{"q1": 1}, {"q1": 2.5}, {"q2": 0}, {"q2": True}, {"q1": "all"}])
def test_sizes_are_whole_numbers_from_2_on(option):
    name = next(iter(option))
    with pytest.raises(ValueError, match=rf"{name}=.* is not valid: give a whole number of samples, at least 2\."):
        Block(**option)
