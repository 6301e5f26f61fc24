"""Pictures of items beside their results.json, where Matplotlib is there to draw them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def save(path: Path, plot: Callable[[np.ndarray], None], shape: tuple[int, int], size: tuple[float, float]) -> None:
    """Fills the file: `plot` draws into a table of axes of this shape, each of this size in inches."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    whole: dict[str, Any] = {"figsize": (shape[1] * size[0], shape[0] * size[1]), "layout": "constrained"}
    figure, axes = plt.subplots(*shape, squeeze=False, **whole)
    plot(axes)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def box_plot(axis: Any, groups: list[list[float]], labels: list[str], title: str) -> None:
    """Boxes from quartile to quartile, whiskers of 1.5 interquartile ranges, dots beyond."""
    axis.boxplot(groups, tick_labels=labels, notch=False, sym=".")
    axis.set_title(title, fontsize=9)
    axis.tick_params(axis="x", labelsize=7, rotation=30)
    axis.grid(axis="y", alpha=0.3)
