"""Regression on the ranks, rounded: the baseline every ordinal model should beat."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.svm import SVR
from sklearn.utils import Tags, assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm.estimators.validation import check_features, weight_argument
from ordsvm.labels import encode_labels


class RoundedRegressor(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Ordinal prediction with any regressor: fit it to the ranks 0, ..., r - 1, round what it predicts.

    This takes neighbouring labels to be equally far apart, which an ordinal model does not. Read as a
    threshold model, its thresholds are fixed half-way between the ranks: the predicted rank is the first k
    with f(x) < k + 1/2, the last one if there is none. So a prediction half-way goes to the higher rank, and
    one beyond the ends to the lowest or highest.

    Parameters
    ----------
    regressor : regressor, default None
        Fitted as a clone. None means scikit-learn's `SVR()`.
    categories : sequence of labels, lowest first, default None
        The order of the labels. Without it an ordered pandas Categorical or polars Enum dtype of y gives the
        order, then the value of numbers; plain strings are sorted, with a warning.

    Attributes
    ----------
    classes_ : labels, lowest first.
    thresholds_ : 1/2, 3/2, ..., r - 3/2.
    regressor_ : the fitted regressor.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    """

    def __init__(self, regressor: Any = None, *, categories: Any = None) -> None:
        self.regressor = regressor
        self.categories = categories

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regressor to the ranks of y. It also validates X, and `sample_weight` where given."""
        validate_data(self, X, skip_check_array=True)  # counts and names the features only
        ranks = encode_labels(y, self.categories, estimator_name=type(self).__name__)
        check_consistent_length(X, ranks.codes)
        regressor = clone(self._regressor())
        regressor.fit(X, ranks.codes.astype(np.float64), **weight_argument(regressor, sample_weight))
        self.regressor_ = regressor
        self.classes_ = ranks.classes
        self.thresholds_ = np.arange(len(ranks.classes) - 1) + 0.5
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """What the regressor predicts: one number a sample, on the scale of the ranks 0, ..., r - 1."""
        check_is_fitted(self)
        check_features(self, X)
        score = column_or_1d(self.regressor_.predict(X), dtype=np.float64)
        assert_all_finite(score, input_name="the regressor's prediction")
        return score

    def predict(self, X: Any) -> NDArray[Any]:
        """The label whose rank is nearest to the regressor's prediction; half-way goes up."""
        score = self.decision_function(X)
        return self.classes_[np.searchsorted(self.thresholds_, score, side="right")]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._regressor()).input_tags
        return tags

    def _regressor(self) -> Any:
        return SVR() if self.regressor is None else self.regressor
