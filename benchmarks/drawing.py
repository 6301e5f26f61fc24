"""Pictures of results, where Matplotlib is there to draw them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.results import FOLDER


def save(
    file: str, plot: Callable[[np.ndarray], None], shape: tuple[int, int], size: tuple[float, float], dpi: int = 120
) -> None:
    """Writes results/FILE: `plot` fills a table of axes of this shape, each of this size in inches.

    Without Matplotlib it prints a sentence instead.
    """
    try:
        import matplotlib
    except ImportError:
        print("No picture: install matplotlib for one.")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    whole: dict[str, Any] = {"figsize": (shape[1] * size[0], shape[0] * size[1]), "layout": "constrained"}
    figure, axes = plt.subplots(*shape, squeeze=False, **whole)
    plot(axes)
    figure.savefig(FOLDER / file, dpi=dpi)
    plt.close(figure)
