"""What all displays share: axes to draw on, and colours that are in order as the ranks are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ordsvm._typing import Floats


class Display:
    """A picture of something already computed; `plot` draws it."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any) -> Any:
        """The axes given, or those of a new figure; kept as scikit-learn keeps them."""
        if ax is None:
            _, ax = _pyplot().subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def machine_of(estimator: Any) -> Any:
    """What was trained: the best estimator of a search, the last step of a pipeline."""
    if hasattr(estimator, "best_estimator_"):
        return machine_of(estimator.best_estimator_)
    return machine_of(estimator[-1]) if isinstance(estimator, Pipeline) else estimator


def rank_colours(n_ranks: int) -> Floats:
    """One colour a rank, from dark to light."""
    return _pyplot().get_cmap("viridis")(np.linspace(0.05, 0.95, n_ranks))


def colour_map(name: str) -> Any:
    return _pyplot().get_cmap(name)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        message = "ordsvm.plotting draws with matplotlib, which is not installed: pip install matplotlib."
        raise ImportError(message) from None
    return pyplot
