"""The array types that signatures name: NumPy arrays by the type of their elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]  # class or rank of a sample as the core takes it
Flags = NDArray[np.bool_]
