"""Rounds over the shards of all workers until the duality gap, proved in float64, is small enough.

a round   every worker descends on its own rows (shard.py), the parts of all are added up along a tree, and every
          worker proves the sum on its own rows: weights travel once up the tree and once down
momentum  rounds are steps of proximal gradient descent in a metric of blocks, so they begin ahead of where the last
          one ended, as Nesterov and Beck & Teboulle (2009) have it, and from there again where the dual falls; a
          single shard is better off without
biases    go a share rho of their way to the sums of β before a round, and rho of what these move in it
a loss    the dual variables of a shard are copied to another worker after every round. When a worker is lost, its
          rows are computed again by Dask, its variables taken from the copies, weights built from variables, and
          the round is begun anew
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from distributed import Future

from ordsvm._typing import Floats
from ordsvm.distributed.copies import Copies, kept, release
from ordsvm.distributed.loading import size, zeros
from ordsvm.distributed.shard import Job, Proof, Shared, Step, built, descend, prove, total
from ordsvm.distributed.shards import Shards, WorkerLost
from ordsvm.problem import Certificate
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.recorder import Counts, Recorder, progress_line

PATIENCE = 25  # rounds in which the gap has to fall by a tenth


@dataclass(frozen=True)
class State:
    """Where all shards are: futures of dual variables and of what is shared, and what of it is small."""

    betas: list[Future]
    shared: Future
    biases: Floats
    sums: Floats
    proof: Certificate


class Rounds:
    """A fit under way, as the client runs it."""

    def __init__(self, shards: Shards, job: Job, solver: CoCoA, control: Control) -> None:
        self.recorder = Recorder(solver, control, partial(progress_line, unit="passes"))
        self.shards, self.job, self.solver, self.control = shards, job, solver, control
        self.n_rounds = 0
        self._copies = Copies(shards.client)
        self._tau = 1.0
        self._best = (np.inf, 0)  # gap, and the round that had it; below 0 where there is no more to gain
        self._measure()

    def close(self) -> None:
        """Leaves no copies on the workers."""
        self._copies.close()

    def run(self) -> tuple[str, State]:
        """How it ended, and where."""
        state = before = self._built(
            list(map(self._zeros, range(len(self.shards)))), np.zeros(self.job.table.n_columns)
        )
        while (status := self._end(state.proof)) is None:
            try:
                after = self._round(state, before)
            except WorkerLost:
                state = before = self._built(self._rescued(state.betas), state.biases)
                self._tau = 1.0
                continue
            self.n_rounds += 1
            self._copies.make(after.betas, [place.worker for place in self.shards.places])
            if after.proof.dual < state.proof.dual or len(self.shards) == 1:
                self._tau = 1.0
            if before is not state:
                release(before.betas, [before.shared])
            before, state = state, after
            if self.recorder.look(state.proof, self.counts()):
                return self._end(state.proof) or "callback", state
            self._change_if_stuck(state.proof)
        return status, state

    def _measure(self) -> None:
        """σ', rho and the number of samples, from the sizes of all shards."""
        while True:
            try:
                sizes = self._results(self.shards.each(size, [self.job] * len(self.shards)))
                break
            except WorkerLost:
                self.shards.move_lost()
        n_samples, norms, reach = (sum(column) for column in zip(*map(astuple, sizes), strict=True))
        rho = self.solver.rho_for(norms / n_samples, reach)
        self.job = replace(self.job, sigma=float(len(sizes)), rho=rho, n_samples=n_samples)

    def _round(self, state: State, before: State) -> State:
        step = self._step(state, before)
        steps = [replace(step, seed=step.seed + number) for number in range(len(self.shards))]
        everywhere = [[thing] * len(self.shards) for thing in (self.job, state.shared, before.shared)]
        jobs, shared, shared_before = everywhere
        moved = self.shards.each(descend, jobs, steps, state.betas, before.betas, shared, shared_before)
        betas, parts = (self.shards.each(_attribute, moved, [name] * len(moved)) for name in ("beta", "part"))
        after = self._added(betas, parts, step.biases)
        release(moved)
        return after

    def _step(self, state: State, before: State) -> Step:
        tau = (1 + np.sqrt(1 + 4 * self._tau**2)) / 2
        momentum, self._tau = float((self._tau - 1) / tau), tau
        biases = state.biases + momentum * (state.biases - before.biases)
        sums = state.sums + momentum * (state.sums - before.sums)
        rho, aim = self.job.rho, -sums if self.job.table.shared else sums
        seed = np.random.SeedSequence([int(self.solver.seed), self.n_rounds]).generate_state(1)
        return Step(momentum, biases + rho * (aim - biases), sums, int(self.solver.passes), int(seed[0]))

    def _built(self, betas: list[Future], biases: Floats) -> State:
        """From dual variables alone; biases are as good as any."""
        while True:
            try:
                parts = self.shards.each(built, [self.job] * len(betas), betas)
                return self._added(betas, parts, biases)
            except WorkerLost:
                betas = self._rescued(betas)

    def _added(self, betas: list[Future], parts: list[Future], biases: Floats) -> State:
        """Parts are added along a tree; then every worker proves the sum on its own rows."""
        nodes, inner = self.shards.nodes(parts, total)
        place, last = nodes[0][0], [part for _, part in nodes]
        shared = self.shards.on(place, Shared.of, biases, *last)
        small = self.shards.on(place, Shared.without_coef, shared)
        proofs = self.shards.each(prove, [self.job] * len(betas), betas, [shared] * len(betas))
        (biases, sums, square), *found = self._results([small, *proofs])
        release(inner, last, [small], proofs)
        return State(betas, shared, biases, sums, self._certificate(biases, sums, square, found))

    def _certificate(self, biases: Floats, sums: Floats, square: float, proofs: Sequence[Proof]) -> Certificate:
        primal = 0.5 * (square + biases @ biases) + sum(proof.loss for proof in proofs)
        dual = -0.5 * (square + sums @ sums) - sum(proof.linear for proof in proofs)
        return Certificate(
            primal=float(primal),
            dual=float(dual),
            gap=max(0.0, float(primal - dual)),
            violation=max(proof.violation for proof in proofs),
            thresholds=biases if self.job.table.shared else -biases,
        )

    def _results(self, futures: list[Future]) -> list[Any]:
        """As soon as they and the copies of the last round are there."""
        return self.shards.results(futures, self._copies.unfinished)

    def _rescued(self, betas: Sequence[Future]) -> list[Future]:
        """The dual variables of all shards, those of lost workers from copies, or from 0 where these are lost too."""
        rescued = list(betas)
        for number in self.shards.move_lost():
            copy = self._copies.of(number, list(self.shards.client.nthreads()))
            place = self.shards.places[number]
            rescued[number] = self._zeros(number) if copy is None else self.shards.on(place, kept, copy)
        return rescued

    def _zeros(self, number: int) -> Future:
        return self.shards.of(number, zeros, self.job)

    def _end(self, proof: Certificate) -> str | None:
        """What ends the fit here, if anything does."""
        if not np.isfinite(proof.gap):
            raise ValueError("The weights overflow: scale the features or targets, or lower C.")
        if proof.relative_gap <= self.control.tol:
            return "converged"
        if self._best[1] < 0:
            return "precision"
        if 0 <= self.control.max_iter < (self.n_rounds + 1) * self.solver.passes:
            return "max_iter"
        return self.recorder.status if self.recorder.out_of_time() else None

    def _change_if_stuck(self, proof: Certificate) -> None:
        """Where rounds lead nowhere, biases that follow at once, which can only be slow; then float64."""
        least, seen = self._best
        if proof.gap < 0.9 * least:
            self._best = (proof.gap, self.n_rounds)
            return
        idle = self.n_rounds - seen
        if idle < PATIENCE and proof.gap < 100 * least:
            return
        if self.job.rho == 1.0 and self.job.precise:
            self._best = (least, -1) if idle >= 4 * PATIENCE else self._best
            return
        change = {"rho": min(1.0, 5 * self.job.rho)} if self.job.rho < 1.0 else {"precise": True}
        self.job = replace(self.job, **change)
        self._best, self._tau = (proof.gap, self.n_rounds), 1.0

    def counts(self) -> Counts:
        n_samples = self.job.n_samples
        return Counts(self.n_rounds * int(self.solver.passes), n_support=n_samples, n_active=n_samples)


def _attribute(shard: Any, thing: Any, name: str) -> Any:
    return getattr(thing, name)
