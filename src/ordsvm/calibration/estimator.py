"""CalibratedOrdinal: probabilities and prediction sets from the score of a trained machine."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import CheckpointPath, CrossValidation, Floats, Ints, Samples, SampleWeight
from ordsvm.calibration.conformal import Conformal, middle_ranks
from ordsvm.calibration.maps import MAPS, ProbabilityMap
from ordsvm.checkpoint import Session, check_checkpoint, opened
from ordsvm.checks import caller_level, check_choice, check_estimator, check_jobs, check_number
from ordsvm.conventions import linked, share_of_right_labels
from ordsvm.devices import on_host
from ordsvm.estimators.base import all_or_nothing
from ordsvm.estimators.folds import Fold, is_pairwise, make_folds, take, take_samples
from ordsvm.estimators.quiet import quiet_fits
from ordsvm.estimators.threshold_models import SVOR
from ordsvm.estimators.validation import check_features, check_sample_weight, checkpoint_argument, weight_argument
from ordsvm.labels import label_array, rank_codes, require_y
from ordsvm.stopping import Jobs


@linked
class CalibratedOrdinal(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Probabilities of the ranks, and sets of ranks with a promised coverage, from the score of a model.

    One monotone map turns the score into P(rank ≤ k) for all k at once, so the probabilities are in order, and a higher
    score never makes a higher rank less probable than before.

    Parameters
    ----------
    estimator : estimator, default=None
        A classifier with one score a sample: a threshold model, a `RoundedRegressor`, a binary classifier, or a
        pipeline or search that ends in one. The score of `NPSVOR` and `LinearNPSVOR` is the mean of their scores of all
        ranks. None: `SVOR()`.
    method : {"logistic", "isotonic"}, default="logistic"
        "logistic": an ordered logistic with a common slope, smooth and frugal. "isotonic": any monotone map, a step
        function, for about a thousand samples and more.
    cv : int, splitter, iterable of pairs of indices or "prefit", default=5
        The map is fitted to scores of samples that the scoring model was not trained on: out of fold, after which the
        estimator is trained on all samples. "prefit", or a `FrozenEstimator`: the estimator is trained already, and the
        samples given to `fit` are for the map alone.
    n_jobs : int or None, default=None
        How many folds at once, as everywhere in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    estimator_ : estimator
        The model, trained on all samples, or the one given.
    map_ : ProbabilityMap
        The fitted map, with `cumulative(score)`.
    conformal_ : Conformal
        The depths of the true ranks in the predicted distributions, from which `predict_set` takes its sets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.metrics.ranked_probability_score : Metric of predicted probabilities.
    sklearn.calibration.CalibratedClassifierCV : Calibration of classes without order.

    References
    ----------
    .. [1] P. McCullagh, "Regression models for ordinal data", Journal of the Royal Statistical Society B 42, 1980.
    .. [2] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", Springer, 2005.

    Examples
    --------
    >>> from ordsvm import SVOR, CalibratedOrdinal
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = CalibratedOrdinal(SVOR(C=10), cv=3).fit(X[:150], y[:150])
    >>> model.predict_proba(X[150:152]).round(1).shape
    (2, 3)
    >>> model.predict_set(X[150:152], coverage=0.8).shape
    (2, 2)
    """

    classes_: NDArray[Any]
    map_: ProbabilityMap
    conformal_: Conformal
    score = share_of_right_labels

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        method: str = "logistic",
        cv: CrossValidation | Literal["prefit"] = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None, *, checkpoint: CheckpointPath = None
    ) -> Self:
        """Train the estimator (unless it is trained) and the map.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; samples of weight 0 are left out.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fits of the estimator, on all samples and on the folds, every minute: the same call
            goes on from there.

        Returns
        -------
        CalibratedOrdinal
            The fitted estimator.
        """
        check_checkpoint(checkpoint)
        check_choice("method", self.method, MAPS)
        check_jobs(self.n_jobs)
        if self.estimator is not None:
            check_estimator("estimator", self.estimator)
        if isinstance(self.cv, str):
            check_choice("cv", self.cv, ["prefit"])
        require_y(y, type(self).__name__, "label")
        X, y, sample_weight = on_host(X), on_host(y, "y"), on_host(sample_weight, "sample_weight")
        X, y, sample_weight = self._counting(*indexable(X, y, sample_weight))
        validate_data(self, X, skip_check_array=True)  # counts and names the features only
        prefit = self._is_trained()
        with opened(checkpoint) as session:
            self.estimator_ = self._trained(X, y, sample_weight, session)
            self.classes_ = self.estimator_.classes_
            codes = rank_codes(label_array(y), self.classes_)
            weight = check_sample_weight(sample_weight, len(codes))
            folds = _partition(self.cv, X, codes, prefit)
            if prefit:
                score = rank_score(self.estimator_, X)
            else:
                score = self._scores_out_of_fold(X, y, sample_weight, folds, session)
        self.map_ = self._fit_map(score, codes, weight)
        unseen = np.empty((len(codes), len(self.classes_)))  # by maps that have not seen the sample
        for train, test in folds:
            unseen[test] = self._fit_map(score[train], codes[train], weight[train]).cumulative(score[test])
        self.conformal_ = Conformal.fit(unseen, codes, weight)
        return self

    def predict_cumproba(self, X: Samples) -> Floats:
        """Predict P(rank ≤ k).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every label, lowest first; the last one is 1.
        """
        check_is_fitted(self)
        check_features(self, X)
        return self.map_.cumulative(rank_score(self.estimator_, X))

    def predict_proba(self, X: Samples) -> Floats:
        """Predict the probability of every label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every label, in the order of `classes_`.
        """
        return np.diff(self.predict_cumproba(X), axis=1, prepend=0.0)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label in the middle of the distribution, which has the least expected distance in ranks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        middle = middle_ranks(self.predict_cumproba(X))
        return self.classes_[middle]

    def predict_set(self, X: Samples, coverage: float = 0.9) -> NDArray[Any]:
        """Predict a run of neighbouring labels that holds the true one with probability `coverage`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        coverage : float, default=0.9
            The share of samples whose true label is to be in its set, above 0 and below 1.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The lowest and the highest label of every set.

        Notes
        -----
        The coverage holds for samples drawn as those of `fit` were, all together, not for each one. A set holds the
        predicted label at least, so that where more than `coverage` of all predictions are right the sets are right as
        often as these. Ties, of which "isotonic" makes many, can only add to the coverage.
        """
        share = check_number("coverage", coverage, "a number above 0 and below 1", lambda number: 0 < number < 1)
        low, high = self.conformal_.intervals(self.predict_cumproba(X), share)
        return np.column_stack([self.classes_[low], self.classes_[high]])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._given()).input_tags
        return tags

    def _given(self) -> Any:
        return SVOR() if self.estimator is None else self.estimator

    def _is_trained(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    def _counting(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """The samples of positive weight."""
        if sample_weight is None:
            return X, y, None
        weight = check_sample_weight(sample_weight, len(label_array(y)))
        counting = np.flatnonzero(weight)
        known = np.arange(len(weight)) if self._is_trained() else counting
        return take_samples(X, counting, known, is_pairwise(self._given())), take(y, counting), weight[counting]

    def _trained(self, X: Any, y: Any, sample_weight: Any, session: Session | None) -> Any:
        if not self._is_trained():
            estimator = clone(self._given())
            return estimator.fit(X, y, **_fit_options(estimator, sample_weight, session, "all"))
        check_is_fitted(self._given())
        return self._given()

    def _scores_out_of_fold(
        self, X: Any, y: Any, sample_weight: Any, folds: list[Fold], session: Session | None
    ) -> Floats:
        """The score of every sample by a machine that was not trained on it."""

        def scores(number: int, fold: Fold) -> Floats:
            machine = clone(self._given())
            samples, others = (take_samples(X, which, fold.train, is_pairwise(machine)) for which in fold)
            options = _fit_options(machine, take(sample_weight, fold.train), session, f"fold{number}")
            with quiet_fits(findings_only=True):  # the fit on all samples has warned of them
                machine.fit(samples, take(y, fold.train), **options)
            return rank_score(machine, others)

        found = Jobs(n_jobs=self.n_jobs).run(partial(scores, number, fold) for number, fold in enumerate(folds))
        score = np.empty(sum(len(fold.test) for fold in folds))
        for fold, values in zip(folds, found, strict=True):
            score[fold.test] = values
        return score

    def _fit_map(self, score: Floats, codes: Ints, weight: Floats) -> ProbabilityMap:
        return MAPS[self.method](score, codes, len(self.classes_), weight)


def _fit_options(estimator: Any, sample_weight: Any, session: Session | None, name: str) -> dict[str, Any]:
    inner = None if session is None else session.inner(name)
    return weight_argument(estimator, sample_weight) | checkpoint_argument(estimator, inner, needed=True)


def rank_score(estimator: Any, X: Any) -> Floats:
    """One number a sample, the greater the higher the rank.

    A threshold model's score counts from its middle threshold: nothing else fixes where a score with free thresholds
    begins, and the machines of two folds may begin far apart.
    """
    if hasattr(estimator, "best_estimator_"):
        return rank_score(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        return rank_score(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)
    if hasattr(estimator, "rank_scores"):
        return on_host(estimator.rank_scores(X)).mean(axis=1)
    score = np.asarray(on_host(estimator.decision_function(X)) if hasattr(estimator, "decision_function") else None)
    if score.ndim != 1:
        raise TypeError(
            f"CalibratedOrdinal needs one score a sample, which {type(estimator).__name__} does not give: use a "
            "threshold model such as SVOR, a RoundedRegressor, NPSVOR or a binary classifier."
        )
    return score - np.median(estimator.thresholds_) if hasattr(estimator, "thresholds_") else score.astype(np.float64)


def _partition(cv: Any, X: Any, codes: Ints, prefit: bool) -> list[Fold]:
    cv = 5 if prefit else cv
    if isinstance(cv, int | np.integer) and _has_few(int(cv), codes, prefit):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # the same, without a remedy
            folds = make_folds(cv, X, codes)
    else:
        folds = make_folds(cv, X, codes)
    tested = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=len(codes))
    if np.any(tested != 1):
        raise ValueError(
            f"cv={cv!r} does not put every sample into one test fold: give a number of folds or a splitter that does, "
            "such as StratifiedKFold."
        )
    return folds


def _has_few(n_folds: int, codes: Ints, prefit: bool) -> bool:
    """Whether the rarest rank has fewer samples than there are folds, with a warning; an error where all have."""
    sizes = np.unique(codes, return_counts=True)[1]
    least, most = int(sizes.min()), int(sizes.max())
    if most < n_folds:
        fewer = "" if prefit or most < 2 else f", or fewer folds: cv={most} or less"
        raise ValueError(
            f"Probabilities are learned out of {n_folds} folds, and no rank has more than {most} of the {len(codes)} "
            f"samples: give more{fewer}."
        )
    if least < n_folds:
        fewer = "" if prefit or least < 2 else f", or fewer folds (cv={least})"
        warnings.warn(
            f"The rarest rank has {least} of the {len(codes)} samples, and some of the {n_folds} folds have none of "
            f"them: its probabilities rest on little. Give more samples of it, join it with its neighbour{fewer}.",
            UserWarning,
            stacklevel=caller_level(),
        )
    return least < n_folds
