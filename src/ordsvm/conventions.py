"""What scikit-learn expects of an estimator besides `fit` and `predict`: signatures, links, and callers."""

from __future__ import annotations

import inspect
import sys
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_consistent_length

from ordsvm.devices import on_host
from ordsvm.problem.labels import label_array

T = TypeVar("T", bound=type)

DOCUMENTATION = "https://repository.invalid/ordsvm/manual"  # until there is one; tools/release.py refuses it
PUBLIC_MODULES = {"ordsvm.tables": "ordsvm.tables", "ordsvm.distributed": "ordsvm.distributed"}  # else: ordsvm

# Frames between a meta-estimator of scikit-learn and the method of the estimator inside it.
PASSED_THROUGH = (
    "joblib",
    "ordsvm.tables.model",
    "ordsvm.estimators.base",
    "sklearn.frozen",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.utils",
)


def linked(kind: T) -> T:
    """A class decorator: the HTML representation of the estimator, and of those derived from it here, has a link."""
    settings: Any = kind
    settings._doc_link_module = "ordsvm"
    settings._doc_link_template = DOCUMENTATION + "/api/generated/{module}.{name}.html"
    settings._doc_link_url_param_generator = _page
    return kind


def _page(estimator: Any, *_: Any) -> dict[str, str]:
    """Where the manual has the estimator."""
    defined = type(estimator).__module__
    module = next((name for start, name in PUBLIC_MODULES.items() if defined.startswith(start)), "ordsvm")
    return {"module": module, "name": type(estimator).__name__}


def check_signature(kind: type) -> None:
    """Raises where parameters of an estimator are hidden behind *args or **kwargs.

    scikit-learn reads them off the signature of `__init__`: `clone` and searches would reset the others in silence.
    """
    if "__init__" not in vars(kind):
        return
    for parameter in inspect.signature(vars(kind)["__init__"]).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            star = "**" if parameter.kind is parameter.VAR_KEYWORD else "*"
            raise TypeError(
                f"{kind.__name__}.__init__ takes {star}{parameter.name}: scikit-learn's clone reads parameters off the "
                "signature and would reset those that come that way; name each of them, as docs/add_a_formulation.md "
                "shows."
            )


def name_init_after(kind: type) -> None:
    """Gives an inherited `__init__` the name of the class, which is what a TypeError about its arguments then says."""
    init: Any = kind.__init__  # type: ignore[misc]
    own = f"{kind.__qualname__}.__init__"
    if not isinstance(init, FunctionType) or init.__qualname__ == own:
        return
    copy = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    copy.__kwdefaults__, copy.__annotations__, copy.__doc__ = init.__kwdefaults__, init.__annotations__, init.__doc__
    copy.__qualname__ = own
    kind.__init__ = copy  # type: ignore[misc]


class NoProbabilities:
    # Stands where a machine with scores has no such method: `hasattr` is False, and the error says what has one.
    # A comment, not a docstring: the manual would take the attribute for documented.

    def __get__(self, machine: Any, kind: type) -> Any:
        if machine is None:
            return self
        name = kind.__name__
        raise AttributeError(
            f"{name} has scores, not probabilities: fit ordsvm.CalibratedOrdinal({name}(...)), which has "
            "predict_proba, predict_cumproba and predict_set, from scores out of fold."
        )


def refuse_calibration_by_class(estimator: Any) -> None:
    """Raises where scikit-learn's `CalibratedClassifierCV` calls for the one score of a machine of several ranks.

    It would take it for the score of the first class and give the other ones no probability, without a word. Nothing
    public says who calls `decision_function`: the frames above the call do. Two classes are no difficulty.
    """
    n_ranks = len(estimator.classes_)
    if n_ranks > 2 and _is_called_by_calibration():
        kind = type(estimator).__name__
        raise TypeError(
            f"CalibratedClassifierCV needs a score for every class, and {kind} has one score for all {n_ranks} ranks: "
            f"use ordsvm.CalibratedOrdinal({kind}(...))."
        )


def _is_called_by_calibration() -> bool:
    frame = sys._getframe(3)  # past this function, the one that refuses, and decision_function
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == "sklearn.calibration":
            return True
        if not module.startswith(PASSED_THROUGH):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that a property has computed, such that writing to it raises: it would be lost in silence."""
    array.flags.writeable = False
    return array


def share_of_right_labels(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the share of samples whose label is predicted exactly: accuracy, as `score` of every classifier.

    It counts a label next to the true one as wrong as any other. For errors in ranks, give `scoring` a scorer such as
    `ordsvm.metrics.mae_scorer`.

    Parameters
    ----------
    X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their true labels.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Their weights; None is 1.

    Returns
    -------
    float
        The share, from 0 to 1.
    """
    predicted, weight = on_host(self.predict(X)), on_host(sample_weight, "sample_weight")
    labels = label_array(on_host(y, "y"))  # as `fit` reads them: scikit-learn refuses numbers in an array of objects
    kinds = labels.dtype.kind, predicted.dtype.kind
    if "O" in kinds or (kinds[1] == "f" and kinds[0] in "biuf"):  # labels that only `categories` make such
        check_consistent_length(labels, predicted, weight)
        pairs = zip(labels.tolist(), predicted.tolist(), strict=True)
        return float(np.average([true == found for true, found in pairs], weights=weight))
    return float(accuracy_score(labels, predicted, sample_weight=weight))


def coefficient_of_determination(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the coefficient of determination R², as `score` of every regressor.

    It is 1 where all predictions are exact, and 0 for the mean of y throughout.

    Parameters
    ----------
    X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their true targets.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Their weights; None is 1.

    Returns
    -------
    float
        R², at most 1.
    """
    predicted, weight = on_host(self.predict(X)), on_host(sample_weight, "sample_weight")
    return float(r2_score(on_host(y, "y"), predicted, sample_weight=weight))
