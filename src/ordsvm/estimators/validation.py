"""Checks of what a user passes to an estimator, made once and before any work.

Every message says what was given, what is allowed and what to do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter, validate_data

from ordsvm._typing import Flags, Floats
from ordsvm.checks import as_floats, caller_level, check_number, shortened
from ordsvm.devices import TensorRows
from ordsvm.kernels import NAMES_WITHOUT_GAMMA, Kernel, gamma_value, make_kernel
from ordsvm.kernels.given import warn_of_diagonal
from ordsvm.problem.labels import Ranks, require_y
from ordsvm.sparse import check_structure

PLAIN_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))
SYMMETRY_FLOOR = 1e-8  # of the largest kernel value: differences that rounding makes of values near 0
LARGEST = 1e140  # whose squares, and sums of them, do not overflow


def training_samples(machine: Any, X: Any, rules: Callable[[], dict[str, Any]]) -> Any:
    """At least two samples to train on, of which the machine keeps the number and names of the features.

    An array of numbers that are finite and not too large needs no other checks, which would take a quarter of the time
    of a fit of 50 samples.
    """
    if is_plain(X, 2) and X.shape[0] > 1 and X.shape[1] > 0 and is_moderate(X):
        machine.n_features_in_ = X.shape[1]
        if hasattr(machine, "feature_names_in_"):  # of an earlier fit
            del machine.feature_names_in_
        return np.ascontiguousarray(X)
    check_structure(X)
    X = validate_data(machine, X, ensure_min_samples=2, **rules())
    check_magnitude(X)
    return X


def is_plain(values: Any, n_dimensions: int) -> bool:
    """Whether this is a NumPy array of real numbers and of so many dimensions."""
    return type(values) is np.ndarray and values.ndim == n_dimensions and values.dtype in PLAIN_DTYPES


def is_moderate(values: NDArray[Any]) -> bool:
    """Whether all numbers of an array that is not empty are finite and not too large."""
    return float(values.max()) <= LARGEST and float(values.min()) >= -LARGEST  # false for NaN


def check_gamma(gamma: Any) -> None:
    if not (isinstance(gamma, str) and gamma in ("scale", "auto")):
        check_number("gamma", gamma, "'scale', 'auto' or a number that is not negative", lambda number: number >= 0)


def check_kernel_parameters(machine: Any) -> None:
    """The parameters kernel, gamma, degree and coef0 of an estimator."""
    check_gamma(machine.gamma)
    check_number("degree", machine.degree, "a number that is not negative", lambda number: number >= 0)
    check_number("coef0", machine.coef0, "a number", lambda number: True)
    make_kernel(machine.kernel, 1.0, 0.0, 1.0)
    if _needs_gamma(machine.kernel) and machine.gamma == 0:
        raise ValueError(
            f"gamma={machine.gamma!r} is not valid for kernel={machine.kernel!r}, which it makes one constant: give "
            "'scale', 'auto' or a positive number."
        )


def kernel_by_parameters(machine: Any, samples: Any) -> Kernel:
    """The kernel for these training samples, from which gamma may be computed."""
    gamma = gamma_value(machine.gamma, samples) if _needs_gamma(machine.kernel) else 1.0
    return make_kernel(machine.kernel, gamma, float(machine.coef0), float(machine.degree))


def _needs_gamma(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel not in NAMES_WITHOUT_GAMMA


def check_max_iter(max_iter: Any) -> int:
    if isinstance(max_iter, float) and max_iter.is_integer():
        max_iter = int(max_iter)
    if isinstance(max_iter, bool) or not isinstance(max_iter, Integral) or max_iter < -1:
        raise ValueError(f"max_iter={max_iter!r} is not valid: give -1 (no limit) or a whole number of steps.")
    return min(int(max_iter), int(np.iinfo(np.int64).max))


def check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise ValueError(f"callback={callback!r} is not valid: give None or a function of a Progress.")


def check_fraction(name: str, value: Any) -> None:
    check_number(name, value, "a number above 0 and below 1", lambda number: 0 < number < 1)


def check_patience(n_iter_no_change: Any) -> None:
    if isinstance(n_iter_no_change, bool) or not isinstance(n_iter_no_change, Integral) or n_iter_no_change < 1:
        raise ValueError(
            f"n_iter_no_change={shortened(n_iter_no_change)} is not valid: give a whole number of looks, at least 1."
        )


def check_seed(random_state: Any) -> np.random.RandomState:
    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={shortened(random_state)} is not valid: give None, a whole number from 0 to 2³² − 1 or a "
            "numpy.random.RandomState."
        ) from None


def check_pair(name: str, pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name}={shortened(pair)} is not valid: give a pair (X, y) of samples and their labels.")
    return pair[0], pair[1]


def check_sample_weight(sample_weight: Any, n_samples: int, in_need: str = "two classes") -> Floats:
    """One weight per sample, none negative, not all zero; None means 1."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = as_floats("sample_weight", sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}.")
    check_consistent_length(weight, np.empty(n_samples))
    if not np.all(np.isfinite(weight)):
        raise ValueError("sample_weight contains NaN or infinity: give finite numbers.")
    if np.any(weight < 0):
        raise ValueError(f"sample_weight contains negative numbers (least: {weight.min():g}): give weights ≥ 0.")
    if not np.any(weight > 0):
        raise ValueError(f"sample_weight is zero for every sample: at least {in_need} need positive weights.")
    return weight


def check_same_length(X: Any, target: NDArray[Any]) -> None:
    """scikit-learn's check, which is slower, where there is something to say."""
    if X.shape[0] != len(target):
        check_consistent_length(X, target)


def check_features(estimator: Any, X: Any) -> None:
    """Raise ValueError if X has other features than the training samples, or a malformed structure.

    The values are for the estimator inside to check.
    """
    if hasattr(estimator, "n_features_in_") and len(getattr(X, "shape", ())) == 1:
        raise ValueError(
            "X is 1-d, but a table of samples by features is expected. Reshape your data: "
            "X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature."
        )
    check_structure(X)
    validate_data(estimator, X, reset=False, skip_check_array=True)


def is_routing() -> bool:
    """Whether scikit-learn passes on weights by the requests of the steps."""
    return bool(get_config().get("enable_metadata_routing", False))


def weight_argument(estimator: Any, sample_weight: Any) -> dict[str, Any]:
    """What to pass to `fit` of an estimator inside another one, or of a pipeline.

    The last step of a pipeline gets them; with scikit-learn's metadata routing, the steps that request them.
    """
    if sample_weight is None:
        return {}
    if isinstance(estimator, Pipeline):
        if is_routing():
            process_routing(estimator, "fit", sample_weight=sample_weight)  # raises where no step says what it takes
            return {"sample_weight": sample_weight}
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in weight_argument(last, sample_weight).items()}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(
            f"sample_weight was given, but {type(estimator).__name__}.fit takes none; "
            "leave it out or choose an estimator that takes weights."
        )
    return {"sample_weight": sample_weight}


def checkpoint_argument(estimator: Any, checkpoint: Any, needed: bool = False) -> dict[str, Any]:
    """What to pass to `fit` of an estimator inside another one, or of a pipeline.

    Nothing where it takes none, unless that is needed.
    """
    if checkpoint is None:
        return {}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in checkpoint_argument(last, checkpoint, needed).items()}
    if has_fit_parameter(estimator, "checkpoint"):
        return {"checkpoint": checkpoint}
    if needed:
        raise TypeError(
            f"checkpoint was given, but {type(estimator).__name__}.fit takes none; leave it out or choose an estimator "
            "of this library."
        )
    return {}


def sample_C(C: Any, sample_weight: Any, class_weight: Any, ranks: Ranks) -> Floats:
    """C × sample weight × class weight of every sample; not to be written to."""
    if sample_weight is None and class_weight is None:
        return np.broadcast_to(weighted_C(C, np.ones(1)), len(ranks.codes))
    weight = check_sample_weight(sample_weight, len(ranks.codes))
    return weighted_C(C, weight, class_weights(class_weight, ranks)[ranks.codes])


def weighted_C(C: Any, sample_weight: Floats, class_weight: Floats | float = 1.0) -> Floats:
    """The product, not zero for all samples and infinite for none."""
    with np.errstate(over="ignore"):
        product = float(C) * sample_weight * class_weight
    if not np.all(np.isfinite(product)):
        raise ValueError("C × sample weight × class weight overflows: give smaller weights or a smaller C.")
    if not np.any(product > 0):
        raise ValueError(
            "C × sample weight × class weight is zero for every sample: give larger weights or a larger C."
        )
    return product


def weights_or_none(weight: Floats) -> Floats | None:
    """None for weights that are all 1, which linear solvers need not read."""
    return None if np.all(weight == 1.0) else weight


def classes_that_count(C: Floats, ranks: Ranks, name: str) -> Flags:
    """Which classes have samples of positive C: two of them at least."""
    present = np.bincount(ranks.codes, C > 0, len(ranks.classes)) > 0
    if present.sum() < 2:
        raise ValueError(
            f"C × sample weight × class weight is above zero for 1 class only: {name} needs at least two classes with "
            "samples of positive weight."
        )
    return present


def check_targets(y: Any, name: str) -> Floats:
    """One finite real number per sample."""
    require_y(y, name, "number")
    if is_plain(y, 1) and y.dtype == np.float64 and y.flags.c_contiguous and len(y) and is_moderate(y):
        return y
    if np.iscomplexobj(np.asarray(y)):
        raise ValueError("Complex data not supported: y holds complex numbers; give real ones.")
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.flags.c_contiguous  # else a column, a view, or no array
    target = as_floats("y", y if plain else column_or_1d(y, warn=True))
    assert_all_finite(target, input_name="y")
    if np.max(np.abs(target), initial=0.0) > LARGEST:
        raise ValueError(
            "y holds values above 1e140, too large to compute with: scale them, for instance with "
            "sklearn.compose.TransformedTargetRegressor."
        )
    return target


def warn_left_out(labels: NDArray[Any]) -> None:
    warnings.warn(
        f"No sample of positive weight has the label {', '.join(map(str, labels))}: it is left out of classes_ and "
        "will not be predicted.",
        UserWarning,
        stacklevel=caller_level(),
    )


def class_weights(class_weight: Any, ranks: Ranks) -> Floats:
    """Return the weight of every class, in the order of `ranks.classes`.

    It is 1, "balanced" over the classes present, or that of a dict. A dict may name labels that are not in y, as a fold
    of a cross-validation may lack a rare one; not, where `categories` or the dtype list all labels there are.
    """
    classes = ranks.classes
    if class_weight is None:
        return np.ones(len(classes))
    is_text = isinstance(class_weight, str)
    if (is_text and class_weight != "balanced") or not (is_text or isinstance(class_weight, dict)):
        raise ValueError(
            f"class_weight={shortened(class_weight)} is not valid: give None, 'balanced' or a dict from labels to "
            f"weights, such as {{{classes.tolist()[0]!r}: 2.0}}."
        )
    if isinstance(class_weight, dict):
        given = as_floats("class_weight", list(class_weight.values()))
        if not np.all(np.isfinite(given)) or np.any(given < 0):
            raise ValueError(f"class_weight={class_weight!r} is not valid: weights must be finite and not negative.")
        known = set(classes.tolist())
        unknown = [label for label in class_weight if label not in known]
        if unknown and (ranks.are_listed or len(unknown) == len(class_weight)):
            raise ValueError(
                f"class_weight names labels that are not classes of y: {unknown}; remove them, or give weights of "
                f"labels such as {classes.tolist()[0]!r}."
            )
        return np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    present = np.unique(ranks.codes)
    weight = np.ones(len(classes))
    weight[present] = compute_class_weight(class_weight, classes=present, y=ranks.codes)
    return weight


def check_magnitude(X: Any) -> None:
    """Squares of the values, and sums of them, must not overflow."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(
            f"X holds values as large as {largest:.0e}, too large to compute with: scale the features, for instance "
            "with sklearn.preprocessing.StandardScaler."
        )


def check_tensor(X: TensorRows, n_features: int) -> TensorRows:
    """Samples in a tensor with the features of the training data, of numbers that can be computed with."""
    if len(X.shape) != 2 or X.shape[1] != n_features:
        raise ValueError(f"X is a tensor of shape {X.shape}: give a row for every sample, of {n_features} features.")
    if X.shape[0] and not float(X.tensor.abs().max()) <= 1e140:
        raise ValueError("X holds NaN, infinity or values above 1e140: give finite numbers, scaled.")
    return X


def check_training_tensor(machine: Any, X: TensorRows) -> TensorRows:
    """Samples in a tensor to train on; the machine keeps the number of their features, which have no names."""
    n_samples, *features = X.shape
    if len(features) != 1 or n_samples < 2 or features[0] < 1:
        raise ValueError(f"X is a tensor of shape {X.shape}: give a row for every sample, at least 2, of its features.")
    check_tensor(X, features[0])
    validate_data(machine, np.empty((0, features[0])), skip_check_array=True)
    return X


def require_kernel_columns(error: ValueError) -> None:
    """Raises scikit-learn's error about the number of features with what these are for a precomputed kernel."""
    if "features as input" in str(error):
        raise ValueError(
            f"{str(error).removesuffix('.')}: with a precomputed kernel these are the kernel values to the training "
            "samples; pass k(X, X_train), a column for every training sample."
        ) from None


def check_square_kernel(X: Any) -> None:
    """Raise ValueError unless X is a square and, but for rounding, symmetric matrix of any scale."""
    if sp.issparse(X):
        raise TypeError("A sparse precomputed kernel is not supported: pass X.toarray().")
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix: X has shape {X.shape}; "
            "pass the kernel values between all training samples."
        )
    blocks, least = range(0, len(X), 256), SYMMETRY_FLOOR * max(float(X.max()), -float(X.min()))
    if not all(np.allclose(X[i : i + 256], X[:, i : i + 256].T, rtol=1e-5, atol=least) for i in blocks):
        raise ValueError("The precomputed kernel matrix is not symmetric: pass k(X, X) of the training samples.")
    warn_of_diagonal(X.diagonal())
