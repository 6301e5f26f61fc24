"""What comes back from the workers after the last round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from distributed import Future

from ordsvm.distributed.rounds import Rounds, State
from ordsvm.distributed.shard import Duals, Job, Shard
from ordsvm.distributed.shards import Shards, WorkerLost
from ordsvm.estimators.linear import LinearTask
from ordsvm.estimators.validation import weights_or_none
from ordsvm.solvers.solution import DualVariables, LinearSolution

DUAL_BYTES = 1 << 28  # dual variables that take more stay where they are


def solution_of(
    rounds: Rounds, task: LinearTask, status: str, state: State, blocks: Sequence[Sequence[int]]
) -> tuple[LinearTask, LinearSolution]:
    """The solution of rounds; with the dual variables, and the labels they belong to, if these are not too many.

    blocks: for every shard, the numbers of its blocks, in the order of which the samples are.
    """
    job, shared = rounds.job, rounds.shards.client.gather(state.shared)
    result = rounds.recorder.result(state.proof, rounds.counts(), np.empty(0), status)
    none = DualVariables([np.empty((0, job.table.n_columns))])
    solution = LinearSolution(shared.coef, shared.biases, none, result)
    return with_duals(task, solution, rounds.shards, job, state.betas, blocks)


def with_duals(
    task: LinearTask,
    solution: LinearSolution,
    shards: Shards,
    job: Job,
    betas: Sequence[Future],
    blocks: Sequence[Sequence[int]],
) -> tuple[LinearTask, LinearSolution]:
    """A solution with σ'β as the shards have it, unless that is too large or was lost."""
    if 8 * job.n_samples * job.table.n_columns > DUAL_BYTES:
        return task, solution
    try:
        columns = shards.results(shards.each(_columns, betas))
    except WorkerLost:
        return task, solution
    if any(column is None for column in columns):
        return task, solution
    values, labels, weight, targets = (_in_order(parts, blocks) for parts in zip(*columns, strict=True))
    task = replace(task, labels=labels, weight=weights_or_none(weight), targets=targets)
    return task, replace(solution, beta=DualVariables([values / job.sigma]))


def _columns(shard: Shard, beta: Duals | None) -> tuple[list[Any], ...] | None:
    """Dual variables, labels, weights and targets, block by block; None where the variables are lost."""
    if beta is None:
        return None
    ends = np.cumsum([X.shape[0] for X in shard.rows])[:-1]
    samples = shard.samples
    weight = np.ones(shard.n_samples) if samples.weight is None else samples.weight
    columns = (beta.astype(np.float64), samples.labels, weight, samples.targets)
    return tuple([None] * len(shard.rows) if column is None else np.split(column, ends) for column in columns)


def _in_order(shards: Sequence[list[Any]], blocks: Sequence[Sequence[int]]) -> Any:
    """The blocks of all shards, joined in the order of their numbers; None where there are none."""
    numbered = sorted(
        (
            (number, part)
            for own, parts in zip(blocks, shards, strict=True)
            for number, part in zip(own, parts, strict=True)
        ),
        key=lambda pair: pair[0],
    )
    columns = [part for _, part in numbered]
    return None if columns[0] is None else np.concatenate(columns)


def what_predicts(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a fitted machine that it predicts with."""
    return {name: value for name, value in fitted.items() if name.endswith("_") and name != "result_"}
