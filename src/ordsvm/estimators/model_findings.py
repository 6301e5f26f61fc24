"""Findings about a trained machine: predictions of one rank, ranks and thresholds out of use, C without effect.

Everything here follows from predicted ranks, thresholds and dual variables; `fit` warns of what is certain by its end,
and `ordsvm.diagnose` has the rest.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.checks import caller_level
from ordsvm.estimators.saturation import Saturation
from ordsvm.findings import Finding, ModelWarning, listed
from ordsvm.problem.thresholds import RankRule, rank_rule_of

MANY_LOST = 0.1  # share of the samples that have a rank out of use, from which on `fit` warns
SAME_VALUE = 0.01  # of the targets' standard deviation: predictions that differ less are one number
SAME_PLACE = 1e-3  # of the margin, which is 1, or of the largest threshold: closer ones cut out no rank
ROWS_AT_ONCE = 4096  # that are compared
RARE = 0.5  # times as many samples as the most frequent label has, up to which weights of classes matter


class RankCounts(NamedTuple):
    """How many samples have every rank, truly and by prediction; and what a label is called."""

    labels: NDArray[Any]
    true: Ints
    predicted: Ints
    noun: str = "rank"

    @classmethod
    def of(cls, labels: NDArray[Any], true: Ints, predicted: Ints, noun: str = "rank") -> RankCounts:
        n = len(labels)
        return cls(labels, np.bincount(true, minlength=n), np.bincount(predicted, minlength=n), noun)

    @property
    def n_samples(self) -> int:
        return int(self.true.sum())


def one_rank(counts: RankCounts, machine: Any, saturation: Saturation | None, X: Any) -> Finding | None:
    """All samples get one label, though they have several; `X` are those of the training, or some of them."""
    if np.count_nonzero(counts.predicted) > 1 or np.count_nonzero(counts.true) < 2:
        return None
    which = int(np.argmax(counts.predicted))
    right = counts.true[which] / counts.n_samples
    sentence = (
        f"All {counts.n_samples:,} samples get the {counts.noun} {counts.labels[which]}, which {right:.1%} of them "
        "have: the model says no more than a constant."
    )
    figures = {"n_samples": counts.n_samples, "label": counts.labels[which], "share": float(right)}
    is_rare = bool(counts.true[counts.true > 0].min() < RARE * counts.true.max())
    remedy = "All features are constant, so that no machine tells samples apart: give features that differ."
    if not _are_alike(X):
        remedy = _remedy_of_one_rank(machine, saturation, is_rare)
    return Finding("one-rank", sentence, remedy, figures)


def _are_alike(X: Any) -> bool:
    """Whether all rows are the same; False for rows that are not in memory."""
    if sp.issparse(X):
        if X.format != "csr" or X.nnz != X.shape[0] * int(X.indptr[1]) or np.any(np.diff(X.indptr) != X.indptr[1]):
            return False
        return all(_rows_are_alike(part.reshape(X.shape[0], -1)) for part in (X.indices, X.data))
    return isinstance(X, np.ndarray) and _rows_are_alike(X)


def _rows_are_alike(rows: NDArray[Any]) -> bool:
    starts = range(0, len(rows), ROWS_AT_ONCE)
    return all(bool((rows[i : i + ROWS_AT_ONCE] == rows[:1]).all()) for i in starts)


def _remedy_of_one_rank(machine: Any, saturation: Saturation | None, is_rare: bool) -> str:
    """The hinge's optimum is w = 0 at any C where the samples beyond a threshold have their mean among the others: then
    squared losses, which have another optimum, or weights help, and C does not."""
    if saturation is not None and saturation.is_full:
        return f"Raise C: every loss is at its bound at C={float(machine.C):g}; try {10 * float(machine.C):g} and more."
    weighs_rare = is_rare and getattr(machine, "class_weight", "") is None
    if getattr(machine, "loss", None) == "hinge":
        weights = " and class_weight='balanced' for the rare labels" if weighs_rare else ""
        kernel = "" if hasattr(machine, "kernel_") else ", or take a machine with a kernel"
        return f"Give loss='squared_hinge', whose optimum is not w = 0{weights}{kernel}."
    if getattr(machine, "kernel", None) == "linear":
        return "Give kernel='rbf', which separates samples that no plane does."
    if weighs_rare:
        return "Give class_weight='balanced', or search for C and gamma: rare labels weigh too little as it is."
    return "Search for C and gamma, or add features: these do not separate the labels."


def one_value(target: Floats, predicted: Floats, machine: Any) -> Finding | None:
    """A regression whose predictions hardly differ, though the targets do."""
    spread, own = float(np.std(target)), float(np.std(predicted))
    if not spread > 0 or own >= SAME_VALUE * spread:
        return None
    sentence = (
        f"Predictions of all {len(target):,} samples are nearly one number, {np.mean(predicted):.4g}: their standard "
        f"deviation is {own:.2g}, that of the targets {spread:.2g}."
    )
    remedy = "Raise C, or lower epsilon below the spread of the targets."
    return Finding("one-rank", sentence, remedy, {"n_samples": len(target), "std": own, "target_std": spread})


def never_predicted(counts: RankCounts, machine: Any, known: Flags | None = None) -> Finding | None:
    """Labels that samples have and no prediction; `known`: those that another finding has named."""
    lost = (counts.true > 0) & (counts.predicted == 0)
    if known is not None:
        lost &= ~known
    if not lost.any() or np.count_nonzero(counts.predicted) < 2:
        return None
    n_lost = int(counts.true[lost].sum())
    share = n_lost / counts.n_samples
    noun = {"rank": "ranks", "class": "classes"}[counts.noun]
    noun = counts.noun if lost.sum() == 1 else noun
    verb = "is" if lost.sum() == 1 else "are"
    sentence = (
        f"The {noun} {listed(counts.labels[lost])} {verb} never predicted for these {counts.n_samples:,} samples, "
        f"{n_lost:,} of which ({share:.1%}) have {'it' if lost.sum() == 1 else 'them'}."
    )
    remedy = "Join such labels with their neighbours, or search for C and gamma: as it is, scores do not separate them."
    if counts.true[lost].min() < RARE * counts.true.max() and getattr(machine, "class_weight", "") is None:
        remedy = "Give class_weight='balanced', which makes rare labels weigh as much as the others."
    figures = {"labels": counts.labels[lost].tolist(), "n_samples": n_lost, "share": share}
    return Finding("never-predicted", sentence, remedy, figures)


def unreachable(thresholds: Floats, rule: RankRule) -> Flags:
    """Ranks that no score gets, whatever the row."""
    edges = np.unique(thresholds)
    gaps = np.diff(edges) / 2
    scores = np.concatenate([edges[:1] - 1.0, edges[:-1] + gaps, edges[-1:] + 1.0])
    wide = np.concatenate([[True], 2 * gaps > _same_place(thresholds), [True]])
    scores = scores[wide][:, None]
    if rule == "count":
        ranks = np.count_nonzero(scores > thresholds, axis=1)
    else:
        below = scores < thresholds
        ranks = np.where(below.any(axis=1), below.argmax(axis=1), len(thresholds))
    lost = np.ones(len(thresholds) + 1, dtype=bool)
    lost[ranks] = False
    return lost


def _same_place(thresholds: Floats) -> float:
    """The distance up to which thresholds are at the same place; at small C all of them, and all scores, are small."""
    return SAME_PLACE * min(1.0, float(np.abs(thresholds).max()))


def bad_thresholds(machine: Any, labels: NDArray[Any]) -> tuple[Finding | None, Flags]:
    """Thresholds at the same place, or out of order; and the ranks that no score gets."""
    b = machine.thresholds_
    steps = b[1:] - b[:-1]
    if not len(steps) or steps.min() > (same := _same_place(b)):
        return None, np.zeros(len(b) + 1, dtype=bool)
    lost = unreachable(b, rank_rule_of(machine))
    figures = {"thresholds": b.tolist(), "least_step": float(steps.min()), "labels": labels[lost].tolist()}
    gone = f" no row can get the label {listed(labels[lost])}." if lost.any() else " all labels can still be predicted."
    k = int(np.argmin(steps))
    if steps.min() < -same:
        sentence = f"Thresholds are out of order: {b[k]:.4g} comes before {b[k + 1]:.4g};{gone}"
        return Finding("thresholds-disordered", sentence, _remedy_of_disorder(machine), figures), lost
    sentence = f"Thresholds {k + 1} and {k + 2} are at the same place, {b[k]:.4g};{gone}"
    remedy = "Join these labels with their neighbours, or give class_weight='balanced'."
    return Finding("thresholds-equal", sentence, remedy, figures), lost


def _remedy_of_disorder(machine: Any) -> str:
    if not machine.result_.converged:
        return "Train to the end: the fit was stopped, and at the optimum they may be in order."
    cost = getattr(machine, "cost", "absolute")
    if not isinstance(cost, str) or cost == "zero-one":
        return "Give cost='absolute': rows of the cost matrix that are not convex allow disorder."
    return "Take SVOR or SVORIM, whose thresholds come out in order, or SVOREX, which ties them."


def small_C(machine: Any, saturation: Saturation | None) -> Finding | None:
    """Every loss counts in full: a smaller C would give the same model but for its scale."""
    if saturation is None or not saturation.is_full:
        return None
    C = float(machine.C)
    sentence = (
        f"C={C:g} is so small that the dual variables are at their bounds, {saturation.share:.1%} of the sum that is "
        "possible: no margin is kept, and scores are sums over all samples alike."
    )
    return Finding("C-too-small", sentence, f"Raise C: try {10 * C:g} and more.", {"C": C, "share": saturation.share})


def large_C(machine: Any, saturation: Saturation | None) -> Finding | None:
    """No loss reaches its bound, so that C is no limit."""
    if saturation is None or not saturation.is_empty or not machine.result_.converged or saturation.largest <= 0:
        return None
    C = float(machine.C)
    enough = C * saturation.largest
    sentence = (
        f"C={C:g} is so large that none of the {saturation.n:,} dual variables is at its bound: every C from "
        f"{enough:.3g} on gives this model, which fits its training samples as if they had no noise."
    )
    return Finding("C-too-large", sentence, f"Try C below {enough:.2g}, by a search.", {"C": C, "enough": enough})


def warn_of_findings(machine: Any, fit: Any, solution: Any) -> None:
    """The findings that are certain by the end of a fit, where they say that it is of little use, as warnings."""
    for finding in findings_of_fit(machine, fit, solution):
        warnings.warn(ModelWarning(finding), stacklevel=caller_level())


def findings_of_fit(machine: Any, fit: Any, solution: Any) -> list[Finding]:
    saturation, counts = machine._saturation(fit.task, brief=True), machine._rank_counts(fit, solution)
    if counts is None:
        found = small_C(machine, saturation)
        return [] if found is None else [found]
    if (found := one_rank(counts, machine, saturation, fit.X)) is not None:
        return [found]
    findings = [small_C(machine, saturation)]
    lost = None
    if hasattr(machine, "thresholds_"):
        of_thresholds, lost = bad_thresholds(machine, machine.classes_)
        if of_thresholds is not None and (of_thresholds.name == "thresholds-disordered" or _loses_many(counts, lost)):
            findings.append(of_thresholds)
    unused = (counts.true > 0) & (counts.predicted == 0)
    if _loses_many(counts, unused):
        findings.append(never_predicted(counts, machine, lost))
    return [finding for finding in findings if finding is not None]


def _loses_many(counts: RankCounts, lost: Flags) -> bool:
    return bool(counts.true[lost].sum() >= MANY_LOST * counts.n_samples)
