"""What every linear machine on distributed rows does: load → formulate → solve in rounds → recover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Self

import dask
import numpy as np
from distributed import Client, Future
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import Samples, SampleWeight
from ordsvm.checks import shortened
from ordsvm.distributed.cluster import assigned, connected, refuse_checkpoint, slots
from ordsvm.distributed.copies import release
from ordsvm.distributed.feature_rounds import DistributedNewton
from ordsvm.distributed.loading import SHARES, Coding, Summary, assemble, load, summary
from ordsvm.distributed.partitions import Block, blocks_of, is_distributed, map_blocks
from ordsvm.distributed.rounds import Rounds
from ordsvm.distributed.shard import Job
from ordsvm.distributed.shards import Place, Shards
from ordsvm.distributed.solution import solution_of, what_predicts, with_duals
from ordsvm.estimators.base import Fit, all_or_nothing
from ordsvm.estimators.linear import LinearMachine, LinearTask, check_target, formulate
from ordsvm.estimators.validation import check_seed, class_weights
from ordsvm.problem.labels import Ranks
from ordsvm.solvers.auto import LinearRows, Work, auto, is_auto
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint
from ordsvm.solvers.linear.rank_dcd import FINEST_FLOAT
from ordsvm.solvers.solution import LinearSolution


class DistributedMachine(LinearMachine):
    """Training on the workers of a Dask cluster; mixed in before the machine whose problem it solves.

    The problem, the parameters and what is left after training are those of the machine of the same name in ordsvm,
    except for these:

    solver : "auto", "cocoa", "linear-interior-point" or their options; n_iter_ counts passes of a worker over its rows
    n_threads : shards a worker, at most; None is one for every thread it has
    time_limit, callback : looked at after every round; the gap of every `Progress` is proved
    warm_start : not possible
    """

    @all_or_nothing
    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: SampleWeight = None,
        *,
        client: Client | None = None,
        checkpoint: None = None,
    ) -> Self:
        """Train on rows that stay on the workers.

        Parameters
        ----------
        X : dask array, dask data frame or list of delayed blocks
            The rows, dense or CSR; without y, a list of delayed tuples (X, y) or (X, y, sample_weight).
        y : dask array, dask series or list of delayed blocks, default=None
            Labels or targets, divided as X is.
        sample_weight : dask array, dask series or list of delayed blocks, default=None
            Weights, divided as X is.
        client : distributed.Client or None, default=None
            The cluster; None: the current client, or else a cluster of threads in this process while training lasts.
        checkpoint : None, default=None
            Not possible here: rows and dual variables stay on the workers, whose loss a fit survives without one.

        Returns
        -------
        DistributedMachine
            The fitted machine.
        """
        refuse_checkpoint(checkpoint)
        self._check_parameters()
        blocks = blocks_of(X, y, sample_weight)
        with connected(client) as client:
            loaded, summaries = self._loaded(client, blocks)
            try:
                task, solution = self._solved(client, loaded, X, summaries)
            finally:
                release(loaded)
        return Fit(self, None, None, task).recover(solution)

    def _solved(
        self, client: Client, loaded: Sequence[Future], X: Any, summaries: Sequence[Summary]
    ) -> tuple[LinearTask, LinearSolution]:
        self._keep_features(X, summaries)
        task, coding = self._formulated(summaries)
        job = self._job(task, summaries)
        numbers = self._divided(client, loaded, summaries)
        places = [_place(client, job, coding, worker, [loaded[n] for n in own]) for worker, own in numbers]
        solver, blocks = self._solver_options(self._rows_on(len(places), task, summaries)), [own for _, own in numbers]
        with closing(Shards(client, places)) as shards:
            if isinstance(solver, LinearInteriorPoint):
                own = FeatureTask(task.table, task.labels, task.weight, task.targets, job.intercept, job.squared)
                newton = DistributedNewton(shards, job, own, self._control())
                return with_duals(task, newton.solve(), shards, job, newton.betas(), blocks)
            with closing(Rounds(shards, job, solver, self._control())) as rounds:
                return solution_of(rounds, task, *rounds.run(), blocks)

    def _rows_on(self, n_shards: int, task: LinearTask, summaries: Sequence[Summary]) -> LinearRows:
        """What the rows are like, for "auto"."""
        n_samples, n_values = (sum(getattr(part, name) for part in summaries) for name in ("n_samples", "n_values"))
        C = task.table.widths().max() * sum(part.weights.sum() for part in summaries) / n_samples
        return LinearRows(
            n_samples,
            summaries[0].n_features,
            n_values / n_samples,
            n_vectors=task.table.n_vectors,
            stiffness=float(C) * sum(part.squares for part in summaries) / n_samples,
            tol=self._tolerance(None),
            n_shards=n_shards,
        )

    def predict(self, X: Samples) -> Any:
        """Predict the label or target of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array, dask data frame or list of delayed blocks
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,), dask array or list of delayed blocks
            The predictions; of distributed rows not computed yet, and divided as they are.
        """
        return self._each_block("predict", X, super().predict)

    @available_if(is_classifier)
    def decision_function(self, X: Samples) -> Any:
        """Compute the decision values of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array, dask data frame or list of delayed blocks
            The rows.

        Returns
        -------
        ndarray, dask array or list of delayed blocks
            The values, as the machine of the same name in ordsvm has them; of distributed rows not computed yet.
        """
        return self._each_block("decision_function", X, super().decision_function)

    def _each_block(self, method: str, X: Any, local: Callable[[Any], Any]) -> Any:
        if not is_distributed(X):
            return local(X)
        check_is_fitted(self)
        model = clone(self)
        model.__dict__.update(what_predicts(vars(self)))
        return map_blocks(X, getattr(model, method), self.n_features_in_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.deterministic:
            raise ValueError("deterministic=True is not possible with distributed rows: leave it out.")
        if self.warm_start:
            raise ValueError("warm_start=True is not possible with distributed rows: leave it out.")
        if self.device != "cpu" or getattr(self._choose_solver(), "device", "cpu") != "cpu":
            raise ValueError("Distributed rows are computed with by the CPUs of the workers: leave device out.")

    def _choose_solver(self, seed: int | None = None, rows: LinearRows | None = None) -> Any:
        solver = auto(Work("distributed", rows=rows)) if is_auto(self.solver) else self.solver
        if isinstance(solver, str):
            solver = next((kind() for kind in (CoCoA, LinearInteriorPoint) if kind.name == solver), solver)
        if isinstance(solver, LinearInteriorPoint):
            return solver
        if isinstance(solver, CoCoA):
            return solver if seed is None else replace(solver, seed=seed)
        raise ValueError(
            f"solver={shortened(self.solver)} is not for distributed rows: give 'auto', 'cocoa', "
            "'linear-interior-point' or options such as CoCoA()."
        )

    def _solver_options(self, rows: LinearRows) -> CoCoA | LinearInteriorPoint:
        seed = None if self.random_state is None else int(check_seed(self.random_state).randint(2**31))
        return self._choose_solver(seed, rows)

    def _loaded(self, client: Client, blocks: Sequence[Block]) -> tuple[list[Future], list[Summary]]:
        """Blocks with rows, checked and kept where Dask has put them, and what they contain."""
        regression, name = is_regressor(self), type(self).__name__
        checked = dask.delayed(load, pure=False)
        delayed = [checked(n, part.X, part.y, part.weight, regression, name) for n, part in enumerate(blocks)]
        futures = client.compute(delayed)
        summaries = client.gather(client.map(summary, futures, is_regression=regression, pure=False))
        pairs = [pair for pair in zip(futures, summaries, strict=True) if pair[1].n_samples > 0]
        if sum(part.n_samples for _, part in pairs) < 2:
            n_samples = sum(part.n_samples for _, part in pairs)
            raise ValueError(f"There are {n_samples} rows in all blocks: {name} needs at least 2.")
        return [future for future, _ in pairs], [part for _, part in pairs]

    def _keep_features(self, X: Any, summaries: Sequence[Summary]) -> None:
        widths = sorted({part.n_features for part in summaries})
        if len(widths) > 1:
            raise ValueError(f"Blocks have different numbers of features, {widths[0]} and {widths[-1]}: give the same.")
        sample = getattr(X, "_meta", None) if hasattr(X, "columns") else None
        validate_data(self, np.empty((0, widths[0])) if sample is None else sample, skip_check_array=True)

    def _formulated(self, summaries: Sequence[Summary]) -> tuple[LinearTask, Coding]:
        """The problem, formulated as if there were one sample of every class, with the weight of all.

        In regression, as if the targets were their quantiles in every block.
        """
        weights = np.concatenate([part.weights for part in summaries])
        if is_regressor(self):
            targets = np.concatenate([part.quantiles for part in summaries])
            weights = np.repeat(weights / len(SHARES), len(SHARES))
            task = self._formulate(np.empty((len(weights), 1)), targets, weights)
            return task, Coding(None, np.zeros(1, dtype=np.int32), np.ones(1))
        plain = clone(self).set_params(class_weight=None)
        given = [part.categories for part in summaries if part.categories is not None]
        if given and getattr(self, "categories", self) is None:
            plain.set_params(categories=given[0])
        seen = check_target(plain, _all_labels(summaries))
        classes, n_classes = seen.classes, len(seen.classes)
        counts = np.bincount(seen.codes, np.concatenate([part.counts for part in summaries]), n_classes)
        class_weight = _class_weights(self.class_weight, seen, counts)
        total = np.bincount(seen.codes, weights, n_classes) * class_weight
        task = formulate(plain, np.empty((n_classes, 1)), Ranks(classes, np.arange(n_classes)), total)
        return task, Coding(classes, task.labels, class_weight)

    def _job(self, task: LinearTask, summaries: Sequence[Summary]) -> Job:
        return Job(
            task.table,
            n_features=summaries[0].n_features,
            intercept=bool(self.fit_intercept),
            squared=self._is_squared(),
            precise=self._tolerance(None) < FINEST_FLOAT,
            n_samples=sum(part.n_samples for part in summaries),
        )

    def _divided(
        self, client: Client, loaded: Sequence[Future], summaries: Sequence[Summary]
    ) -> list[tuple[str, list[int]]]:
        """Workers, and the numbers of the blocks that make the shard of each; as many shards as threads, at most."""
        holders = client.who_has(loaded)
        where = [next(iter(holders[future.key]), "") for future in loaded]
        places = slots(client, self.n_threads)
        given = assigned([part.n_values for part in summaries], where, places)
        return [(places[slot], numbers) for slot, numbers in given.items()]


def _place(client: Client, job: Job, coding: Coding, worker: str, loaded: Sequence[Future]) -> Place:
    def make(worker: str) -> Future:
        return client.submit(assemble, job, coding, *loaded, workers=[worker], pure=False)

    return Place(worker, make)


def _all_labels(summaries: Sequence[Summary]) -> np.ndarray:
    """Those of all blocks; of different types they are objects, for numbers must not become strings."""
    columns = [part.labels for part in summaries]
    if len({column.dtype.kind for column in columns}) == 1 and columns[0].dtype.kind != "O":
        return np.concatenate(columns)
    labels = [label for column in columns for label in column.tolist()]
    joined = np.empty(len(labels), dtype=object)
    joined[:] = labels
    return joined


def _class_weights(class_weight: Any, seen: Ranks, counts: np.ndarray) -> np.ndarray:
    """As `class_weights`, with so many samples of every class."""
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weights(class_weight, seen)
    share = counts * np.count_nonzero(counts)
    return np.divide(counts.sum(), share, out=np.ones(len(counts)), where=share > 0)
