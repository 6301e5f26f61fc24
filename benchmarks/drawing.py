"""Pictures, where Matplotlib is there to draw them."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any | None:
    """Matplotlib's pyplot, drawing into files only; a sentence and None without it."""
    try:
        import matplotlib
    except ImportError:
        print("No picture: install matplotlib for one.")
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt
