"""Regression on the ranks, rounded: the baseline every ordinal model should beat."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.svm import SVR
from sklearn.utils import Tags, assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import Categories, CheckpointPath, Samples, SampleWeight
from ordsvm.checks import check_estimator
from ordsvm.conventions import NoProbabilities, linked, refuse_calibration_by_class, share_of_right_labels
from ordsvm.devices import on_host
from ordsvm.estimators.validation import check_features, checkpoint_argument, weight_argument
from ordsvm.formulations.threshold import public_cuts
from ordsvm.problem.labels import encode_labels
from ordsvm.problem.thresholds import intercept_of, ranks_of
from ordsvm.sparse import check_structure


@linked
class RoundedRegressor(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Ordinal prediction with any regressor: fitted to the ranks 0, ..., r − 1, and rounded.

    Parameters
    ----------
    regressor : estimator, default=None
        The regressor to fit, as a clone. None: scikit-learn's `SVR()`.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    thresholds_ : ndarray of shape (n_classes - 1,)
        1/2, 3/2, ..., r − 3/2; for two classes 0.
    intercept_ : ndarray of shape (1,)
        Added to what the regressor predicts: for two classes −1/2, so that the score is cut at 0; for more, 0.
    regressor_ : estimator
        The fitted regressor.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    SVOR : A threshold model, which learns where ranks meet.

    Notes
    -----
    This takes neighbouring labels to be equally far apart, which an ordinal model does not. Read as a threshold model,
    its thresholds are fixed half-way between the ranks: the predicted rank is the first k with f(x) < k + 1/2, the last
    one if there is none. So a prediction half-way goes to the higher rank, and one beyond the ends to the lowest or
    highest.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from ordsvm import RoundedRegressor
    >>> model = RoundedRegressor(Ridge(), categories=["low", "medium", "high"])
    >>> model.fit([[0.0], [1.0], [2.0]], ["low", "medium", "high"]).predict([[-3.0], [1.0]])
    array(['low', 'medium'], dtype='<U6')
    """

    score = share_of_right_labels
    predict_proba = predict_log_proba = predict_cumproba = predict_set = NoProbabilities()

    def __init__(self, regressor: BaseEstimator | None = None, *, categories: Categories = None) -> None:
        self.regressor = regressor
        self.categories = categories

    def fit(
        self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None, *, checkpoint: CheckpointPath = None
    ) -> Self:
        """Fit the regressor to the ranks of y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples, which the regressor validates.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, where the regressor takes them.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fit, where the regressor takes one.

        Returns
        -------
        RoundedRegressor
            The fitted estimator.
        """
        check_structure(X)
        check_estimator("regressor", self._regressor())
        validate_data(self, X, skip_check_array=True)  # counts and names the features only
        y, sample_weight = on_host(y, "y"), on_host(sample_weight, "sample_weight")
        ranks = encode_labels(y, self.categories, estimator_name=type(self).__name__)
        check_consistent_length(X, ranks.codes)
        regressor = clone(self._regressor())
        options = weight_argument(regressor, sample_weight) | checkpoint_argument(regressor, checkpoint, needed=True)
        regressor.fit(X, ranks.codes.astype(np.float64), **options)
        self.regressor_ = regressor
        self.classes_ = ranks.classes
        self.thresholds_, self.intercept_ = public_cuts(np.arange(len(ranks.classes) - 1, dtype=np.float64) + 0.5)
        return self

    def decision_function(self, X: Samples) -> NDArray[np.float64]:
        """Return what the regressor predicts, plus `intercept_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers on the scale of the ranks 0, ..., r − 1; for two classes 0 is half-way, where scikit-learn cuts.
        """
        check_is_fitted(self)
        check_features(self, X)
        refuse_calibration_by_class(self)
        score = column_or_1d(on_host(self.regressor_.predict(X)), dtype=np.float64)
        assert_all_finite(score, input_name="the regressor's prediction")
        return score + intercept_of(self)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label of every sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The label whose rank is nearest to the regressor's prediction; half-way goes up.
        """
        score = self.decision_function(X)
        return self.classes_[ranks_of(score, self.thresholds_, "first")]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._regressor()).input_tags
        return tags

    def _regressor(self) -> Any:
        return SVR() if self.regressor is None else self.regressor
