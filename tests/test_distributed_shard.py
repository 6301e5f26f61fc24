"""What a worker does in a round: parts and proofs that add up, and the sub-problem that it solves."""

import numpy as np
import pytest

pytest.importorskip("distributed")
from ordsvm.distributed.shard import Job, Shard, Shared, Step, built, descend, prove, total
from ordsvm.formulations import linear as table
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers.linear.losses import certificate, losses, weights
from ordsvm.solvers.linear.solve import SampleColumns, squared_norms
from tests.cases import N_RANKS, random_data

TABLES = {"npsvor": table.npsvor(N_RANKS, 0.5, 0.7, 0.1), "svor": table.svor(N_RANKS, 0.5)}
every_table = pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)


def shard_of(X, y) -> Shard:
    norms = squared_norms(RowsInMemory(X), 1)
    return Shard([X[:7], X[7:]], SampleColumns(y.astype(np.int32), norms, X.shape[1]))


def halves(X, y):
    return [(shard_of(X[:25], y[:25]), slice(0, 25)), (shard_of(X[25:], y[25:]), slice(25, 60))]


def duals(rows, y, seed: int = 0):
    """Somewhere in the box."""
    low, high = losses(rows, y, None, None, False).bounds()
    return low + np.random.default_rng(seed).random(low.shape) * (high - low)


@every_table
def test_parts_and_proofs_of_shards_add_up_to_those_of_all_rows(rows):
    X, y = random_data(0, n=60)
    job = Job(rows, X.shape[1], precise=True, sigma=2.0)
    beta, biases = duals(rows, y), np.linspace(-1, 1, job.table.n_columns)
    shards = halves(X, y)
    shared = Shared.of(biases, *(built(shard, job, 2.0 * beta[own]) for shard, own in shards))
    coef, best = weights(X, beta, job.table.shared)
    np.testing.assert_allclose(shared.coef, coef, rtol=1e-12)
    np.testing.assert_allclose(-shared.sums if job.table.shared else shared.sums, best, rtol=1e-12)
    np.testing.assert_array_equal(shared.biases, biases)
    proofs = [prove(shard, job, 2.0 * beta[own], shared) for shard, own in shards]
    _, sums, square = shared.without_coef()
    whole = certificate(X, beta, losses(rows, y, None, None, False), job.table.shared, b=biases)
    assert 0.5 * (square + biases @ biases) + sum(proof.loss for proof in proofs) == pytest.approx(whole.primal)
    assert -0.5 * (square + sums @ sums) - sum(proof.linear for proof in proofs) == pytest.approx(whole.dual)
    assert max(proof.violation for proof in proofs) == pytest.approx(whole.violation)


@every_table
@pytest.mark.parametrize("momentum", [0.0, 0.6])
def test_passes_solve_the_sub_problem_of_a_shard(rows, momentum):
    """Scores of w + σ'Δw, with Δw counted from the point ahead, leave no variable a step to take."""
    X, y = random_data(1, n=60)
    sigma, rho = 2.0, 0.3
    job = Job(rows, X.shape[1], precise=True, sigma=sigma, rho=rho)
    (shard, own), (other, others) = halves(X, y)
    now, before = duals(rows, y, 1), duals(rows, y, 2)

    def shared(beta):
        parts = (built(shard, job, sigma * beta[own]), built(other, job, sigma * beta[others]))
        return Shared.of(np.zeros(job.table.n_columns), *parts)

    point = now + momentum * (now - before)
    coef, _ = weights(X, point, job.table.shared)
    biases = np.linspace(-0.2, 0.2, job.table.n_columns)
    step = Step(momentum, biases, point.sum(axis=0), passes=3000, seed=3)
    moved = descend(shard, job, step, sigma * now[own], sigma * before[own], shared(now), shared(before))
    change = moved.beta / sigma - point[own]
    side = -1.0 if job.table.shared else 1.0
    ahead = coef + sigma * weights(X[own], change, job.table.shared)[0]
    inside = np.clip(point[own], *losses(rows, y[own], None, None, False).bounds())
    followed = side * biases + rho * sigma * (moved.beta / sigma - inside).sum(axis=0)
    loss = losses(rows, y[own], None, None, False)
    assert loss.violation(moved.beta / sigma, X[own] @ ahead + followed) < 1e-5
    np.testing.assert_allclose(moved.part.coef, weights(X[own], moved.beta / sigma, job.table.shared)[0], rtol=1e-9)
    assert total(moved.part, moved.part).coef == pytest.approx(2 * moved.part.coef)
