"""CalibratedOrdinal: probabilities and prediction sets from the score of a trained machine."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import CheckpointPath, CrossValidation, Floats, Ints, Samples, SampleWeight
from ordsvm.calibration.conformal import (
    CalibrationPart,
    Conformal,
    CrossConformal,
    effective_weights,
    middle_ranks,
)
from ordsvm.calibration.maps import MAPS, OrderedLogistic, ProbabilityMap
from ordsvm.calibration.parts import given_folds, is_number, numbered_folds, split_for_map
from ordsvm.calibration.scores import rank_score, spread
from ordsvm.checkpoint import Session, check_checkpoint, opened
from ordsvm.checks import check_choice, check_estimator, check_jobs, check_number
from ordsvm.conventions import linked, share_of_right_labels
from ordsvm.devices import on_host
from ordsvm.estimators.base import all_or_nothing
from ordsvm.estimators.folds import Fold, is_pairwise, take, take_samples
from ordsvm.estimators.quiet import quiet_fits
from ordsvm.estimators.threshold_models import SVOR
from ordsvm.estimators.validation import check_features, check_sample_weight, checkpoint_argument, weight_argument
from ordsvm.problem.labels import label_array, order_is_told, rank_codes, require_y
from ordsvm.sparse import check_structure
from ordsvm.stopping import Jobs


@linked
class CalibratedOrdinal(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Probabilities of the ranks, and sets of ranks with a guaranteed coverage, from the score of a model.

    One monotone map turns the score into P(rank ≤ k) for all k at once, so the probabilities are in order, and a higher
    score never makes a higher rank less probable than before. Sets come from the scores alone, by conformal prediction.

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
        The map is fitted to scores of samples that the scoring model was not trained on: out of fold, while the
        estimator is trained on all samples. Every sample has to be in one test part. Splitters and pairs of indices are
        about the samples as given, those of weight 0 included. "prefit", or a `FrozenEstimator`: the estimator is
        trained already, and the samples given to `fit` are for the map and the sets alone.
    n_jobs : int or None, default=None
        How many folds at once, as everywhere in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    estimator_ : estimator
        The model, trained on all samples, or the one given.
    fold_estimators_ : list of estimators
        The models of the folds, from which `predict_set` takes its sets; empty for a model that was trained already.
    map_ : ProbabilityMap
        The fitted map, with `cumulative(score)`.
    conformal_ : CrossConformal
        How badly the true ranks fit the scores of models that have not seen the samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.metrics.ranked_probability_score : Metric of predicted probabilities.
    sklearn.calibration.CalibratedClassifierCV : Calibration of classes without order.

    Notes
    -----
    A model of fewer samples may have scores of another scale. So scores out of fold are multiplied by the spread that
    the final model's scores of its training samples have, over the spread that those of the fold's model have. The map
    then holds as far as unseen samples have smaller, or larger, scores than training samples to the same extent for
    both models.

    Weights count relative to each other. They are scaled to add up to the effective number of samples, (Σw)²/Σw²: what
    the prior of the map and a new sample, one sample each, weigh against. So n equal weights are n samples.

    References
    ----------
    .. [1] P. McCullagh, "Regression models for ordinal data", Journal of the Royal Statistical Society B 42, 1980.
    .. [2] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", Springer, 2005.
    .. [3] R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, "Predictive inference with the jackknife+", Annals
       of Statistics 49, 2021.
    .. [4] Y. Romano, M. Sesia, E. J. Candès, "Classification with valid and adaptive coverage", NeurIPS 2020.

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

    # kept by tests/test_calibration.py::test_the_guarantee_is_that_of_the_theorem,
    # tests/test_calibration.py::test_what_is_guaranteed

    classes_: NDArray[Any]
    fold_estimators_: list[Any]
    map_: ProbabilityMap
    conformal_: CrossConformal | Conformal
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
        check_structure(X)
        X, y, sample_weight = indexable(X, y, sample_weight)
        counting = self._counting(y, sample_weight)
        is_given = not (self._is_trained() or is_number(self.cv))
        given = given_folds(self.cv, X, y, counting) if is_given else None
        X, y, sample_weight = self._taken(counting, X, y, sample_weight)
        validate_data(self, X, skip_check_array=True)  # counts and names the features only
        with opened(checkpoint) as session:
            self.estimator_ = self._trained(X, y, sample_weight, session)
            self.classes_ = self.estimator_.classes_
            codes = rank_codes(label_array(y), self.classes_)
            weight = effective_weights(check_sample_weight(sample_weight, len(codes)))
            score = rank_score(self.estimator_, X)
            if self._is_trained():
                self.fold_estimators_ = []
                self.conformal_ = self._split(score, codes, weight)
            else:
                folds = numbered_folds(self.cv, X, codes) if given is None else given
                fitted = self._fit_folds(X, y, sample_weight, folds, session)
                self.fold_estimators_ = [each.machine for each in fitted]
                self.conformal_ = self._cross(fitted, folds, codes, weight)
                scale = spread(score, weight)
                for fold, each in zip(folds, fitted, strict=True):  # what the final machine's scores of them would be
                    score[fold.test] = each.unseen * (scale / spread(each.seen, weight[fold.train]))
        self.map_ = MAPS[self.method](score, codes, len(self.classes_), weight)
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
        """Predict a run of neighbouring labels that is to hold the true one with probability `coverage`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        coverage : float, default=0.9
            The share of samples whose true label is to be in its set, above 0 and below 1. What is certain of it is
            `guaranteed_coverage(coverage)`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The lowest and the highest label of every set.

        Notes
        -----
        A set holds the predicted label at least, so that where more than `coverage` of all predictions are right the
        sets are right as often as these. The models of all folds have their say, each with a score for every sample.

        Models from files of 0.1.0 make the sets that they made then. Where their folds' scores had another scale than
        their own, too few of these hold the true label: train such a model again.
        """
        # kept by tests/test_calibration.py::test_what_is_guaranteed,
        # tests/test_calibration.py::test_sets_by_their_definition_in_cross_conformal_prediction,
        # tests/test_stored_models.py::test_a_stored_calibration_makes_the_sets_that_it_made
        share = _checked_coverage(coverage)
        cumulative = self.predict_cumproba(X)
        if isinstance(self.conformal_, Conformal):
            low, high = self.conformal_.intervals(cumulative, share)
        else:
            machines = self.fold_estimators_ or [self.estimator_]
            pairs = zip(machines, self.conformal_.parts, strict=True)
            scores = [rank_score(machine, _columns(X, part.columns)) for machine, part in pairs]
            low, high = self.conformal_.intervals(scores, middle_ranks(cumulative), share)
        return np.column_stack([self.classes_[low], self.classes_[high]])

    def guaranteed_coverage(self, coverage: float = 0.9) -> float:
        """Compute the coverage that is guaranteed where `predict_set` is asked for `coverage`.

        Parameters
        ----------
        coverage : float, default=0.9
            What `predict_set` is asked for, above 0 and below 1.

        Returns
        -------
        float
            The least probability that the set of a new sample holds its true label.

            For a model that was trained already it is `coverage` (split conformal prediction). With n samples and K
            folds of one size it is 1 − 2α − min{2(1 − 1/K)/(n/K + 1), (1 − K/n)/(K + 1)}, where α is 1 − `coverage`
            (CV+, the jackknife+ by folds), while about `coverage` or more is to be expected. The second term is about
            folds of one size; for several sizes it is taken size by size, which promises less. It is 0, for there is no
            theorem, for unequal weights, for folds whose training parts are not all of the other samples, once each,
            and for models from files of 0.1.0.

        Notes
        -----
        This is about samples drawn as those of `fit` were, with labels in `classes_`: over repeated draws of both and
        all of them together, not for each one and not for each label. The folds must not depend on the labels, as
        shuffled ones of `KFold` do not. A number of folds spreads the labels evenly; then the guarantee is for new
        samples whose labels are as frequent as in `fit`, up to the rounding of labels to folds.

        What can't be seen here is up to the caller. Rows that are repeated, or that belong together, as the visits of a
        patient do, are not drawn one by one. An estimator, or a step of it, that was trained already must not have seen
        these samples, and parameters must not have been chosen with them, unless by a search inside the estimator. With
        folds, the second term needs a training that does not depend on the order of the samples.

        Examples
        --------
        >>> from ordsvm import SVOR, CalibratedOrdinal
        >>> from ordsvm.datasets import load_diabetes_ranks
        >>> X, y = load_diabetes_ranks(3)
        >>> round(CalibratedOrdinal(SVOR(C=10), cv=5).fit(X, y).guaranteed_coverage(0.9), 3)
        0.782
        """
        # kept by tests/test_calibration.py::test_the_guarantee_is_that_of_the_theorem,
        # tests/test_calibration.py::test_what_is_guaranteed,
        # tests/test_calibration.py::test_what_folds_of_several_sizes_cost
        share = _checked_coverage(coverage)
        check_is_fitted(self)
        return self.conformal_.guaranteed(share) if isinstance(self.conformal_, CrossConformal) else 0.0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._given()).input_tags
        return tags

    def _given(self) -> Any:
        return SVOR() if self.estimator is None else self.estimator

    def _is_trained(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    def _counting(self, y: Any, sample_weight: Any) -> Ints:
        """Return the samples of positive weight, by number."""
        n = len(label_array(y))
        return np.arange(n) if sample_weight is None else np.flatnonzero(check_sample_weight(sample_weight, n))

    def _taken(self, counting: Ints, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the samples that count, with their labels and weights."""
        if sample_weight is None:
            return X, y, None
        weight = check_sample_weight(sample_weight, len(label_array(y)))
        known = np.arange(len(weight)) if self._is_trained() else counting
        return take_samples(X, counting, known, is_pairwise(self._given())), take(y, counting), weight[counting]

    def _trained(self, X: Any, y: Any, sample_weight: Any, session: Session | None) -> Any:
        if not self._is_trained():
            estimator = clone(self._given())
            return estimator.fit(X, y, **_fit_options(estimator, sample_weight, session, "all"))
        check_is_fitted(self._given())
        return self._given()

    def _fit_folds(
        self, X: Any, y: Any, sample_weight: Any, folds: list[Fold], session: Session | None
    ) -> list[_FittedFold]:
        """Train a machine per fold."""
        is_matrix = is_pairwise(self._given())

        def fitted(number: int, fold: Fold) -> _FittedFold:
            machine = clone(self._given())
            samples, others = (take_samples(X, which, fold.train, is_matrix) for which in fold)
            options = _fit_options(machine, take(sample_weight, fold.train), session, f"fold{number}")
            with quiet_fits(findings_only=True), order_is_told():  # the fit on all samples has warned of both
                machine.fit(samples, take(y, fold.train), **options)
            columns = fold.train if is_matrix else None
            return _FittedFold(machine, rank_score(machine, samples), rank_score(machine, others), columns)

        return Jobs(n_jobs=self.n_jobs).run(partial(fitted, number, fold) for number, fold in enumerate(folds))

    def _cross(self, fitted: list[_FittedFold], folds: list[Fold], codes: Ints, weight: Floats) -> CrossConformal:
        """Keep how badly the true ranks fit the scores out of fold.

        Of every fold not only the machine but also the meaning of its scores, where ranks meet, is learned from its
        training samples alone, as the theorem needs it. That the machine knows these samples makes it too sure of
        itself, which does not matter: nonconformities are compared within a fold only.
        """
        n = len(codes)
        parts = []
        for fold, each in zip(folds, fitted, strict=True):
            ranks = OrderedLogistic.fit(each.seen, codes[fold.train], len(self.classes_), weight[fold.train])
            parts.append(CalibrationPart.of(ranks, each.unseen, codes[fold.test], weight[fold.test], each.columns))
        is_whole = all(np.array_equal(np.sort(np.concatenate(fold)), np.arange(n)) for fold in folds)
        return CrossConformal(tuple(parts), n if is_whole and np.ptp(weight) == 0 else 0)

    def _split(self, score: Floats, codes: Ints, weight: Floats) -> CrossConformal:
        """Learn from some samples where the ranks meet, and keep how badly the others' true ranks fit."""
        for_map, others = split_for_map(len(codes))
        ranks = OrderedLogistic.fit(score[for_map], codes[for_map], len(self.classes_), weight[for_map])
        part = CalibrationPart.of(ranks, score[others], codes[others], weight[others])
        return CrossConformal((part,), len(codes) if np.ptp(weight) == 0 else 0)


class _FittedFold(NamedTuple):
    """The machine of a fold, its scores of the samples that it has seen and of the others, and columns to take."""

    machine: Any
    seen: Floats
    unseen: Floats
    columns: Ints | None


def _fit_options(estimator: Any, sample_weight: Any, session: Session | None, name: str) -> dict[str, Any]:
    inner = None if session is None else session.inner(name)
    return weight_argument(estimator, sample_weight) | checkpoint_argument(estimator, inner, needed=True)


def _columns(X: Any, columns: Ints) -> Any:
    """Return the columns of a kernel matrix that belong to these training samples; X if there are none."""
    return take_samples(X, np.arange(np.shape(X)[0]), columns, pairwise=True) if len(columns) else X


def _checked_coverage(coverage: Any) -> float:
    return check_number("coverage", coverage, "a number above 0 and below 1", lambda number: 0 < number < 1)
