"""Values as JSON that refers to arrays, and back.

Numbers, strings, true, false, null and lists stand for themselves. Everything else is an object with one key, which
says what it is; docs/model_file.md has the table. `Writer` collects the arrays, `Reader` hands each out once, so that
a small file cannot take more memory than it has bytes.
"""

from __future__ import annotations

import math
import re
from collections import UserList
from collections.abc import Callable
from dataclasses import MISSING, fields
from types import NoneType
from typing import Any, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ordsvm.checks import shortened
from ordsvm.files.registry import file_estimators, file_records
from ordsvm.files.steps import OF_TRAINING, OUTPUT, PREFIX, STEPS, BadStep, check_output

NUMBER_KINDS = "biuf"
INLINE = 64  # the most entries of a float64 vector that stands in the JSON itself
NOT_KEPT = ("callback",)  # parameters that are code by nature and matter to training only
OTHERS_STATE = ("_metadata_request", "_skl", "_sklearn", "_callbacks")  # what scikit-learn may leave in an estimator
EARLIER_NAMES = {"_trained_prices": "_trained_C1_C2"}  # of attributes, in files of 0.1.0
ADDED_PARAMETERS = {"device", "deterministic"}  # which files of 0.1.0 do not have

# Types of fields whose values are checked, and those that a value may have, the one to name in a message last.
PLAIN: dict[Any, tuple[type, ...]] = {
    float: (int, float),
    int: (int,),
    str: (str,),
    float | None: (NoneType, int, float),
    int | None: (NoneType, int),
}


# Types that steps of scikit-learn have for a parameter or keep of what they were fitted to.
DTYPES: dict[str, Any] = {
    kind.__name__: kind for kind in (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_)
} | {"object": object, "bool": np.bool_}


class Unsaveable(TypeError):
    """A value that arrays and JSON cannot hold."""


class Writer:
    """Turns values into JSON and keeps the arrays that it refers to."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.holds_steps = False  # of scikit-learn

    def value(self, value: Any, place: str) -> Any:
        """`value`, found at `place`, as JSON."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic):
            return self.value(value.item(), place)
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if sp.issparse(value):
            return self._sparse(value, place)
        if isinstance(value, BaseEstimator):
            return self._estimator(value, place)
        return self._container(value, place)

    def _container(self, value: Any, place: str) -> Any:
        if isinstance(value, UserList):  # of columns, in scikit-learn 1.6
            value = list(value.data)
        if isinstance(value, list | tuple):
            items = [self.value(item, f"{place}.{i}") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"dict": [[self.value(k, place), self.value(v, f"{place}.{i}")] for i, (k, v) in pairs]}
        if isinstance(value, slice):
            return {"slice": [self.value(part, place) for part in (value.start, value.stop, value.step)]}
        if (isinstance(value, type) and value in (*DTYPES.values(), float, int, bool)) or isinstance(value, np.dtype):
            return self._dtype(np.dtype(value), isinstance(value, type), place)
        kind: Any = file_records().get(type(value).__name__)
        if kind is type(value):
            values = {field.name: getattr(value, field.name) for field in fields(kind)}
            return {"record": [kind.__name__, self._named(values, place)]}
        if hasattr(value, "tolist"):  # an index or a series of labels
            return self.value(value.tolist(), place)
        raise Unsaveable(f"{place} holds {shortened(value)}, a {type(value).__name__}")

    def _dtype(self, dtype: Any, is_type: bool, place: str) -> Any:
        name = f"<U{dtype.itemsize // 4}" if dtype.kind == "U" else dtype.name
        if name not in DTYPES and dtype.kind != "U":
            raise Unsaveable(f"{place} holds the type {dtype}")
        return {"type" if is_type else "dtype": name}

    def _array(self, array: NDArray[Any], place: str) -> Any:
        if array.dtype.kind in NUMBER_KINDS:
            if array.dtype == np.float64 and array.ndim == 1 and len(array) <= INLINE:
                return {"floats": [self.value(number, place) for number in array.tolist()]}
            self.arrays[place] = np.ascontiguousarray(array).reshape(array.shape)
            return {"array": place}
        if array.ndim == 1 and array.dtype.kind in "UO":
            kind = "strings" if array.dtype.kind == "U" else "objects"
            return {kind: [self.value(item, place) for item in array.tolist()]}
        raise Unsaveable(f"{place} holds an array of type {array.dtype}")

    def _sparse(self, matrix: Any, place: str) -> Any:
        rows = matrix.tocsr()
        parts = {name: self._part(getattr(rows, name), f"{place}.{name}") for name in ("data", "indices", "indptr")}
        return {"csr": parts | {"shape": list(map(int, rows.shape)), "matrix": isinstance(matrix, sp.spmatrix)}}

    def _part(self, array: NDArray[Any], place: str) -> str:
        self.arrays[place] = np.ascontiguousarray(array)
        return place

    def _estimator(self, estimator: BaseEstimator, place: str) -> Any:
        name = type(estimator).__name__
        if type(estimator) in STEPS:
            return self._step(estimator, place)
        if file_estimators().get(name) is not type(estimator):
            raise Unsaveable(f"{place} is a {name}, {_advice(estimator)}")
        parameters = {key: None if key in NOT_KEPT else item for key, item in estimator.get_params(deep=False).items()}
        made = [
            key for key in vars(estimator) if isinstance(getattr(type(estimator), key, None), bool | int | float | str)
        ]
        state = {key: item for key, item in vars(estimator).items() if key not in (*parameters, *made)}
        state = {key: item for key, item in state.items() if key == OUTPUT or not key.startswith(OTHERS_STATE)}
        return {"estimator": [name, self._named(parameters, place), self._named(state, place)]}

    def _step(self, step: BaseEstimator, place: str) -> Any:
        """A step of scikit-learn."""
        about = STEPS[type(step)]
        try:
            parameters, state = about.parameters(step), about.state(step)
        except BadStep as error:
            raise Unsaveable(f"at {place}, {error}") from None
        self.holds_steps = True
        return {
            "estimator": [PREFIX + type(step).__name__, *(self._named(part, place) for part in (parameters, state))]
        }

    def _named(self, values: dict[str, Any], place: str) -> dict[str, Any]:
        return {key: self.value(item, f"{place}.{key}") for key, item in values.items()}


class Reader:
    """Turns JSON back into values; anything unexpected is a ValueError that says where."""

    def __init__(self, arrays: dict[str, NDArray[Any]], size: int) -> None:
        self._arrays = arrays
        self._size = size  # of the file in bytes: arrays of labels may not need much more, all together
        self._bytes_of_strings = 0
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "floats": lambda items: np.array([_number(self.value(item)) for item in _list(items)], dtype=np.float64),
            "tuple": lambda items: tuple(self.value(item) for item in _list(items)),
            "dict": lambda pairs: dict(map(self._pair, _list(pairs))),
            "array": self._array,
            "strings": self._strings,
            "objects": self._objects,
            "csr": self._sparse,
            "slice": lambda parts: slice(*(None if part is None else _whole(part) for part in _list(parts, 3))),
            "type": lambda name: _named_dtype(name, DTYPES),
            "dtype": lambda name: np.dtype(_named_dtype(name, DTYPES)),
            "record": self._record,
            "estimator": self._estimator,
        }

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        (kind, content), *more = tree.items() or [("", None)]
        if more or kind not in self._kinds:
            raise ValueError(f"{shortened(list(tree))} is no kind of value")
        return self._kinds[kind](content)

    def left_over(self) -> list[str]:
        """Names of the arrays that no value refers to."""
        return sorted(self._arrays)

    def _float(self, text: Any) -> float:
        if text not in ("inf", "-inf", "nan"):
            raise ValueError(f"{shortened(text)} is no float")
        return float(text)

    def _pair(self, pair: Any) -> tuple[Any, Any]:
        key, item = _list(pair, 2)
        return self.value(key), self.value(item)

    def _array(self, name: Any) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self._arrays:
            raise ValueError(f"there is no array {shortened(name)}, or it is used twice")
        return self._arrays.pop(name)

    def _strings(self, items: Any) -> NDArray[Any]:
        strings = _list(items)
        if not all(isinstance(item, str) for item in strings):
            raise ValueError("a list of strings holds something else")
        self._bytes_of_strings += 4 * len(strings) * max(map(len, strings), default=0)
        if self._bytes_of_strings > 1000 + 64 * self._size:
            raise ValueError("lists of strings need far more memory than the file has bytes")
        return np.array(strings, dtype=np.str_)

    def _objects(self, items: Any) -> NDArray[Any]:
        array = np.empty(len(_list(items)), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.value(item)
        return array

    def _sparse(self, parts: Any) -> Any:
        names = ("data", "indices", "indptr", "shape", "matrix")
        if not isinstance(parts, dict) or set(parts) != set(names):
            raise ValueError(f"a sparse matrix has {', '.join(names)}, not {shortened(parts)}")
        data, indices, indptr = (self._array(parts[name]) for name in names[:3])
        n_rows, n_columns = (_whole(number) for number in _list(parts["shape"], 2))
        if len(indptr) != n_rows + 1 or n_columns < 0 or data.dtype.kind not in NUMBER_KINDS:
            raise ValueError("a sparse matrix does not have the shape that its arrays give")
        if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):  # SciPy does not look where the last one is 0
            raise ValueError("the rows of a sparse matrix do not follow each other")
        kind = sp.csr_matrix if parts["matrix"] is True else sp.csr_array
        matrix = kind((data, indices, indptr), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
        return matrix

    def _record(self, content: Any) -> Any:
        kind, values = self._named(content, file_records(), 2)
        checked_record(kind, values)
        return kind(**values)

    def _estimator(self, content: Any) -> BaseEstimator:
        kind, parameters, state = self._named(content, file_estimators(), 3)
        known = kind._get_param_names()
        missing = set(known) if kind in STEPS else ADDED_PARAMETERS
        different = sorted((set(parameters) ^ set(known)) - (missing - set(parameters)))
        if different:
            raise ValueError(f"{kind.__name__} of this version has other parameters: {', '.join(different)}")
        forbidden = [name for name in state if not name.isidentifier() or name in known or hasattr(kind, name)]
        if forbidden:
            raise ValueError(f"{shortened(forbidden[0])} can't be an attribute of a fitted {kind.__name__}")
        check_output(kind, state)
        if kind in STEPS:
            STEPS[kind].check_parameters(kind, parameters)
            STEPS[kind].check_state(kind, state)
            parameters = {key: OF_TRAINING.get(key, item) for key, item in parameters.items()}
        estimator = kind(**parameters)
        vars(estimator).update({EARLIER_NAMES.get(name, name): item for name, item in state.items()})
        return estimator

    def _named(self, content: Any, classes: dict[str, Any], length: int) -> list[Any]:
        """The class that is named first, and the values that follow by name."""
        name, *named = _list(content, length)
        if not isinstance(name, str) or name not in classes:
            advice = "import the module that registers it, if there is one"
            raise ValueError(f"{shortened(name)} is no class that a model file may name: {advice}")
        if not all(isinstance(values, dict) for values in named):
            raise ValueError(f"{name} lacks its values")
        return [classes[name], *({key: self.value(item) for key, item in values.items()} for values in named)]


def _advice(estimator: BaseEstimator) -> str:
    """What to do with an estimator that a file can't hold."""
    if hasattr(estimator, "best_estimator_"):
        return "a search: save its best_estimator_"
    if type(estimator).__module__.startswith("sklearn."):
        return "no step that a model file holds"
    return "not an estimator of ordsvm: register its class, if it is your own (ordsvm.files.register)"


def _named_dtype(name: Any, known: dict[str, Any]) -> Any:
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, str) and re.fullmatch(r"<U\d{1,4}", name):
        return np.dtype(name)
    raise ValueError(f"{shortened(name)} is no type of numbers or texts")


def checked_record(kind: Any, values: dict[str, Any]) -> None:
    """Raises unless a record has its fields, with numbers and strings where they belong.

    A field that has a default may be missing: files of an earlier version do not have it.
    """
    hints = get_type_hints(kind)
    required = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    if not required <= set(values) <= {field.name for field in fields(kind)}:
        raise ValueError(f"{kind.__name__} of this version has other fields than {', '.join(sorted(values)) or 'none'}")
    for name, value in values.items():
        hint = hints[name]
        plain = PLAIN.get(hint)
        if plain is not None and (isinstance(value, bool) or not isinstance(value, plain)):
            raise ValueError(f"{name} of {kind.__name__} is {shortened(value)}, not a {plain[-1].__name__}")
        if hint == tuple[str, ...] and not all(isinstance(item, str) for item in value):
            raise ValueError(f"{name} of {kind.__name__} holds something else than strings")
        if "NDArray" in str(hint) or "ndarray" in str(hint):
            parts = value if isinstance(value, tuple | list) else [value]
            if not all(isinstance(part, np.ndarray) and part.dtype.kind in NUMBER_KINDS for part in parts):
                raise ValueError(f"{name} of {kind.__name__} is not made of arrays of numbers")


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError(f"{shortened(value)} stands where a list{f' of {length}' if length else ''} belongs")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{shortened(value)} is no number")
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{shortened(value)} is no whole number")
    return value
