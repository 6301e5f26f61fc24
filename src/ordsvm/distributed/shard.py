"""The rows of one worker, and what it does with them in a round.

Every round minimises, in each shard on its own, a bound of the dual of all rows: that of CoCoA⁺ (Ma et al. 2015), whose
scores are those of w + σ'Δw, Δw what the shard itself has changed, and whose curvatures are σ'|x|². With σ'β for the
dual variables that is the problem of cpp/linear as it is, at σ' times the caps and with the weights of all rows; so
that is how β is kept here. σ' = the number of shards makes it a bound whatever the rows.

All functions are pure: dual variables come in and go out, and Dask may repeat any of it on another worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.problem.label_table import LabelTable
from ordsvm.rows.memory import block_of
from ordsvm.solvers.linear.rank_dcd import NoStop
from ordsvm.solvers.linear.solve import SampleColumns, machine_of

Duals = NDArray[np.floating]  # σ'β, (n_samples, n_variables)


@dataclass(frozen=True)
class Job:
    """The part of the problem that is the same for all workers."""

    table: LabelTable
    n_features: int
    intercept: bool = True
    squared: bool = False
    precise: bool = False
    sigma: float = 1.0  # the number of shards
    rho: float = 1.0  # the share of a step on β that its bias follows at once
    n_samples: int = 0  # of all shards

    def machine(self, samples: SampleColumns, seed: int = 0) -> _core.Machine:
        options = _core.LinearOptions(
            intercept=self.intercept, squared=self.squared, precise=self.precise, rho=self.rho, n_threads=1, seed=seed
        )
        return machine_of(self.table.times(self.sigma), samples, options)


@dataclass(frozen=True)
class Step:
    """How a round begins: `momentum` times the last move ahead, with biases and sums there; and the order's seed."""

    momentum: float
    biases: Floats
    sums: Floats
    passes: int
    seed: int


@dataclass(frozen=True)
class Part:
    """What some shards contribute to the weights and sums, and how far they would move the biases."""

    coef: Floats
    sums: Floats
    biases: Floats

    def __sizeof__(self) -> int:
        """The size by which Dask accounts for memory and transfers."""
        return self.coef.nbytes


def total(*parts: Part) -> Part:
    coef = parts[0].coef.copy()
    for part in parts[1:]:
        coef += part.coef
    sums, biases = (np.sum(column, axis=0) for column in zip(*((p.sums, p.biases) for p in parts), strict=True))
    return Part(coef, sums, biases)


@dataclass(frozen=True)
class Shared:
    """The same on all workers: weights (features, columns), biases or thresholds, and sums of the dual variables."""

    coef: Floats
    biases: Floats
    sums: Floats

    def __sizeof__(self) -> int:
        return self.coef.nbytes

    @classmethod
    def of(cls, biases: Floats, *parts: Part) -> Self:
        """What all parts come to, from these biases on."""
        whole = total(*parts)
        return cls(whole.coef, biases + whole.biases, whole.sums)

    def without_coef(self) -> tuple[Floats, Floats, float]:
        """What is small: biases, sums, and the square of the weights."""
        return self.biases, self.sums, float(np.vdot(self.coef, self.coef))


@dataclass(frozen=True)
class Moved:
    """What local passes have made of a shard."""

    beta: Duals
    part: Part


@dataclass(frozen=True)
class Proof:
    """Sums over samples of what makes the objectives, and the largest violation."""

    loss: float
    linear: float
    violation: float


@dataclass(frozen=True)
class Shard:
    """Rows that lie on one worker, in the blocks in which they came, one after the other."""

    rows: Sequence[Any]
    samples: SampleColumns

    @property
    def n_samples(self) -> int:
        return len(self.samples.labels)

    def blocks(self) -> Iterator[tuple[int, _core.RowBlock]]:
        first = 0
        for X in self.rows:
            yield first, block_of(X)
            first += X.shape[0]


def descend(
    shard: Shard, job: Job, step: Step, beta: Duals, before: Duals, shared: Shared, shared_before: Shared
) -> Moved:
    """Passes of coordinate descent over the rows of a shard, from a point ahead of where its variables are."""
    machine = job.machine(shard.samples, step.seed)
    machine.set_biases(step.biases)
    if step.momentum == 0.0:
        _set_variables(machine, shard, beta)
        machine.set_weights(shared.coef, step.sums)
    else:
        machine.set_weights(*_set_ahead(machine, shard, job, step, (beta, before), (shared, shared_before)))
    random, blocks = np.random.default_rng(step.seed), list(shard.blocks())
    for place in (place for _ in range(step.passes) for place in random.permutation(len(blocks))):
        first, block = blocks[place]
        machine.descend(block, first, 1, 0.0, 1, NoStop())
    part = _part(shard, job, machine, step.biases)
    return Moved(_joined(machine.take_variables(shard.n_samples)), part)


def built(shard: Shard, job: Job, beta: Duals) -> Part:
    """What a shard contributes as it is."""
    machine = job.machine(shard.samples)
    _set_variables(machine, shard, beta)
    return _part(shard, job, machine, machine.biases())


def prove(shard: Shard, job: Job, beta: Duals, shared: Shared) -> Proof:
    """One exact pass over the rows at the weights of all."""
    machine = job.machine(shard.samples)
    _set_variables(machine, shard, beta)
    machine.set_biases(shared.biases)
    machine.begin_scores(shared.coef)
    for first, block in shard.blocks():
        machine.score(block, first, 1, NoStop())
    sums = machine.proof()
    return Proof(sums.loss / job.sigma, sums.linear / job.sigma, sums.violation)


def _set_variables(machine: _core.Machine, shard: Shard, beta: Duals) -> None:
    """Block by block, for the core takes them in float64."""
    for first, block in shard.blocks():
        machine.set_variables(beta[first : first + len(block)].astype(np.float64, copy=False), first)


def _set_ahead(
    machine: _core.Machine,
    shard: Shard,
    job: Job,
    step: Step,
    beta: tuple[Duals, Duals],
    shared: tuple[Shared, Shared],
) -> tuple[Floats, Floats]:
    """Sets the variables to where the last move would lead if it went on, or to the nearest point in the box.

    Returns the weights and sums there. The bound is about the point itself, in the box or not: what it takes to bring
    it in counts as a move of this shard.
    """
    coef = shared[0].coef - shared[1].coef
    coef *= step.momentum
    coef += shared[0].coef
    sums, first = step.sums.copy(), 0
    for X in shard.rows:
        now, before = (values[first : first + X.shape[0]].astype(np.float64, copy=False) for values in beta)
        ahead = now + step.momentum * (now - before)
        machine.set_variables(ahead, first)
        back = machine.variables(X.shape[0], first) - ahead
        outside = np.flatnonzero(np.any(np.abs(back) > 1e-6 * np.abs(ahead), axis=1))  # others are only rounded
        if len(outside):
            sums += back[outside].sum(axis=0)
            moves = back[outside].sum(axis=1, keepdims=True) if job.table.shared else back[outside]
            coef += X[outside].T @ moves
        first += X.shape[0]
    return coef, sums


def _part(shard: Shard, job: Job, machine: _core.Machine, biases: Floats) -> Part:
    machine.begin_proof()
    for first, block in shard.blocks():
        machine.build(block, first)
    coef = machine.take_weights()
    coef /= job.sigma
    sums = machine.variable_sums(shard.n_samples) / job.sigma if job.intercept else np.zeros(job.table.n_columns)
    return Part(coef, sums, (machine.biases() - biases) / job.sigma)


def _joined(columns: Sequence[Duals]) -> Duals:
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
