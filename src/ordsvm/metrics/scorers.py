"""The metrics as scorers for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics as sklearn_metrics
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest

from ordsvm._typing import Samples, SampleWeight
from ordsvm.checks import shortened
from ordsvm.devices import on_host
from ordsvm.metrics.agreement import kendall_tau_b, quadratic_weighted_kappa, spearman_rho
from ordsvm.metrics.errors import (
    macro_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
    mean_cost,
    mean_squared_error,
    mean_zero_one_error,
    off_by_one_accuracy,
)
from ordsvm.metrics.inputs import as_numbers
from ordsvm.metrics.probabilities import ranked_probability_score
from ordsvm.problem.cost_labels import costs_by_rank
from ordsvm.problem.labels import label_array, rank_codes


@dataclass(frozen=True)
class OrdinalScorer:
    """A metric of predicted ranks as a scorer: `scorer(estimator, X, y)`, greater is better.

    Parameters
    ----------
    metric : callable
        A metric of this module, called as `metric(y_true, y_pred, categories=..., sample_weight=...)`.
    greater_is_better : bool
        Whether the metric grows with quality; the score of an error is its negative.
    name : str
        The name in messages and in `SCORERS`.
    weight_request : bool, str or None, default=None
        What scikit-learn's metadata routing passes on as `sample_weight`; see `set_score_request`.

    See Also
    --------
    ProbabilityScorer : Scorer of predicted probabilities.
    sklearn.metrics.make_scorer : Scorers of metrics that need no order of the labels.

    Notes
    -----
    The order of the labels is `estimator.classes_`, lowest first, which pipelines and searches pass on. (The
    classifiers of scikit-learn sort their classes: with them, use numbers.) In a fold, y may hold a label that the
    estimator has not seen: among numbers in ascending order its place is clear; otherwise that is an error, which
    giving the estimator `categories` or an ordered dtype avoids.

    Searches pass on the weights they are given. `cross_val_score` does so with scikit-learn's metadata routing after
    `mae_scorer.set_score_request(sample_weight=True)`; without it, scores there are those of equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from ordsvm import SVOR
    >>> from ordsvm.metrics import mae_scorer
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = np.repeat([0, 1, 2], 4)
    >>> scores = cross_val_score(SVOR(kernel="linear", C=10.0), X, y, scoring=mae_scorer, cv=2)
    >>> scores.shape, bool((scores <= 0).all())
    ((2,), True)
    """

    metric: Callable[..., float]
    greater_is_better: bool
    name: str
    weight_request: bool | str | None = None

    def __call__(
        self, estimator: BaseEstimator, X: Samples, y: ArrayLike | None = None, sample_weight: SampleWeight = None
    ) -> float:
        if y is None:
            raise TypeError(
                f"y=None: the scorer {self.name!r} compares predictions with labels; give the labels as y, or another "
                "scorer, as `scoring` of a search."
            )
        y, weight = on_host(y, "y"), on_host(sample_weight, "sample_weight")
        weighted = {} if weight is None else {"sample_weight": weight}
        order = self._label_order(estimator, y)
        score = self.metric(y, self._answers(estimator, X, order), categories=order, **weighted)
        return score if self.greater_is_better else -score

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Copy the scorer with another request for sample weights.

        Parameters
        ----------
        sample_weight : bool, str or None
            True: weights are passed on; a str: under this name; False: they are not; None: weights that are given raise
            an error.

        Returns
        -------
        OrdinalScorer
            The copy.
        """
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the request for sample weights as scikit-learn's metadata routing reads it.

        Returns
        -------
        MetadataRequest
            The request.
        """
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="sample_weight", alias=self.weight_request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Whether scikit-learn's searches pass weights on without metadata routing."""
        return True

    def _answers(self, estimator: Any, X: Any, order: NDArray[Any]) -> NDArray[Any]:
        """What the metric compares with y."""
        return on_host(estimator.predict(X))

    def _label_order(self, estimator: Any, y: Any) -> NDArray[Any]:
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise TypeError(
                f"The scorer {self.name!r} takes the order of the labels from estimator.classes_, which "
                f"{type(estimator).__name__} lacks; use a fitted classifier or ordsvm.RoundedRegressor."
            )
        labels = label_array(y)
        is_numeric = classes.dtype.kind in "biuf" and labels.dtype.kind in "biuf"
        return np.union1d(classes, labels) if is_numeric and (classes[:-1] < classes[1:]).all() else classes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class ProbabilityScorer(OrdinalScorer):
    """A metric of probabilities as a scorer, for estimators with `predict_proba`.

    A label that the estimator has not seen has probability 0.

    Parameters
    ----------
    metric : callable
        A metric of this module, called as `metric(y_true, y_proba, categories=..., sample_weight=...)`.
    greater_is_better : bool
        Whether the metric grows with quality; the score of an error is its negative.
    name : str
        The name in messages and in `PROBABILITY_SCORERS`.
    weight_request : bool, str or None, default=None
        What scikit-learn's metadata routing passes on as `sample_weight`; see `set_score_request`.

    See Also
    --------
    OrdinalScorer : Scorer of predicted ranks.
    ordsvm.CalibratedOrdinal : Estimator that adds `predict_proba` to a model.

    Examples
    --------
    >>> from ordsvm.metrics import rps_scorer
    >>> rps_scorer
    ProbabilityScorer('rps')
    """

    def _answers(self, estimator: Any, X: Any, order: NDArray[Any]) -> NDArray[Any]:
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"The scorer {self.name!r} takes probabilities, which {type(estimator).__name__} does not give: "
                "wrap it in ordsvm.CalibratedOrdinal."
            )
        known = estimator.predict_proba(X)
        probability = np.zeros((len(known), len(order)))
        probability[:, rank_codes(estimator.classes_, order)] = known
        return probability


mae_scorer = OrdinalScorer(mean_absolute_error, greater_is_better=False, name="mae")
mze_scorer = OrdinalScorer(mean_zero_one_error, greater_is_better=False, name="mze")
mse_scorer = OrdinalScorer(mean_squared_error, greater_is_better=False, name="mse")
macro_mae_scorer = OrdinalScorer(macro_mean_absolute_error, greater_is_better=False, name="macro_mae")
max_mae_scorer = OrdinalScorer(maximum_mean_absolute_error, greater_is_better=False, name="max_mae")
off_by_one_scorer = OrdinalScorer(off_by_one_accuracy, greater_is_better=True, name="off_by_one")
kappa_scorer = OrdinalScorer(quadratic_weighted_kappa, greater_is_better=True, name="kappa")
tau_scorer = OrdinalScorer(kendall_tau_b, greater_is_better=True, name="tau")
spearman_scorer = OrdinalScorer(spearman_rho, greater_is_better=True, name="spearman")
rps_scorer = ProbabilityScorer(ranked_probability_score, greater_is_better=False, name="rps")

_ALL = (
    mae_scorer,
    mze_scorer,
    mse_scorer,
    macro_mae_scorer,
    max_mae_scorer,
    off_by_one_scorer,
    kappa_scorer,
    tau_scorer,
    spearman_scorer,
)
SCORERS = {scorer.name: scorer for scorer in _ALL}  # of predicted ranks, which every classifier gives
PROBABILITY_SCORERS = {rps_scorer.name: rps_scorer}


@dataclass(frozen=True, eq=False)
class _MeanCost:
    """`mean_cost` by one matrix."""

    cost: Any

    def __call__(self, y_true: Any, y_pred: Any, **options: Any) -> float:
        return mean_cost(y_true, y_pred, self.cost, **options)


def cost_scorer(cost: ArrayLike) -> OrdinalScorer:
    """Make the scorer of the mean cost by a matrix, for `scoring` of scikit-learn's functions and searches.

    Parameters
    ----------
    cost : array-like of shape (n_classes, n_classes)
        The costs, cost[true, predicted]: an array in the order of the ranks, or a pandas frame with the labels as index
        and columns, which a fold that lacks a rank can do with too.

    Returns
    -------
    OrdinalScorer
        The scorer, called as `scorer(estimator, X, y)`: the negative mean cost, greater is better.

    See Also
    --------
    mean_cost : The metric.
    get_scorer : Scorers by name.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.metrics import cost_scorer
    >>> cost = np.array([[0, 1, 2], [3, 0, 1], [6, 3, 0]])
    >>> scores = cross_val_score(SVOR(cost=cost), *load_diabetes_ranks(3), scoring=cost_scorer(cost))
    >>> scores.shape, bool((scores <= 0).all())
    ((5,), True)
    """
    costs_by_rank(cost, len(np.atleast_1d(cost)))  # an error comes before any work
    return OrdinalScorer(_MeanCost(cost), greater_is_better=False, name="cost")


def get_scorer(name: str | Callable[..., float]) -> Callable[..., float]:
    """Return the scorer with a name, for `scoring` of scikit-learn's functions and searches.

    scikit-learn has no list of scorers that others may add to: `GridSearchCV(scoring="mae")` does not find a name of
    this library, `GridSearchCV(scoring=get_scorer("mae"))` takes the scorer itself.

    Parameters
    ----------
    name : str or callable
        A name from `get_scorer_names` or one of scikit-learn's; a scorer is returned as it is.

    Returns
    -------
    callable
        The scorer, called as `scorer(estimator, X, y)`; greater is better.

    See Also
    --------
    get_scorer_names : The names.
    sklearn.metrics.get_scorer : Scorers of scikit-learn alone.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.metrics import get_scorer
    >>> scores = cross_val_score(SVOR(), *load_diabetes_ranks(3), scoring=get_scorer("mae"))
    >>> scores.shape
    (5,)
    """
    if callable(name):
        return name
    known = {**SCORERS, **PROBABILITY_SCORERS}
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, str) and name in sklearn_metrics.get_scorer_names():
        return sklearn_metrics.get_scorer(name)
    raise ValueError(
        f"scoring={shortened(name)} is unknown: give a scorer, {', '.join(map(repr, known))}, or a name of "
        "scikit-learn (sklearn.metrics.get_scorer_names)."
    )


def get_scorer_names() -> list[str]:
    """Return the names of this library's scorers.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    get_scorer : The scorer with a name.

    Examples
    --------
    >>> from ordsvm.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['mae', 'mze', 'mse']
    """
    return [*SCORERS, *PROBABILITY_SCORERS]


def best_possible(scorer: Any) -> float | None:
    """The score that none can exceed; None where it is not known.

    Scorers of this package, scikit-learn's by name, and what wraps one of them and names it as `__wrapped__`.
    """
    scorer = getattr(scorer, "__wrapped__", scorer)
    if isinstance(scorer, str):
        return _BEST_BY_NAME.get(scorer)
    if isinstance(scorer, OrdinalScorer) and scorer.metric in _METRICS:
        return 1.0 if scorer.greater_is_better else 0.0
    return None


def sample_losses(scorer: Any, estimator: Any, X: Any, y: Any) -> list[float] | None:
    """What the samples add to the error of a scorer, but for weights; None where that is not a mean over samples."""
    scorer = getattr(scorer, "__wrapped__", scorer)
    loss = _LOSSES.get(scorer.metric) if isinstance(scorer, OrdinalScorer) else None
    if loss is None:
        return None
    order = scorer._label_order(estimator, y)
    true, predicted = as_numbers(y, scorer._answers(estimator, X, order), order)
    return loss(np.abs(true - predicted)).astype(np.float64).tolist()


_METRICS = frozenset(scorer.metric for scorer in (SCORERS | PROBABILITY_SCORERS).values())
_LOSSES: dict[Callable[..., float], Callable[[NDArray[Any]], NDArray[Any]]] = {
    mean_absolute_error: lambda distance: distance,
    mean_zero_one_error: lambda distance: distance > 0,
    mean_squared_error: lambda distance: distance**2,
    off_by_one_accuracy: lambda distance: distance > 1,
}
_BEST_BY_NAME = dict.fromkeys(("accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "f1_weighted", "r2"), 1.0) | {
    f"neg_{error}": 0.0 for error in ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error")
}
