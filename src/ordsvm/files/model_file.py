"""`save` and `load`: a safetensors file of arrays and one JSON text. Nothing in it is ever executed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from ordsvm.atomic_files import replacing
from ordsvm.checks import caller_level, shortened
from ordsvm.files.soundness import check_sound
from ordsvm.files.tree import Reader, Unsaveable, Writer

# 2: rank_rule_, 3: intercept_ of threshold models; versions that do not read these would predict other ranks
FORMAT, VERSION = "ordsvm-model", 3
TEXT = "model.json"  # the name of the array that holds the JSON text in UTF-8

Arrays = dict[str, NDArray[Any]]
# What values that are made up can raise while the model is put together and tried; a missing package is another matter
UNSOUND = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, MemoryError, RuntimeError, re.error)


class ModelFileError(ValueError):
    """The file is not a model file, or damaged, or of a later version of the format."""


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file of arrays and JSON, whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted estimator of ordsvm whose parameters are data, or a pipeline of scikit-learn that ends in one. A
        `callback` is left out.
    path : str or path-like
        The file to write; one of that name is replaced.

    Raises
    ------
    TypeError
        Where the model holds code, such as a callable kernel or a step that is on no list: these need pickle or skops.
    OSError
        Where the file cannot be written.

    See Also
    --------
    load : Reads the file.
    to_onnx : Exports a threshold model for other runtimes.

    Notes
    -----
    The file is in the safetensors format; nothing in it is ever executed. docs/model_file.md describes it.

    Steps of scikit-learn that it holds, in a `Pipeline` or a `ColumnTransformer`: `StandardScaler`, `MinMaxScaler`,
    `MaxAbsScaler`, `RobustScaler`, `Normalizer`, `SimpleImputer`, `OneHotEncoder`, `OrdinalEncoder`, `CountVectorizer`,
    `TfidfVectorizer`, `TfidfTransformer`, `PCA`, `TruncatedSVD`. `ordsvm.files.register` adds classes of one's own.

    Examples
    --------
    >>> import tempfile
    >>> from ordsvm import SVOR, load, save
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10).fit(X[:50], y[:50])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.safetensors")
    ...     again = load(f"{folder}/model.safetensors")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    safetensors = _safetensors()
    check_is_fitted(model)
    writer = Writer()
    try:
        tree = writer.value(model, "model")
    except Unsaveable as error:
        raise TypeError(
            f"A model file holds arrays and plain values only, but {error}. Use pickle.dump or skops.io.dump, which "
            "keep any Python object."
        ) from None
    text = np.frombuffer(json.dumps(tree, allow_nan=False).encode(), dtype=np.uint8)
    arrays = writer.arrays | {TEXT: text}
    header = {"format": FORMAT, "version": str(VERSION), "sha256": checksum(arrays)}
    if writer.holds_steps:
        header["scikit-learn"] = sklearn.__version__
    with replacing(path) as temporary:
        try:
            safetensors.numpy.save_file(arrays, temporary, metadata=header)
        except safetensors.SafetensorError as error:  # which is no OSError, whatever the reason
            raise _write_error(error, os.fspath(path)) from None


def load(path: str | os.PathLike[str]) -> Any:
    """Read the model in a file that `save` has written.

    Loading runs no code from the file and takes no more memory than the file has bytes, give or take a constant factor.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        Where the file is truncated, altered, made up, or of a later version of the format.
    OSError
        Where it cannot be read.

    See Also
    --------
    save : Writes the file.

    Examples
    --------
    >>> import tempfile
    >>> from ordsvm import LinearSVOR, load, save
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(LinearSVOR().fit(X[:50], y[:50]), f"{folder}/model.safetensors")
    ...     load(f"{folder}/model.safetensors")
    LinearSVOR()
    """
    # kept by tests/test_fuzz.py::test_hostile_model_files,
    # tests/test_model_files.py::test_a_small_file_takes_little_memory
    name = os.fspath(path)
    arrays, header = _read(path, name)
    _check_header(header, name)
    if checksum(arrays) != header.get("sha256"):
        raise ModelFileError(f"{name!r} is damaged: its checksum is not that of its contents; take an intact copy.")
    _warn_of_other_version(header.get("scikit-learn"))
    try:
        return _model(arrays, Path(path).stat().st_size)
    except RecursionError:
        raise ModelFileError(f"{name!r} is not a sound model: its values are nested too deep; save it anew.") from None
    except UNSOUND as error:
        raise ModelFileError(f"{name!r} is not a sound model: {_one_line(error)}; save it anew.") from None


def _write_error(error: Exception, name: str) -> OSError:
    """What safetensors says of a failed write, such as "I/O error: No space left on device (os error 28)"."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    if found is None:
        return OSError(f"{name!r} can't be written: {_one_line(error)}; give another name.")
    number = int(found.group(1))
    return OSError(number, os.strerror(number), name)


def _model(arrays: Arrays, size: int) -> Any:
    text = arrays.pop(TEXT)
    reader = Reader(arrays, size)
    model = reader.value(json.loads(text.tobytes()))
    if reader.left_over():
        raise ValueError(f"nothing uses the array {reader.left_over()[0]!r}")
    check_sound(model, size)
    return model


def _read(path: str | os.PathLike[str], name: str) -> tuple[Arrays, dict[str, str]]:
    """All arrays and the header; safetensors checks that they fill the file exactly, before it allocates anything."""
    safetensors = _safetensors()
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # to open a pipe would block
        raise ModelFileError(f"{name!r} is not a regular file: copy the model into one.")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise type(error)(f"{name!r} can't be read ({error.strerror}): give the name of a model file.") from None
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            return {key: file.get_tensor(key) for key in file.keys()}, header  # noqa: SIM118 (it is no dict)
    except Exception as error:  # safetensors has several of its own, and not all of them are public
        raise ModelFileError(
            f"{name!r} is not a model file of ordsvm, or not all of it: {_one_line(error)}; give a file that "
            "ordsvm.save or `ordsvm train` has written."
        ) from None


def _check_header(header: dict[str, str], name: str) -> None:
    if header.get("format") != FORMAT:
        raise ModelFileError(
            f"{name!r} is a safetensors file, but no model of ordsvm: give a file that ordsvm.save or `ordsvm train` "
            "has written."
        )
    version = header.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 9):
        raise ModelFileError(f"{name!r} has no valid format version: take an intact copy.")
    if int(version) > VERSION:
        raise ModelFileError(
            f"{name!r} has format version {int(version)}, and this ordsvm reads them up to {VERSION}: update ordsvm."
        )


def _warn_of_other_version(written: str | None) -> None:
    """Steps of scikit-learn keep attributes of their version; a release may have others."""
    if written is not None and written.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name="Pipeline",
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=shortened(written),
            ),
            stacklevel=caller_level(),
        )


def checksum(arrays: Arrays) -> str:
    """SHA-256 over name, type, shape and bytes of every array, the JSON text included, in order of their names."""
    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = arrays[key]
        digest.update(json.dumps([key, array.dtype.str, list(array.shape)]).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return (text if len(text) <= 200 else f"{text[:200]} …") or type(error).__name__


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise ImportError("Model files need safetensors: pip install 'ordsvm[io]'.") from None
    return safetensors
