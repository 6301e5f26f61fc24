from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from scipy.stats import rankdata, wilcoxon
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from ordsvm.cli.commands.tune import Metric, check_metric
from ordsvm.cli.data import DataOptions, Json, Seed, TrainingData, training_data
from ordsvm.cli.machines import machine_classes, make_machine
from ordsvm.cli.options import takes_options
from ordsvm.cli.output import err, out, print_json
from ordsvm.labels import encode_labels
from ordsvm.metrics import SCORERS
from ordsvm.model_selection import OrdinalSearchCV

TEST = "Wilcoxon signed-rank, two-sided"  # of paired folds; Chu & Keerthi's rank-sum test is one of unpaired trials
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, 1.0]}

Models = Annotated[list[str], typer.Option("--model", "-m", metavar="NAME", help="A machine. Repeatable; else all.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="How often the rows are divided anew.")]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Of each cross-validation.")]
Tune = Annotated[bool, typer.Option("--tune", help="Choose C and gamma of each machine by 3 inner folds.")]


@dataclass
class Candidate:
    """A model, and its scores in every fold."""

    name: str
    make: Callable[[], Any]
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failure: str = ""


@takes_options
def compare(
    data_options: DataOptions,
    models: Models = [],  # noqa: B006 (Typer copies it)
    repeats: Repeats = 3,
    folds: Folds = 5,
    metric: Metric = "mae",
    tune: Tune = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare machines and baselines by repeated cross-validation: mean, rank, and Wilcoxon's signed-rank test."""
    check_metric(metric)
    data = training_data(data_options)
    codes = encode_labels(data.labels, data.categories).codes
    fewest = int(np.bincount(codes)[np.unique(codes)].min())
    if fewest < 2:
        raise ValueError("A label has one row only, so a fold would lack it: remove that row, or gather rare labels.")
    candidates = candidates_for(models, _inner_folds(seed) if tune else None)
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    with warnings.catch_warnings(), err.status("") as status:
        warnings.simplefilter("ignore")  # of folds with few rows of a label, and of models that meet their limits
        for i, (train, test) in enumerate(splitter.split(np.zeros(len(codes)), codes)):
            for candidate in candidates:
                status.update(f"fold {i + 1} of {folds * repeats}: {candidate.name} …")
                run_fold(candidate, data, train, test, metric)
    rows = comparison(
        [candidate for candidate in candidates if not candidate.failure], SCORERS[metric].greater_is_better
    )
    failures = {candidate.name: candidate.failure for candidate in candidates if candidate.failure}
    if json:
        about = {"metric": metric, "folds": folds * repeats, "test": TEST}
        print_json(about | {"models": rows, "failed": failures})
        return
    out.print(comparison_table(rows, metric, folds, repeats))
    for name, failure in failures.items():
        out.print(f"[yellow]{name} was left out:[/yellow] {failure}", soft_wrap=True)


def _inner_folds(seed: int) -> StratifiedKFold:
    """Of random rows: files are often sorted."""
    return StratifiedKFold(3, shuffle=True, random_state=seed)


def candidates_for(names: list[str], inner: StratifiedKFold | None) -> list[Candidate]:
    """The machines, tuned by the inner folds if there are any; and baselines, unless names are given."""
    chosen = names or list(machine_classes())
    candidates = [Candidate(name, partial(_machine, name, inner)) for name in chosen]
    return candidates if names else candidates + baselines()


def baselines() -> list[Candidate]:
    """Models of other libraries, where they are installed; they sort labels by value."""
    found = [Candidate("LogisticRegression (scikit-learn)", lambda: LogisticRegression(max_iter=1000))]
    try:
        from mord import LogisticAT
    except ImportError:
        return found
    return [*found, Candidate("LogisticAT (mord)", LogisticAT)]


def _machine(name: str, inner: StratifiedKFold | None) -> Any:
    machine = make_machine(name, {}, None)
    if inner is None:
        return machine
    prefix = "regressor__" if hasattr(machine, "regressor") else ""
    known = machine.get_params()
    grid = {f"{prefix}{key}": values for key, values in GRID.items() if f"{prefix}{key}" in known}
    return OrdinalSearchCV(machine, grid, cv=inner)


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
    ranks = np.arange(codes.max() + 1)
    candidate.scores.append(SCORERS[metric].metric(codes[test], predicted, categories=ranks))


def comparison(candidates: list[Candidate], greater: bool) -> list[dict[str, Any]]:
    """Best first: mean, deviation, mean rank, and the p-value of the signed-rank test against the best."""
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
            "seconds": float(np.mean(candidates[i].seconds)),
        }
        for i in order
    ]


def _p_value(one: Any, other: Any) -> float:
    """Of Wilcoxon's signed-rank test."""
    return 1.0 if np.allclose(one, other) else float(wilcoxon(one, other).pvalue)


def comparison_table(rows: list[dict[str, Any]], metric: str, folds: int, repeats: int) -> Table:
    caption = (
        f"{repeats} × {folds} folds. Rank: mean place among the models of a fold. p: Wilcoxon's signed-rank test of "
        "paired folds against the best, two-sided (not the rank-sum test of Chu & Keerthi's tables); folds share rows, "
        "so that small values are too optimistic."
    )
    table = Table(header_style="bold", caption=caption, caption_justify="left")
    table.add_column("model")
    for heading in (f"{metric}, mean ± deviation", "rank", "p", "seconds a fit"):
        table.add_column(heading, justify="right")
    for i, row in enumerate(rows):
        style = "bold green" if i == 0 else ("" if row["p"] >= 0.05 else "dim")
        p = "–" if row["p"] is None else f"{row['p']:.3f}"
        cells = (f"{row['mean']:.3f} ± {row['deviation']:.3f}", f"{row['rank']:.1f}", p, f"{row['seconds']:.2f}")
        table.add_row(row["model"], *cells, style=style)
    return table
