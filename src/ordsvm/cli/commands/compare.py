from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from scipy.stats import rankdata, wilcoxon
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from ordsvm.atomic_files import require_writable
from ordsvm.cli.commands.tune import Metric, check_metric
from ordsvm.cli.data import DataOptions, Json, Seed, TrainingData, training_data
from ordsvm.cli.machines import machine_classes, make_machine
from ordsvm.cli.options import takes_options
from ordsvm.cli.output import err, note, out, print_json
from ordsvm.cli.recommendation import difference, recommended
from ordsvm.cli.summary import summary_table
from ordsvm.cli.training import TrainingJob, finish
from ordsvm.estimators import RoundedRegressor
from ordsvm.metrics import SCORERS
from ordsvm.problem.labels import encode_labels
from ordsvm.search import OrdinalSearchCV
from ordsvm.tables import TableModel

TEST = "Wilcoxon signed-rank, two-sided"  # of paired folds; Chu & Keerthi's rank-sum test is one of unpaired trials
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, 1.0]}

Models = Annotated[
    list[str], typer.Option("--model", "-m", metavar="NAME", help="A model of those below. Repeatable; else all.")
]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="How often the rows are divided anew.")]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Of each cross-validation.")]
Tune = Annotated[bool, typer.Option("--tune", help="Choose C and gamma of each machine by 3 inner folds.")]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Train the winner on all rows and write it.")
]
CONSTANT = "one rank for all"


@dataclass
class Candidate:
    """A model, and its scores in every fold."""

    name: str
    make: Callable[[], Any]
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    chosen: list[dict[str, Any]] = field(default_factory=list)  # parameters, where they are tuned
    failure: str = ""
    is_machine: bool = True  # of this library, so that it can be written


@dataclass(frozen=True)
class CompareOptions:
    """The options about the comparison."""

    models: Models = field(default_factory=list)
    repeats: Repeats = 3
    folds: Folds = 5
    metric: Metric = "mae"
    tune: Tune = False
    output: Output = ""
    seed: Seed = 0


@takes_options
def compare(data_options: DataOptions, options: CompareOptions, json: Json = False) -> None:
    """Compare machines and baselines by repeated cross-validation, and recommend one with the reason.

    Mean, rank, Wilcoxon's signed-rank test, and how much worse than the best with an interval; -o writes the winner.
    """
    check_metric(options.metric)
    if options.output:
        require_writable(options.output)
    data = training_data(data_options)
    codes = encode_labels(data.labels, data.categories).codes
    fewest = int(np.bincount(codes)[np.unique(codes)].min())
    if fewest < 2:
        raise ValueError("A label has one row only, so a fold would lack it: remove that row, or gather rare labels.")
    inner = _inner_folds(options.seed) if options.tune else None
    candidates = candidates_for(options.models, inner, options.metric)
    _run(candidates, data, codes, options)
    able = [candidate for candidate in candidates if not candidate.failure]
    failures = {candidate.name: candidate.failure for candidate in candidates if candidate.failure}
    if not able:
        name, reason = next(iter(failures.items()))
        raise ValueError(f"No model could be compared. {name}: {reason}")
    rows = comparison(able, SCORERS[options.metric].greater_is_better, options.folds)
    advice = recommended(rows, options.metric, CONSTANT)
    winner = _written(rows, able, advice.model)
    written = _write(winner, data, data_options.target, options) if options.output and winner else None
    if json:
        about = {"metric": options.metric, "folds": options.folds * options.repeats, "test": TEST}
        rows = [row | {"difference": None if row["p"] is None else asdict(row["difference"])} for row in rows]
        advised = asdict(advice) | {"written": winner if written else None}
        print_json(about | {"models": rows, "failed": failures, "recommendation": advised})
        return
    out.print(comparison_table(rows, options.metric, options.folds, options.repeats))
    for name, failure in failures.items():
        out.print(f"[yellow]{name} was left out:[/yellow] {escape(failure)}", soft_wrap=True)
    out.print(f"[bold green]Recommended: {advice.model}:[/bold green] {advice.reason}", soft_wrap=True)
    if written is not None:
        if winner != advice.model:
            note(f"{advice.model} is no machine of ordsvm: {winner}, the best of these, was written.")
        out.print(summary_table(written, None, options.output))


def _run(candidates: list[Candidate], data: TrainingData, codes: Any, options: CompareOptions) -> None:
    """All candidates on all folds, with a bar."""
    splitter = RepeatedStratifiedKFold(n_splits=options.folds, n_repeats=options.repeats, random_state=options.seed)
    bar = (TextColumn("[bold]comparing"), BarColumn(), MofNCompleteColumn(), TextColumn("fits"))
    clock = (TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(), TextColumn("{task.description}"))
    total = options.folds * options.repeats * len(candidates)
    with (
        warnings.catch_warnings(),
        Progress(*bar, *clock, console=err, transient=True, disable=not err.is_terminal) as progress,
    ):
        warnings.simplefilter("ignore")  # of folds with few rows of a label, and of models that meet their limits
        task = progress.add_task("", total=total)
        for train, test in splitter.split(np.zeros(len(codes)), codes):
            for candidate in candidates:
                progress.update(task, description=candidate.name)
                run_fold(candidate, data, train, test, options.metric)
                progress.advance(task)


def _written(rows: list[dict[str, Any]], able: list[Candidate], advised: str) -> str | None:
    """The machine for the file: the one advised or, where that is a baseline, the best machine."""
    machines = {candidate.name for candidate in able if candidate.is_machine}
    return advised if advised in machines else next((row["model"] for row in rows if row["model"] in machines), None)


def _write(name: str, data: TrainingData, target: str, options: CompareOptions) -> TableModel:
    """Trains a machine on all rows, tuned as in the folds, and writes it."""
    machine = make_machine(name, {}, data.categories)
    every = np.random.RandomState(options.seed).permutation(len(data.labels))
    rows, labels = data.take(every)
    if options.tune:
        encoder = None if data.encoder is None else clone(data.encoder).fit(rows)
        features = rows if encoder is None else encoder.transform(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of candidates; the winner's own come below
            machine = _search(machine, _inner_folds(options.seed), options.metric).fit(features, labels).best_estimator_
        machine = clone(machine)
    model = TableModel(machine, data.encoder, target).fit(rows, labels)
    finish(model, TrainingJob(machine, data, every, np.empty(0, dtype=np.int64)), options.output)
    return model


def _inner_folds(seed: int) -> StratifiedKFold:
    """Of random rows: files are often sorted."""
    return StratifiedKFold(3, shuffle=True, random_state=seed)


def candidates_for(names: list[str], inner: StratifiedKFold | None, metric: str) -> list[Candidate]:
    """The machines, tuned by the inner folds if there are any; and baselines, unless names are given."""
    chosen = names or list(machine_classes())
    candidates = [Candidate(name, partial(_machine, name, inner, metric)) for name in chosen]
    return candidates if names else candidates + list(baselines())


def baselines() -> Iterator[Candidate]:
    """The middle rank for all rows, and models of other libraries where they are installed, which sort labels."""
    yield Candidate(CONSTANT, lambda: RoundedRegressor(DummyRegressor(strategy="median")), is_machine=False)
    logistic = partial(LogisticRegression, max_iter=1000)
    yield Candidate("LogisticRegression (scikit-learn)", logistic, is_machine=False)
    try:
        from mord import LogisticAT
    except ImportError:
        return
    yield Candidate("LogisticAT (mord)", LogisticAT, is_machine=False)


def _machine(name: str, inner: StratifiedKFold | None, metric: str) -> Any:
    machine = make_machine(name, {}, None)
    return machine if inner is None else _search(machine, inner, metric)


def _search(machine: Any, inner: StratifiedKFold, metric: str) -> OrdinalSearchCV:
    prefix = "regressor__" if hasattr(machine, "regressor") else ""
    known = machine.get_params()
    grid = {f"{prefix}{key}": values for key, values in GRID.items() if f"{prefix}{key}" in known}
    return OrdinalSearchCV(machine, grid, cv=inner, scoring=metric)


def run_fold(candidate: Candidate, data: TrainingData, train: Any, test: Any, metric: str) -> None:
    """One fold: the columns are learned from its training rows alone, and ranks take the place of labels."""
    if candidate.failure:
        return
    codes = encode_labels(data.labels, data.categories).codes
    (known, _), (new, _) = data.take(train), data.take(test)
    if data.encoder is not None:
        encoder = clone(data.encoder).fit(known)
        known, new = encoder.transform(known), encoder.transform(new)
    began = time.perf_counter()
    try:
        model = candidate.make().fit(known, codes[train])
        candidate.seconds.append(time.perf_counter() - began)
        predicted = model.predict(new)
    except (ValueError, TypeError) as error:
        candidate.failure = " ".join(str(error).split())
        return
    if hasattr(model, "best_params_"):
        candidate.chosen.append({key.split("__")[-1]: value for key, value in model.best_params_.items()})
    ranks = np.arange(codes.max() + 1)
    candidate.scores.append(SCORERS[metric].metric(codes[test], predicted, categories=ranks))


def comparison(candidates: list[Candidate], greater: bool, n_folds: int) -> list[dict[str, Any]]:
    """Best first: mean, deviation, mean rank, the p-value of the signed-rank test against the best, and how much worse
    than that."""
    scores = np.array([candidate.scores for candidate in candidates])
    ranks = rankdata(-scores if greater else scores, axis=0).mean(axis=1)
    order = np.argsort(-scores.mean(axis=1) if greater else scores.mean(axis=1), kind="stable")
    best = scores[order[0]]
    return [
        {
            "model": candidates[i].name,
            "mean": float(scores[i].mean()),
            "deviation": float(scores[i].std(ddof=1)),
            "rank": float(ranks[i]),
            "p": None if i == order[0] else _p_value(scores[i], best),
            "difference": difference(scores[i], best, greater, n_folds),
            "seconds": float(np.mean(candidates[i].seconds)),
            "chosen": _most_frequent(candidates[i].chosen),
        }
        for i in order
    ]


def _most_frequent(chosen: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Parameters that most folds have chosen; None where nothing is tuned."""
    counted = Counter(tuple(sorted(each.items())) for each in chosen)
    return dict(counted.most_common(1)[0][0]) if counted else None


def _p_value(one: Any, other: Any) -> float:
    """Of Wilcoxon's signed-rank test."""
    return 1.0 if np.allclose(one, other) else float(wilcoxon(one, other).pvalue)


def comparison_table(rows: list[dict[str, Any]], metric: str, folds: int, repeats: int) -> Table:
    caption = (
        f"{repeats} × {folds} folds. Rank: mean place among the models of a fold. p: Wilcoxon's signed-rank test of "
        "paired folds against the best, two-sided (not the rank-sum test of Chu & Keerthi's tables); folds share rows, "
        "so that small values are too optimistic. Worse by: than the best, with a 95 % interval that allows for the "
        "shared rows (Nadeau & Bengio 2003)."
    )
    table = Table(header_style="bold", caption=caption, caption_justify="left")
    table.add_column("model")
    is_tuned = any(row["chosen"] for row in rows)
    for heading in (f"{metric}, mean ± deviation", "worse by", "rank", "p", "seconds a fit"):
        table.add_column(heading, justify="right")
    if is_tuned:
        table.add_column("chosen most often")
    for i, row in enumerate(rows):
        style = "bold green" if i == 0 else ("" if not row["difference"].is_clear else "dim")
        table.add_row(row["model"], *_cells(row), *([_parameters(row)] if is_tuned else []), style=style)
    return table


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    gap, is_best = row["difference"], row["p"] is None
    worse = "–" if is_best else f"{gap.mean:.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
    p = "–" if is_best else f"{row['p']:.3f}"
    return f"{row['mean']:.3f} ± {row['deviation']:.3f}", worse, f"{row['rank']:.1f}", p, f"{row['seconds']:.2f}"


def _parameters(row: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value:g}" for key, value in (row["chosen"] or {}).items())
