"""All problems of a machine of several in one call of the core: the same answers as one by one, proofs and limits."""

import pickle
import signal
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from ordsvm import NPSVOR, SVC, certify, formulations, load, save
from ordsvm.estimators.base import prepare
from ordsvm.estimators.saturation import _attainable, _counted, _share_of_pairs
from ordsvm.kernels import RBF, KernelMatrix
from ordsvm.problem import Treatment
from ordsvm.solvers import Control
from ordsvm.solvers.kernel.together import _in_one_call
from tests.cases import random_data
from tests.svc_cases import assert_same_machine, every_intercept, every_scheme

TIGHT = {"gamma": 0.4, "tol": 1e-8}


def five_classes(seed: int = 0, n: int = 150):
    return random_data(seed, n=n, n_ranks=5)


def hard_pairs(n: int = 3000, C: float = 1e5):
    """Problems of pure noise, which steps take seconds for."""
    X, y = np.random.default_rng(0).normal(size=(n, 3)), np.arange(n) * 3 // n
    problems = formulations.svc_pairs(y, np.full(n, C), Treatment.FREE)
    return problems, KernelMatrix(RBF(0.5).rows(X))


@every_intercept
@every_scheme
def test_answers_are_those_of_problems_one_by_one(multi_class, intercept):
    X, y = five_classes()
    names = np.array(["e", "a", "d", "b", "c"])[y]
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(y))
    options = TIGHT | {"multi_class": multi_class, "intercept": intercept, "class_weight": "balanced"}
    model = SVC(**options).fit(X, names, weight)
    assert {result.solver for result in model.results_} == {"together"}
    assert model.result_.status == "converged"
    assert_same_machine(model, SVC(solver="block", **options).fit(X, names, weight), X)
    proof = certify(model, X, names, weight)
    assert proof.relative_gap <= 1e-8
    assert model.result_.objective == pytest.approx(proof.primal, rel=1e-10)


@pytest.mark.parametrize("C", [0.1, 10.0, 3000.0])
def test_ranks_of_npsvor_are_those_one_by_one(C):
    """At the largest C Newton's method goes on, and the core after it."""
    X, y = random_data(3, n=260)
    model = NPSVOR(C=C, gamma=0.4, tol=1e-5).fit(X, y)
    assert model.result_.solver == "together"
    other = NPSVOR(C=C, gamma=0.4, tol=1e-5, solver="block").fit(X, y)
    assert model.result_.objective == pytest.approx(other.result_.objective, rel=2e-5)
    assert certify(model, X, y).relative_gap <= 1e-5
    scores = np.column_stack([rbf_kernel(X, model.support_vectors_, 0.4) @ row for row in model.dual_coef_])
    np.testing.assert_allclose(model.rank_scores(X), scores + model.intercept_, atol=1e-8 * C)


@every_scheme
def test_sparse_and_precomputed_samples(multi_class):
    X, y = five_classes(2)
    expected = SVC(multi_class=multi_class, **TIGHT).fit(X, y)
    wide = sparse.csr_matrix(np.hstack([X, np.zeros((len(X), 9000))]))
    for model, samples in (
        (SVC(multi_class=multi_class, **TIGHT), sparse.csr_matrix(X)),
        (SVC(multi_class=multi_class, **TIGHT), wide),
        (SVC(multi_class=multi_class, kernel="precomputed", tol=1e-8), rbf_kernel(X, gamma=0.4)),
        (SVC(multi_class=multi_class, **TIGHT), np.asfortranarray(X)),
    ):
        assert model.fit(samples, y).result_.solver == "together"
        np.testing.assert_allclose(model.decision_function(samples), expected.decision_function(X), atol=1e-5)
        np.testing.assert_array_equal(model.support_, expected.support_)


def test_a_callable_kernel_and_one_that_is_not_definite_go_one_by_one():
    X, y = five_classes(4, n=80)
    expected = SVC(**TIGHT).fit(X, y)
    model = SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=1e-8).fit(X, y)
    assert model.result_.solver == "block"
    assert_same_machine(model, expected, X)
    assert SVC(kernel="sigmoid", gamma=0.01, C=100.0).fit(X, y).result_.solver == "smo"


def test_what_is_watched_or_counted_goes_one_by_one():
    X, y = five_classes(5, n=80)
    expected = SVC(**TIGHT).fit(X, y)
    seen = []
    assert_same_machine(SVC(callback=seen.append, **TIGHT).fit(X, y), expected, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SVC(max_iter=3, **TIGHT).fit(X, y).n_iter_.tolist() == [3] * 10


@every_scheme
def test_a_class_with_one_sample_and_samples_of_no_weight(multi_class):
    X, y = five_classes(6)
    y = np.where(np.arange(len(y)) == 7, 5, y)
    weight = np.where(np.arange(len(y)) % 4 == 1, 0.0, 1.0)
    weight[7] = 1.0
    model = SVC(multi_class=multi_class, **TIGHT).fit(X, y, weight)
    assert model.result_.solver == "together"
    without = SVC(multi_class=multi_class, **TIGHT).fit(X[weight > 0], y[weight > 0])
    assert_same_machine(model, without, X)
    assert not np.isin(model.support_, np.flatnonzero(weight == 0)).any()


@pytest.mark.parametrize("machine", [SVC(gamma=0.4), SVC(gamma=0.4, multi_class="ovr"), NPSVOR(gamma=0.4)], ids=str)
def test_no_number_of_threads_changes_a_bit(machine):
    X, y = five_classes(7, n=300)
    alphas = [machine.set_params(n_threads=n).fit(X, y).result_.alpha for n in (1, 2, 3)]
    alphas.append(machine.set_params(deterministic=True).fit(X, y).result_.alpha)
    machine.set_params(deterministic=False)
    for alpha in alphas[1:]:
        np.testing.assert_array_equal(alpha, alphas[0])


def test_rows_are_shared_as_far_as_memory_allows():
    """With rows of classes kept, with rows of single problems only, and with too little for either."""
    X, y = five_classes(8, n=600)
    models = [SVC(gamma=0.4, n_threads=1, cache_size=size).fit(X, y) for size in (200, 1.0, 0.3)]
    assert [model.result_.solver for model in models] == ["together", "together", "block"]
    np.testing.assert_array_equal(models[0].result_.alpha, models[1].result_.alpha)
    np.testing.assert_allclose(models[0].decision_function(X), models[2].decision_function(X), atol=1e-2)


@pytest.mark.parametrize("machine", [SVC(), NPSVOR()], ids=str)
def test_files_and_pickles_keep_the_machine(machine, tmp_path):
    X, y = five_classes(12)
    save(machine.fit(X, y), tmp_path / "machine.ordsvm")
    for copy in (load(tmp_path / "machine.ordsvm"), pickle.loads(pickle.dumps(machine))):
        np.testing.assert_array_equal(copy.predict(X), machine.predict(X))
        assert copy.result_.solver == "together"


def test_it_starts_from_the_last_answer():
    X, y = five_classes(9)
    model = SVC(warm_start=True, **TIGHT).fit(X, y)
    cold = model.n_iter_.sum()
    assert model.fit(X, y).n_iter_.sum() < 0.1 * cold
    assert model.result_.status == "converged"


def test_time_is_up_and_what_was_found_is_proven():
    X, y = np.random.default_rng(0).normal(size=(900, 3)), np.arange(900) % 3
    model = SVC(C=1e6, gamma=0.5, tol=1e-9, time_limit=0.05)
    with pytest.warns(match="stopped by time_limit"):
        model.fit(X, y)
    assert model.result_.status == "time_limit"
    assert certify(model, X, y).primal == pytest.approx(model.result_.objective, rel=1e-6)


def test_a_problem_that_lasts_is_looked_at():
    problems, matrix = hard_pairs()
    solutions = _in_one_call(problems, [None] * 3, matrix, Control(tol=1e-9, time_limit=2.0), newton_share=0.0)
    assert solutions is not None
    looks = [progress for solution in solutions for progress in solution.result.history]
    assert looks
    for look in looks:
        assert look.solver == "together"
        assert look.n_support > 0
        assert look.gap >= 0.0


def test_ctrl_c_ends_all_problems():
    problems, matrix = hard_pairs()

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            _in_one_call(problems, [None] * 3, matrix, Control(tol=1e-9, n_threads=2), newton_share=0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert SVC().fit(*five_classes()).result_.converged


@pytest.mark.parametrize("in_order", [True, False])
def test_tables_of_pairs_are_those_of_two_classes(in_order):
    random = np.random.default_rng(0)
    codes = random.integers(4, size=40)
    codes = np.sort(codes) if in_order else codes
    C = random.uniform(0.5, 2.0, 40) * (random.uniform(size=40) > 0.2)
    found = formulations.svc_pairs(codes, C, Treatment.FREE)
    pairs = [(yes, no) for yes in range(4) for no in range(yes + 1, 4)]
    for problem, (yes, no) in zip(found, pairs, strict=True):
        side = np.where(codes == yes, 1.0, -1.0)
        expected = formulations.svc(side, C * ((codes == yes) | (codes == no)), Treatment.FREE)
        for column in ("sample", "threshold", "sign", "offset", "cap"):
            own, other = getattr(problem.hinges, column), getattr(expected.hinges, column)
            np.testing.assert_array_equal(own, other)
            assert own.dtype == other.dtype


@every_intercept
@every_scheme
def test_the_share_of_their_bounds_for_all_problems_at_once(multi_class, intercept):
    X, y = five_classes(10)
    machine = SVC(multi_class=multi_class, intercept=intercept)
    problems = prepare(machine, X, y).task.problems
    alpha = machine.fit(X, y).result_.alpha
    attainable = sum(_attainable(problem, _counted(problem)) for problem in problems)
    assert _share_of_pairs(problems, alpha) == pytest.approx(alpha.sum() / attainable, rel=1e-12)


def test_problems_that_share_pairs_of_groups_are_left_to_others():
    """Classes 0 and 1 meet in two problems, and only values within a group are kept."""
    X, y = random_data(11, n=40)
    left_out = [y == 3, y == 2, (y == 1) | (y == 3)]
    problems = [formulations.svc(np.where(y == 0, 1.0, -1.0), 1.0 * ~out, Treatment.FREE) for out in left_out]
    matrix = KernelMatrix(RBF(0.5).rows(X))
    assert _in_one_call(problems, [None] * 3, matrix, Control(), 0.05) is None
    assert _in_one_call(problems[:2], [None] * 2, matrix, Control(), 0.05) is not None
