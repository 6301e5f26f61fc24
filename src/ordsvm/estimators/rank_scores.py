"""NPSVOR as a family: a score for every rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ordsvm._typing import Floats, Ints, Samples
from ordsvm.checks import check_choice, check_number, check_positive
from ordsvm.conventions import NoProbabilities, share_of_right_labels
from ordsvm.estimators.base import gives_back_tensors
from ordsvm.problem.labels import Ranks, encode_labels
from ordsvm.problem.predictors import PREDICTORS, Predictor


class RankScores(ClassifierMixin):
    """A score for every rank, and a predictor that makes a rank of them: NPSVOR with kernels and without.

    Mixed into a machine with `_margins`, the scores.
    """

    C: Any
    C1: Any
    C2: Any
    epsilon: Any
    predictor: Any
    categories: Any
    classes_: NDArray[Any]
    score = share_of_right_labels
    predict_proba = predict_log_proba = predict_cumproba = predict_set = NoProbabilities()

    @gives_back_tensors
    def rank_scores(self, X: Samples) -> Floats:
        """Compute f_k(x) for every rank k: near 0 on the rank, positive above it, negative below.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores, a column for every rank.
        """
        margins: Floats = self._margins(X)
        return margins

    @gives_back_tensors
    def decision_function(self, X: Samples) -> Floats:
        """Compute the margin of every rank by the predictor in use; the largest is that of the predicted rank.

        It is positive for the predicted rank and negative for the others.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Margins; for two ranks, as in scikit-learn, that of the higher rank alone.
        """
        margins = self._predictor().margins(self.rank_scores(X))
        return margins[:, 1] if len(self.classes_) == 2 else margins

    @gives_back_tensors
    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label of the rank that the predictor makes of the scores.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        ranks = self._ranks(self.rank_scores(X))
        return self.classes_[ranks]

    def _ranks(self, scores: Floats) -> Ints:
        """From 0, of the scores of all ranks."""
        return self._predictor().ranks(scores)

    def _predictor(self) -> Predictor:
        check_choice("predictor", self.predictor, PREDICTORS)
        return PREDICTORS[self.predictor]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, value in (("C1", self.C1), ("C2", self.C2)):
            if value is not None:
                check_positive(name, value)
        check_number("epsilon", self.epsilon, "a number that is not negative", lambda number: number >= 0)
        self._predictor()

    def _check_target(self, y: Any) -> Ranks:
        return encode_labels(y, self.categories, estimator_name=type(self).__name__)

    def _both_C(self) -> Floats:
        """C1 and C2."""
        return np.array([self.C if value is None else value for value in (self.C1, self.C2)], dtype=np.float64)
