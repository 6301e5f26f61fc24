"""Whether to trust a model: calibration, sets, slices, baselines and the learning curve, on rows with known labels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.estimators import RoundedRegressor
from ordsvm.problem.labels import label_array, rank_codes
from ordsvm.report.contents import Predictions, Training
from ordsvm.tables import TableModel
from ordsvm.tables.columns import NumberColumn, TextColumn

DRAWS, WORK = 1000, 20_000_000  # of the bootstrap: at most so many draws, and so many numbers in all of them
LEAST_ROWS = 10  # of a slice or a bin
MOST_BASELINE_ROWS = 5000
SLICES = 12  # that are shown
COVERAGE = 0.9


class Interval(NamedTuple):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


class Bin(NamedTuple):
    """Rows of similar P(rank ≤ k): the mean of it, and the share of them for which it came true."""

    rank: int
    predicted: float
    observed: Interval
    rows: int


class SetRow(NamedTuple):
    """Prediction sets of the rows of a label: how many hold it, and how many labels they have."""

    label: str
    rows: int
    covered: Interval
    width: float


class Slice(NamedTuple):
    """Some of the rows: their error, and by how much it differs from that of all others."""

    name: str
    rows: int
    error: float
    difference: Interval


class Baseline(NamedTuple):
    """A simple model: its error, and the error of the model minus it, on the same rows."""

    name: str
    error: float
    difference: Interval


class CurvePoint(NamedTuple):
    """The error after training on so many rows."""

    rows: int
    error: Interval


class Curve(NamedTuple):
    """The learning curve, whether more rows helped last, and what became of the time."""

    points: list[CurvePoint]
    last_gain: Interval | None
    note: str


def bootstrap(values: Floats) -> Interval:
    """The mean of these numbers and 95 % of its values on rows drawn again."""
    different, counts = np.unique(values, return_counts=True)  # few, as they are distances in ranks
    n_draws = int(min(DRAWS, max(100, WORK // len(different))))
    draws = np.random.default_rng(0).multinomial(len(values), counts / len(values), size=n_draws)
    low, high = np.quantile(draws @ different / len(values), [0.025, 0.975])
    return Interval(float(values.mean()), float(low), float(high))


def reliability(predictions: Predictions, most_bins: int = 8) -> list[Bin]:
    """For every rank k but the last, bins of as many rows each by P(rank ≤ k)."""
    assert predictions.probabilities is not None
    found = []
    cumulative = np.cumsum(predictions.probabilities, axis=1)
    for k in range(len(predictions.classes) - 1):
        order = np.argsort(cumulative[:, k], kind="stable")
        n_bins = max(1, min(most_bins, len(order) // (2 * LEAST_ROWS)))
        for part in np.array_split(order, n_bins):
            came_true = (predictions.true[part] <= k).astype(np.float64)
            found.append(Bin(k, float(cumulative[part, k].mean()), wilson(came_true), len(part)))
    return found


def wilson(came_true: Floats) -> Interval:
    """A share with Wilson's 95 % interval."""
    n, share, z = len(came_true), float(came_true.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(share, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def set_rows(model: TableModel, predictions: Predictions) -> list[SetRow]:
    """Coverage and width of prediction sets, by true label and of all; none where the model makes no sets."""
    if not hasattr(model.machine_, "predict_set"):
        return []
    ends = model.machine_.predict_set(model.features(predictions.rows), COVERAGE)
    low, high = (rank_codes(label_array(end), predictions.classes) for end in ends.T)
    held = ((low <= predictions.true) & (predictions.true <= high)).astype(np.float64)
    parts: list[tuple[str, Flags]] = [("all", np.ones(len(held), dtype=bool))]
    parts += [(str(label), predictions.true == k) for k, label in enumerate(predictions.classes.tolist())]
    return [
        SetRow(name, int(mine.sum()), wilson(held[mine]), float((high - low + 1)[mine].mean()))
        for name, mine in parts
        if mine.any()
    ]


def slices(model: TableModel, predictions: Predictions) -> list[Slice]:
    """Parts of the rows by quarters of numbers, categories and lengths of text, whose errors differ most from the
    others'; the most certain differences first."""
    error = predictions.distance
    found = []
    for name, mine in _parts(model, predictions.rows):
        if LEAST_ROWS <= mine.sum() <= len(mine) - LEAST_ROWS:
            found.append(
                Slice(name, int(mine.sum()), float(error[mine].mean()), _difference(error[mine], error[~mine]))
            )
    return sorted(
        found, key=lambda part: -abs(part.difference.value) / (part.difference.high - part.difference.low + 1e-9)
    )[:SLICES]


def _difference(one: Floats, other: Floats) -> Interval:
    """Of two means over different rows, with the normal interval."""
    value = float(one.mean() - other.mean())
    half = 1.96 * float(np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)))
    return Interval(value, value - half, value + half)


def _parts(model: TableModel, rows: Any) -> Iterator[tuple[str, Flags]]:
    if model.encoder_ is None:
        return
    for column in model.encoder_.columns_:
        cells = rows[column.name]
        missing = cells.isna().to_numpy()
        yield f"{column.name} is missing", missing
        if isinstance(column, NumberColumn):
            yield from _quarters(column.name, cells.astype(np.float64).to_numpy(), missing)
        elif isinstance(column, TextColumn):
            length = np.array([len(str(cell).split()) for cell in cells.tolist()], dtype=np.float64)
            yield from _quarters(f"words in {column.name}", length, missing)
        else:
            for value, _ in cells.value_counts().head(20).items():
                yield f"{column.name} = {value}", (cells == value).to_numpy(dtype=bool) & ~missing


def _quarters(name: str, values: Floats, missing: Flags) -> Iterator[tuple[str, Flags]]:
    known = values[~missing]
    if not len(known):
        return
    distinct = np.unique(known)
    if len(distinct) <= 4:
        for value in distinct:
            yield f"{name} = {value:.4g}", ~missing & (values == value)
        return
    cuts = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    for low, high in zip([-np.inf, *cuts], [*cuts, np.inf], strict=True):
        text = f"{name} up to {high:.4g}" if low == -np.inf else f"{name} above {low:.4g}"
        text = text if np.isinf(low) or np.isinf(high) else f"{text}, up to {high:.4g}"
        yield text, ~missing & (values > low) & (values <= high)


def baselines(model: TableModel, predictions: Predictions) -> list[Baseline]:
    """The constant that is best on the training rows, and the best of two simple models trained on these."""
    guesses = {}
    constant = _middle_rank(model, predictions)
    label = predictions.classes[constant]
    guesses[f"always {label}"] = np.full(len(predictions.true), constant)
    simple: dict[str, Any] = {}
    if predictions.training is not None:
        simple = dict(_simple_predictions(model, predictions, predictions.training))
    if simple:
        best = min(simple, key=lambda name: float(np.abs(simple[name] - predictions.true).mean()))
        guesses[best] = simple[best]
    found = []
    for name, guess in guesses.items():
        error = np.abs(guess - predictions.true).astype(np.float64)
        found.append(Baseline(name, float(error.mean()), bootstrap(predictions.distance - error)))
    return found


def _middle_rank(model: TableModel, predictions: Predictions) -> int:
    """The median rank of the training rows, which has the least absolute error; of these rows where it is not known."""
    counts = model.about_.get("ranks", {})
    known = np.array([counts.get(label, 0) for label in predictions.classes.tolist()], dtype=np.float64)
    if not known.sum():
        known = np.bincount(predictions.true, minlength=len(predictions.classes)).astype(np.float64)
    return int(np.argmax(np.cumsum(known) >= known.sum() / 2))


def _simple_predictions(model: TableModel, predictions: Predictions, training: Training) -> Iterator[tuple[str, Ints]]:
    some = training.some(MOST_BASELINE_ROWS)
    features, others = model.features(some.rows), model.features(predictions.rows)
    simple = {
        "logistic regression": LogisticRegression(max_iter=500),
        "ridge regression, rounded": RoundedRegressor(Ridge(), categories=predictions.classes.tolist()),
    }
    for name, machine in simple.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                guess = machine.fit(features, some.labels).predict(others)
            except ValueError:  # one label among these rows, or the like: no baseline
                continue
        yield name, rank_codes(label_array(guess), predictions.classes)


def learning_curve(model: TableModel, predictions: Predictions, seconds: float) -> Curve:
    """Errors after training on a sixteenth, an eighth, … of the training rows, as far as the time reaches."""
    training = predictions.training
    if training is None:
        return Curve([], None, "It needs the file that the model was trained on, with rows held out (--hold-out 0.25).")
    n, start = len(training.labels), time.perf_counter()
    order = np.random.default_rng(0).permutation(n)
    distances: dict[int, Floats] = {}
    note, last = "", 0.0
    for size in sorted({n // 16, n // 8, n // 4, n // 2} - {0}):
        left = seconds - (time.perf_counter() - start)
        if 4 * last > left or left <= 0:  # twice the rows take up to four times as long
            note = f"Points that would have taken longer than {seconds:g} s in all are left out."
            continue
        began = time.perf_counter()
        distance = _distance_after(model, predictions, training.take(order[:size]), left)
        last = time.perf_counter() - began
        if distance is not None:
            distances[size] = distance
    distances[n] = predictions.distance
    points = [CurvePoint(size, bootstrap(distance)) for size, distance in distances.items()]
    gain = bootstrap(distances[n // 2] - distances[n]) if n // 2 in distances and n // 2 < n else None
    return Curve(points, gain, note)


def _distance_after(model: TableModel, predictions: Predictions, part: Training, seconds: float) -> Floats | None:
    """In ranks, of the predictions by a model trained on these rows; None where they do not suffice to train one."""
    machine = clone(model.machine)
    limits = {name: seconds for name in machine.get_params() if name.split("__")[-1] == "time_limit"}
    machine.set_params(**limits)
    encoder = None if model.encoder is None else clone(model.encoder)
    fresh = TableModel(machine, encoder, model.target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            predicted = fresh.fit(part.rows, part.labels).predict(predictions.rows)
        except ValueError:  # of too few rows: one label, or words that are in one text only
            return None
    codes = rank_codes(label_array(predicted), predictions.classes)
    return np.abs(codes - predictions.true).astype(np.float64)
