from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
import typer
from joblib import parallel_config
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from ordsvm.cli.data import DataOptions, Json, TrainingData
from ordsvm.cli.findings import findings_list, findings_of_training, in_file, plain
from ordsvm.cli.heat import heat_map
from ordsvm.cli.options import takes_options
from ordsvm.cli.output import err, note, out, print_json
from ordsvm.cli.summary import summarise, summary_table
from ordsvm.cli.training import TrainingJob, TrainOptions, finish, prepare
from ordsvm.findings import Findings
from ordsvm.metrics import SCORERS
from ordsvm.search import OrdinalSearchCV
from ordsvm.search.methods import METHODS
from ordsvm.search.remarks import edges_of_search
from ordsvm.tables import TableModel

Folds = Annotated[int, typer.Option("--folds", min=2, help="Of the cross-validation.")]
Metric = Annotated[str, typer.Option("--metric", metavar="NAME", help=f"What to choose by: {', '.join(SCORERS)}.")]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Which fits to make. racing: loose ones first, exact ones of the best; exhaustive: all; pruned: none that "
        "is proven to lose; halving: on few rows first.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Folds at a time; -1: as many as there are cores.")]


@takes_options
def tune(
    data_options: DataOptions,
    options: TrainOptions,
    folds: Folds = 5,
    metric: Metric = "mae",
    jobs: Jobs = -1,
    method: Method = "racing",
    json: Json = False,
    **parameters: Any,
) -> None:
    """Search for the best C and gamma, first 7 × 7 coarsely, then 9 × 9 finely, and write the winner.

    The search is Chu & Keerthi's (2007): log10 C and log10 of 2·gamma from −3 to 3, then steps of 0.2 around the best.
    """
    check_metric(metric)
    check_method(method)
    job = prepare(data_options, options, parameters)
    search = searched(job, folds, metric, {"n_jobs": jobs, "method": method}, options.checkpoint)
    fitted = winner(search, job.data, data_options.target)
    tried = tuning(search, metric)
    found = Findings([*findings_of_training(fitted, job), *edges_of_search(search)])
    held_out = finish(fitted, job, options.output, tuning=tried, findings=in_file(found))
    if json:
        summary = summarise(fitted, held_out) | {"output": options.output, "tuning": tried}
        print_json(summary | {"findings": plain(found)})
        return
    for picture in heat_maps(tried):
        out.print(picture)
        out.print()
    if left_out := words_for_missing_scores(tried):
        out.print(left_out, style="dim")
        out.print()
    out.print(summary_table(fitted, held_out, options.output))
    out.print(findings_list(found))


def check_metric(name: str) -> None:
    if name not in SCORERS:
        raise ValueError(f"--metric {name} is unknown: give one of {', '.join(SCORERS)}.")


def check_method(name: str) -> None:
    if name not in METHODS:
        raise ValueError(f"--method {name} is unknown: give one of {', '.join(METHODS)}.")


class _CountingScorer:
    """A scorer that moves a progress bar."""

    def __init__(self, scorer: Any, bar: Progress, task: Any) -> None:
        self._scorer, self._bar, self._task = scorer, bar, task
        self.__wrapped__ = scorer

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        score = self._scorer(estimator, X, y, sample_weight=sample_weight)
        self._bar.advance(self._task)
        return score

    def __getstate__(self) -> dict[str, Any]:
        """What a checkpoint describes: the scorer alone."""
        return {"scorer": self._scorer}


def searched(job: TrainingJob, folds: int, metric: str, how: dict[str, Any], checkpoint: str | None) -> OrdinalSearchCV:
    """The fitted search, with a progress bar on the way."""
    machine, encoder = job.machine, job.data.encoder
    steps = [("encoder", encoder), ("machine", machine)]
    estimator = Pipeline(steps if encoder is not None else steps[1:])
    rows, labels = job.data.take(job.train)
    columns = (
        TextColumn("[bold]searching"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("fits"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        has_gamma = getattr(machine, "kernel", "linear") != "linear"
        scorer = _CountingScorer(SCORERS[metric], bar, bar.add_task("", total=folds * (130 if has_gamma else 16)))
        search = OrdinalSearchCV(estimator, scoring=scorer, cv=folds, error_score="raise", **how)
        # Threads share the bar, and the core works without Python's lock.
        with parallel_config("threading"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(rows, labels, checkpoint=checkpoint)
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            note(str(warning.message))
    return search


def winner(search: OrdinalSearchCV, data: TrainingData, target: str) -> TableModel:
    """The best machine, trained on all rows, with its encoder."""
    best = search.best_estimator_
    fitted = TableModel(search.estimator[-1].set_params(**best[-1].get_params()), data.encoder, target)
    fitted.encoder_ = best[0] if data.encoder is not None else None
    fitted.machine_ = best[-1]
    return fitted


def tuning(search: OrdinalSearchCV, metric: str) -> dict[str, Any]:
    """Return what was tried and how good it was, for heat maps.

    The score is NaN where a candidate was not tried on all folds, or, by halving, not on all rows: the mean of some
    folds is no match for that of all. `n_folds` says on how many it was, `n_rows` of how many rows by halving.
    """
    results = search.cv_results_
    names = [name for name in results if name.startswith("param_")]
    sign = 1.0 if SCORERS[metric].greater_is_better else -1.0
    tried = {name.split("__")[-1]: np.asarray(results[name], dtype=np.float64) for name in names}
    stage = np.asarray(results.get("stage", np.ones(len(results["params"]))), dtype=np.int64)
    splits = np.array([results[f"split{fold}_test_score"] for fold in range(search.n_splits_)])
    score = sign * np.asarray(results["mean_test_score"], dtype=np.float64)
    counts = {"metric": metric, "folds": int(search.n_splits_), "best": int(search.best_index_)}
    columns = {"stage": stage, "n_folds": np.isfinite(splits).sum(axis=0)}
    if "n_resources" in results:
        columns["n_rows"] = np.asarray(results["n_resources"], dtype=np.int64)
        score = np.where(columns["n_rows"] == columns["n_rows"].max(), score, np.nan)
    return counts | {"score": score, "tried": tried} | columns


def words_for_missing_scores(tried: dict[str, Any]) -> str:
    """Return what a heat map's cells without a figure are; nothing where there are none."""
    points = np.column_stack([tried["stage"], *tried["tried"].values()])
    n_points = len(np.unique(points, axis=0))
    n_missing = n_points - len(np.unique(points[np.isfinite(tried["score"])], axis=0))
    if not n_missing:
        return ""
    short = "a part of the rows" if "n_rows" in tried else f"some of the {tried['folds']} folds"
    return f"–: {n_missing} of {n_points} points fell behind on {short} and were tried no further: they have no mean."


def heat_maps(tried: dict[str, Any]) -> list[Table]:
    stages = {1: "coarse", 2: "fine"}
    return [heat_map(tried, stage, name) for stage, name in stages.items() if np.any(tried["stage"] == stage)]
