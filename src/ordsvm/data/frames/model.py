"""TableModel: an encoder and a machine that were trained together."""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats
from ordsvm.data.frames.encoder import TableEncoder
from ordsvm.data.frames.reading import TableError, import_pandas


def _machine_has(name: str) -> Any:
    return available_if(lambda model: hasattr(getattr(model, "machine_", model.machine), name))


class TableModel(ClassifierMixin, BaseEstimator):
    """A machine that predicts from the columns of a data frame, or from the rows of an svmlight file.

    Parameters
    ----------
    machine : estimator
        What is trained; as a clone.
    encoder : TableEncoder or None, default=None
        What makes features of columns; None: rows are features already, as in an svmlight file.
    target : str, default=""
        The column that holds the labels.

    Attributes
    ----------
    classes_ : the labels, lowest first
    machine_, encoder_ : both, trained
    about_ : dict, what the command line notes about the training: names, numbers of rows, dates
    """

    about_: dict[str, Any]

    def __init__(self, machine: Any, encoder: TableEncoder | None = None, target: str = "") -> None:
        self.machine = machine
        self.encoder = encoder
        self.target = target

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns about the columns of X, then trains the machine."""
        self.encoder_ = None if self.encoder is None else clone(self.encoder).fit(X)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.machine_ = clone(self.machine)
        self.machine_.fit(self._first_features(X), y, **weight)
        self.about_ = {}
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        check_is_fitted(self)
        return self.machine_.classes_

    def features(self, X: Any) -> Any:
        """What the machine sees of the rows of X."""
        check_is_fitted(self)
        return self._first_features(X) if self.encoder_ is not None else self._as_wide(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        return self.machine_.predict(self.features(X))

    @_machine_has("decision_function")
    def decision_function(self, X: Any) -> Floats:
        """The score of every row, as the machine has it."""
        return self.machine_.decision_function(self.features(X))

    @_machine_has("predict_proba")
    def predict_proba(self, X: Any) -> Floats:
        """The probability of every label."""
        return self.machine_.predict_proba(self.features(X))

    def trial_samples(self, n_rows: int) -> Any:
        """Rows that any trained model can predict: nothing is known of them."""
        if self.encoder_ is None:
            return sp.csr_array((n_rows, self.machine_.n_features_in_))
        names = [column.name for column in self.encoder_.columns_]
        return import_pandas().DataFrame({name: [None] * n_rows for name in names})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_")

    def _first_features(self, X: Any) -> Any:
        return X if self.encoder_ is None else self.encoder_.transform(X)

    def _as_wide(self, rows: Any) -> Any:
        """Rows of an svmlight file that happens to lack the last features; there must not be more than in training."""
        wide = self.machine_.n_features_in_
        if rows.shape[1] > wide:
            raise TableError(
                f"The data have {rows.shape[1]} features, and the model was trained with {wide}: give the same."
            )
        return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], wide))
