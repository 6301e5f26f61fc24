"""TableModel: an encoder and a machine that were trained together."""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import CheckpointPath, Floats, Samples, SampleWeight
from ordsvm.conventions import linked, share_of_right_labels
from ordsvm.sparse import check_structure
from ordsvm.tables.encoder import TableEncoder
from ordsvm.tables.reading import TableError, import_pandas


def _machine_has(name: str) -> Any:
    return available_if(lambda model: hasattr(getattr(model, "machine_", model.machine), name))


@linked
class TableModel(ClassifierMixin, BaseEstimator):
    """A model that predicts from the columns of a data frame, or from the rows of an svmlight file.

    Parameters
    ----------
    machine : estimator
        The classifier to train, as a clone.
    encoder : TableEncoder or None, default=None
        The encoder that makes features of columns; None: rows are features already, as in an svmlight file.
    target : str, default=""
        The column that holds the labels.

    Attributes
    ----------
    machine_ : estimator
        The trained classifier.
    encoder_ : TableEncoder or None
        The fitted encoder.
    about_ : dict
        What the command line records of the training: names, numbers of rows, dates.

    See Also
    --------
    TableEncoder : The encoder by itself.
    sklearn.pipeline.Pipeline : Steps of any kind; model files hold the standard ones.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordsvm import SVOR
    >>> from ordsvm.tables import TableEncoder, TableModel
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    >>> model = TableModel(SVOR(kernel="linear", C=10.0), TableEncoder()).fit(frame, [0, 0, 1, 1])
    >>> model.predict(frame)
    array([0, 0, 1, 1])
    """

    about_: dict[str, Any]
    score = share_of_right_labels

    def __init__(self, machine: Any, encoder: TableEncoder | None = None, target: str = "") -> None:
        self.machine = machine
        self.encoder = encoder
        self.target = target

    def fit(
        self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None, *, checkpoint: CheckpointPath = None
    ) -> Self:
        """Learn about the columns of X, then train the classifier.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fit of the classifier: the same call goes on from there.

        Returns
        -------
        TableModel
            The fitted model.
        """
        encoder = None if self.encoder is None else clone(self.encoder).fit(X)
        given = {"sample_weight": sample_weight, "checkpoint": checkpoint}
        options = {name: value for name, value in given.items() if value is not None}
        machine = clone(self.machine)
        machine.fit(X if encoder is None else encoder.transform(X), y, **options)
        self.encoder_, self.machine_, self.about_ = encoder, machine, {}
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, lowest first."""
        check_is_fitted(self)
        return self.machine_.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns, or of features where there is no encoder."""
        return int((self.machine_ if self.encoder_ is None else self.encoder_).n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, where there is an encoder."""
        return (self.machine_ if self.encoder_ is None else self.encoder_).feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.encoder is None:
            tags.input_tags = get_tags(self.machine).input_tags
        else:
            tags.input_tags = get_tags(self.encoder).input_tags
        return tags

    def features(self, X: Samples) -> Any:
        """Make the features that the classifier is given.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features)
            The features.
        """
        check_is_fitted(self)
        return self._as_wide(X) if self.encoder_ is None else self.encoder_.transform(X)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label of every row.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        return self.machine_.predict(self.features(X))

    @_machine_has("decision_function")
    def decision_function(self, X: Samples) -> Floats:
        """Compute the score of every row, as the classifier has it.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        return self.machine_.decision_function(self.features(X))

    @_machine_has("predict_proba")
    def predict_proba(self, X: Samples) -> Floats:
        """Predict the probability of every label.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every label, in the order of `classes_`.
        """
        return self.machine_.predict_proba(self.features(X))

    @_machine_has("predict_cumproba")
    def predict_cumproba(self, X: Samples) -> Floats:
        """Predict P(rank ≤ k).

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every label, lowest first; the last one is 1.
        """
        return self.machine_.predict_cumproba(self.features(X))

    @_machine_has("predict_set")
    def predict_set(self, X: Samples, coverage: float = 0.9) -> NDArray[Any]:
        """Predict a run of neighbouring labels that is to hold the true one with probability `coverage`.

        Parameters
        ----------
        X : DataFrame or csr_array of shape (n_samples, n_columns)
            The rows.
        coverage : float, default=0.9
            The share of samples whose true label is to be in its set, above 0 and below 1.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The lowest and the highest label of every set.
        """
        return self.machine_.predict_set(self.features(X), coverage)

    @_machine_has("guaranteed_coverage")
    def guaranteed_coverage(self, coverage: float = 0.9) -> float:
        """Compute the coverage that is guaranteed where `predict_set` is asked for `coverage`.

        Parameters
        ----------
        coverage : float, default=0.9
            What `predict_set` is asked for, above 0 and below 1.

        Returns
        -------
        float
            The least probability that a set holds the true label; see `CalibratedOrdinal.guaranteed_coverage`.

        Notes
        -----
        The encoder learns scales and categories, not labels, from all rows, those that a fold holds out too. The
        theorem is about folds that learn these anew: ``CalibratedOrdinal(make_pipeline(TableEncoder(), SVOR()))``.
        """
        # kept by tests/test_tables.py::test_a_calibrated_model_has_sets_and_cumulative_probabilities
        return self.machine_.guaranteed_coverage(coverage)

    def trial_samples(self, n_rows: int) -> Any:
        """Make rows that any trained model can predict: all of their cells are missing.

        Parameters
        ----------
        n_rows : int
            The number of rows.

        Returns
        -------
        DataFrame or csr_array of shape (n_rows, n_columns)
            The rows.
        """
        if self.encoder_ is None:
            return sp.csr_array((n_rows, self.machine_.n_features_in_))
        names = [column.name for column in self.encoder_.columns_]
        return import_pandas().DataFrame({name: [None] * n_rows for name in names})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_")

    def _as_wide(self, rows: Any) -> Any:
        """Return sparse rows with the features of training: those of an svmlight file may lack the last ones.

        Raise TableError where there are more of them. Other rows are left to the machine.
        """
        check_structure(rows)
        wide = self.machine_.n_features_in_
        if not sp.issparse(rows) or rows.shape[1] == wide:
            return rows
        if rows.shape[1] > wide:
            raise TableError(
                f"The data have {rows.shape[1]} features, and the model was trained with {wide}: give the same."
            )
        rows = rows.tocsr()
        return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], wide))
