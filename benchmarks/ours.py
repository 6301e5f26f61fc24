"""The library under test, reached through its public names only.

Imported when called, so that `python -m benchmarks` can list the benchmarks where ordsvm is not built.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def estimator(constraints: str, **parameters: Any) -> Any:
    """SVORIM for "implicit", SVOREX for "explicit"; one thread unless told otherwise, as the peers have."""
    from ordsvm import SVOREX, SVORIM

    model = {"implicit": SVORIM, "explicit": SVOREX}[constraints](**parameters)
    if "n_threads" in model.get_params() and "n_threads" not in parameters:
        model.set_params(n_threads=1)
    return model


def certify(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Objective, gap and violation recomputed in float64 by `ordsvm.certify`."""
    import ordsvm

    return ordsvm.certify(model, X, y)


def beta(model: Any, n: int) -> np.ndarray:
    """The coefficient of every training sample, zero where it is not a support vector."""
    full = np.zeros(n)
    full[model.support_] = np.ravel(model.dual_coef_)
    return full
