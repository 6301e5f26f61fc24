"""What comes back from the workers after the last round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ordsvm.distributed.rounds import Rounds, State
from ordsvm.distributed.shard import Duals, Shard
from ordsvm.estimators.linear import LinearTask
from ordsvm.estimators.validation import weights_or_none
from ordsvm.solvers.solution import DualVariables, LinearSolution

DUAL_BYTES = 1 << 28  # dual variables that take more stay where they are


def solution_of(
    rounds: Rounds, task: LinearTask, status: str, state: State, blocks: Sequence[Sequence[int]]
) -> tuple[LinearTask, LinearSolution]:
    """The solution; with the dual variables, and the labels they belong to, if these are not too many.

    blocks: for every shard, the numbers of its blocks, in the order of which the samples are.
    """
    job, shared = rounds.job, rounds.client.gather(state.shared)
    result = rounds.recorder.result(state.proof, rounds.counts(), np.empty(0), status)
    beta = DualVariables([np.empty((0, job.n_variables))])
    if 8 * job.n_samples * job.n_variables <= DUAL_BYTES:
        columns = rounds.client.gather(rounds.each_shard(_columns, state.betas))
        values, labels, weight, targets = (_in_order(parts, blocks) for parts in zip(*columns, strict=True))
        beta = DualVariables([values / job.sigma])
        task = replace(task, labels=labels, weight=weights_or_none(weight), targets=targets)
    return task, LinearSolution(shared.coef, shared.biases, beta, result)


def _columns(shard: Shard, beta: Duals) -> tuple[list[Any], ...]:
    """Dual variables, labels, weights and targets, block by block."""
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
