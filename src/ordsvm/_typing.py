"""The types that signatures name: NumPy arrays by the type of their elements, and what users give."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix
    from sklearn.model_selection import BaseCrossValidator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]  # class or rank of a sample as the core takes it
Flags = NDArray[np.bool_]

# Rows of features: arrays, lists, data frames (whatever has __array__), tensors, or SciPy's sparse matrices and arrays
Samples: TypeAlias = "ArrayLike | sparray | spmatrix"
SampleWeight: TypeAlias = ArrayLike | None
Categories: TypeAlias = ArrayLike | None
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
Cost: TypeAlias = Literal["absolute", "zero-one", "squared"] | ArrayLike
Gamma: TypeAlias = Literal["scale", "auto"] | float
RandomState: TypeAlias = int | np.random.RandomState | None
CheckpointPath: TypeAlias = str | os.PathLike[str] | None
CrossValidation: TypeAlias = "int | BaseCrossValidator | Iterable[tuple[Ints, Ints]] | None"
