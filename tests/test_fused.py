"""Triton's kernels against the plain versions: on a GPU, or by Triton's interpreter with TRITON_INTERPRET=1.

On a GPU also under compute-sanitizer: `make sanitize-gpu`.
"""

import os
from importlib.util import find_spec

import numpy as np
import pytest

from ordsvm import ProximalNewton
from ordsvm.kernels import RBF, KernelMatrix
from ordsvm.solvers import Control, recorder, solve
from ordsvm.solvers.kernel.proximal_newton import stages
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.newton_system import NewtonSystem, PlainGradients, Step
from ordsvm.solvers.kernel.proximal_newton.passes import Iterate, PlainPasses
from ordsvm.solvers.kernel.proximal_newton.preconditioner import Nystroem, Preconditioner
from ordsvm.torch_library import TorchLibrary
from tests.cases import FORMULATIONS, N_RANKS, random_data

torch = pytest.importorskip("torch")
if find_spec("triton") is None:
    pytest.skip("no Triton", allow_module_level=True)
if torch.cuda.is_available():
    DEVICE = "cuda"
elif os.environ.get("TRITON_INTERPRET") == "1":
    DEVICE = "cpu"
else:
    pytest.skip("no GPU", allow_module_level=True)
pytestmark = pytest.mark.slow


@pytest.fixture
def library(monkeypatch):
    """One that fuses, and computes in float32 what a GPU does; so do those that solvers make."""
    begin = TorchLibrary.__init__

    def begun(self, device):
        begin(self, device)
        self.fuses, self._compact = True, torch.float32

    monkeypatch.setattr(TorchLibrary, "__init__", begun)
    return TorchLibrary(DEVICE)


def assert_same(one, other, atol=1e-10):
    one, other = (part.cpu() if torch.is_tensor(part) else part for part in (one, other))
    np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), atol=atol, rtol=1e-9)


def stage_of(name, library, n):
    """A stage in the middle, scores, thresholds, and β that is mostly that of shifted scores."""
    _, y = random_data(9, n=n)
    random = np.random.default_rng(2)
    problem = FORMULATIONS[name](y, N_RANKS, 2.0)
    columns = Columns.of(problem, random.permutation(len(y)), library)
    n = problem.n_samples
    stage = Stage(library, columns, library.array(random.uniform(size=tuple(columns.cap.shape))) * columns.cap, 0.7)
    score, b = library.array(random.normal(size=n)), np.sort(random.normal(size=columns.member.shape[1]))
    beta = columns.sums(stage.alpha(score + library.array(random.uniform(-0.9, 0.9, n)), b))[0]
    off = library.array(random.normal(size=n) * (random.uniform(size=n) < 0.1))
    return stage, Iterate(beta + off, score, b), random


@pytest.mark.parametrize("name", ["svor", "svorex", "svr-none", "svr-free", "svc-penalised", "redsvm-random"])
def test_passes(name, library):
    from ordsvm.solvers.kernel.proximal_newton.fused_passes import FusedPasses

    stage, at, random = stage_of(name, library, 300)
    both = [kind(library, stage.columns) for kind in (PlainPasses, FusedPasses)]
    states = [passes.state(stage, at, 1e-9) for passes in both]
    assert 0 < len(states[0].free) < len(at.beta)
    assert len(states[0].outside) > 0
    for one, other in zip(*(state[:-1] for state in states), strict=True):
        assert_same(one, other)
    q, n = len(at.b), len(at.beta)
    g, step, root = library.array(random.normal(size=n)), random.normal(size=q), random.normal(size=(q, q))
    sides = [passes.right_side(state, g, step, root) for passes, state in zip(both, states, strict=True)]
    x = library.array(random.normal(size=len(states[0].free)))
    changes = [passes.change(state, x) for passes, state in zip(both, states, strict=True)]
    to = Iterate(*(library.array(random.normal(size=n)) for _ in range(2)), random.normal(size=q))
    slopes = [np.concatenate([(by, *sums) for by, sums in p.slopes(stage, at, to, [0.0, 1.0, 0.3])]) for p in both]
    found = [passes.consistent(stage, at, 1e-9) for passes in both]
    proofs = [passes.proof(found[0].alpha, found[0].beta, at.score, at.b) for passes in both]
    points = np.sort(random.normal(size=(3, q)), axis=0)
    below = [passes.caps_below(at.score, points) for passes in both]
    assert not np.array_equal(below[0], 0.0 * below[0]) or q == 0
    rest = ((*sides[k], *changes[k], slopes[k], proofs[k], below[k]) for k in range(2))
    for one, other in zip(*rest, strict=True):
        assert_same(one, other)
    for one, other in zip(*found, strict=True):
        assert_same(one, other, atol=1e-8)


def system_of(library, n=400, q=3, n_features=20):
    from ordsvm.kernels.products.fused import FusedGaussianProducts

    random = np.random.default_rng(0)
    products = FusedGaussianProducts(library, random.normal(size=(n, n_features)), None, 1 / n_features)
    free = library.index(np.sort(random.permutation(n)[: n - 70]))
    D, E = (library.array(random.uniform(0.2, 1.0, size)) for size in (len(free), (len(free), q)))
    step = Step(*(library.array(random.normal(size=len(free))) for _ in range(2)), library.array(3.0))
    return NewtonSystem(library, products, free, D, E), Nystroem(library, products, n, 40, 0), step


@pytest.mark.parametrize("q", [0, 3])
def test_gradients(q, library):
    from ordsvm.solvers.kernel.proximal_newton.fused_gradients import BEFORE_GRAPH, FusedGradients

    system, nystroem, step = system_of(library, q=q)
    preconditioner = Preconditioner.of(nystroem, system.free, system.diagonal, system.low_rank)
    both = [kind(system, step, preconditioner) for kind in (PlainGradients, FusedGradients)]
    for _ in range(BEFORE_GRAPH + 2):
        sizes = [gradients.iterate()() for gradients in both]
        assert_same(*sizes, atol=1e-4)
        assert_same(both[0].x, both[1].x, atol=1e-5)
    for _ in range(25):
        both[1].iterate()
    assert_same(both[1].x, system.solve_directly(step.right), atol=1e-4)


@pytest.mark.parametrize("n_features", [1, 3, 12, 13, 46, 100, 128, 129, 300])
def test_products(n_features, library):
    from ordsvm.kernels.products.fused import FusedGaussianProducts
    from ordsvm.kernels.products.on_torch import GaussianProducts

    X, order = np.random.default_rng(0).normal(size=(777, n_features)), np.random.default_rng(1).permutation(777)
    fast, plain = (kind(library, X, order, 1 / n_features) for kind in (FusedGaussianProducts, GaussianProducts))
    columns = library.index(np.arange(0, 700, 3))
    values = library.array(np.random.default_rng(2).normal(size=len(columns)))
    expected = plain.exact_product(plain.first(555), plain.rows(columns), values)
    assert_same(fast.exact_product(fast.first(555), fast.rows(columns), values), expected, atol=1e-11)
    assert_same(fast.product(fast.first(555), fast.rows(columns), values), expected, atol=2e-5)


@pytest.mark.parametrize(("apart", "is_bounded"), [(3.0, True), (10.0, False)])
@pytest.mark.parametrize("n_features", [13, 46, 129])
def test_products_of_groups_far_apart(n_features, apart, is_bounded, library, monkeypatch):
    """Squares of the samples are large exponents, so that values keep the factor of their row, or may underflow."""
    from ordsvm.kernels.products import fused
    from ordsvm.kernels.products.on_torch import GaussianProducts

    monkeypatch.setattr(fused, "LEAST_SQUARE", 64)
    random = np.random.default_rng(0)
    X = random.normal(size=(400, n_features))
    X[:, 0] += apart * np.sqrt(n_features) * random.choice([-1.0, 1.0], size=400)
    fast, plain = (kind(library, X, None, 1 / n_features) for kind in (fused.FusedGaussianProducts, GaussianProducts))
    assert not fast._is_factored
    assert fast._is_bounded is is_bounded
    which, values = library.index(np.arange(0, 400, 3)), library.array(random.normal(size=134))
    columns = fast.rows(which)
    expected = plain.exact_product(plain.first(400), plain.rows(which), values)
    assert_same(fast.exact_product(fast.first(400), columns, values), expected, atol=1e-9)
    assert_same(fast.exact_product(columns, columns, values), expected[which], atol=1e-9)
    assert_same(fast.product(fast.first(400), columns, values), expected, atol=1e-4 * apart**2)
    assert_same(fast.product(columns, columns, values), expected[which], atol=1e-4 * apart**2)


@pytest.mark.parametrize("n_features", [3, 13, 46, 100, 129])
@pytest.mark.parametrize("most_sums", [2**26, 1000])
def test_scores(most_sums, n_features, library, monkeypatch):
    """Of all samples for weights of many of them: these among themselves by half of their values, whose sums by row
    may have no room at a time."""
    from ordsvm.kernels.products import fused, fused_square
    from ordsvm.kernels.products.on_torch import GaussianProducts

    X, random = np.random.default_rng(0).normal(size=(700, n_features)), np.random.default_rng(2)
    fast, plain = (kind(library, X, None, 1 / n_features) for kind in (fused.FusedGaussianProducts, GaussianProducts))
    which = library.index(np.sort(random.permutation(650)[:351]))
    values = library.array(random.normal(size=len(which)))
    expected = plain.scores(650, which, values)
    monkeypatch.setattr(fused, "LEAST_SQUARE", 64)
    monkeypatch.setattr(fused_square, "MOST_SUMS", most_sums)
    for exact, atol in ((False, 2e-5), (True, 1e-11)):
        fast.n_values = 0
        assert_same(fast.scores(650, which, values, exact), expected, atol=atol)
        is_halved = n_features <= 64 if exact else fused.FEW_FEATURES < n_features <= 128
        assert fast.n_values == (351 * 352 // 2 + 299 * 351 if is_halved else 650 * 351)


def test_exponential(library):
    from ordsvm.kernels.products.fused import FusedGaussianProducts

    distances = np.concatenate([np.linspace(0.0, 5.0, 300), np.geomspace(1e-9, 60.0, 200)])
    products = FusedGaussianProducts(library, distances[:, None], None, 0.5)
    there = library.array(distances) * np.sqrt(np.log2(np.e))  # not centred: one of two samples of every value is at 0
    products._padded[:, 0], products._norm[:] = there, 0.5 * there**2
    one = library.index([0])
    found = products.exact_product(products.first(500), products.rows(one), library.array([1.0]))
    expected = np.exp(-0.5 * distances**2)
    seen = expected > 1e-300  # exponents of 2 end at -1000
    np.testing.assert_allclose(library.host(found)[seen], expected[seen], rtol=1e-12)
    near = distances < 2
    np.testing.assert_allclose(library.host(found)[near], expected[near], rtol=1e-15)
    assert (np.abs(library.host(found)[~seen]) < 1e-300).all()


@pytest.mark.parametrize("size", [1e7, 1e9])
def test_no_value_is_above_1_whatever_is_rounded(size, library, monkeypatch):
    """Exponents are differences of numbers as large as the squares of features."""
    from ordsvm.kernels.products import fused

    monkeypatch.setattr(fused, "LEAST_SQUARE", 8)
    products = fused.FusedGaussianProducts(library, size * np.random.default_rng(0).normal(size=(40, 20)), None, 1.0)
    every = library.index(np.arange(40))
    one = products.rows(every[:1])
    assert 0 <= float(products.exact_product(products.first(40), one, library.array([1.0])).max()) <= 1
    scores = library.host(products.scores(40, every, library.zeros(40) + 1.0, exact=True))
    assert ((scores >= 0) & (scores <= 40)).all()
    products._norm[3] = np.nan
    assert np.isnan(library.host(products.exact_product(products.first(40), one, library.array([1.0])))[3])


def test_looks_after_exact_scores_have_come(library, monkeypatch):
    """What a certificate has just refuted is not claimed again."""
    monkeypatch.setattr(stages, "FEW_VALUES", 0)
    monkeypatch.setattr(stages, "WORTH_A_CHECK", 0)
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.0)
    monkeypatch.setattr(recorder, "LOOK_SHARE", np.inf)
    X, y = random_data(11, n=60)
    problem, K, seen = FORMULATIONS["svor"](y, N_RANKS, 300.0), RBF(0.5)(X, X), []
    look_there = stages.Stages._look_there

    def look(self, judged):
        found = look_there(self, judged)
        if self.at is not self._judged_at:
            alpha = np.empty(len(problem.hinges))
            alpha[:] = library.host(self.level.columns.flat(judged.alpha))
            seen.append((found[0].gap, problem.certificate(alpha, K @ problem.beta(alpha)).gap))
        return found

    monkeypatch.setattr(stages.Stages, "_look_there", look)
    device = "cuda" if DEVICE == "cuda" else "torch:cpu"
    solve(problem, KernelMatrix.of(RBF(0.5), X, 200.0), ProximalNewton(device=device), Control(tol=1e-7))
    for claimed, true in seen:
        assert claimed == pytest.approx(true, rel=0.2, abs=1e-7)
    assert seen


@pytest.mark.parametrize("name", ["svor", "svorex", "svr-none"])
def test_fits(name, library):
    """With systems that are factored, and with conjugate gradients."""
    X, y = random_data(11, n=60)
    problem, K = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)(X, X)
    for solver in ({}, {"direct": 1, "rank": 16}):
        device = "cuda" if DEVICE == "cuda" else "torch:cpu"
        options = ProximalNewton(device=device, **solver)
        found = solve(problem, KernelMatrix.of(RBF(0.5), X, 200.0), options, Control(tol=1e-4)).result
        proof = problem.certificate(found.alpha, K @ problem.beta(found.alpha))
        assert found.converged
        assert max(proof.violation, proof.relative_gap) <= 1.1e-4
