"""What a search tries: grids of parameters, and the two stages of Chu & Keerthi (2007, §5.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordsvm.kernels import NAMES, NAMES_WITHOUT_GAMMA, Kernel

Grid = dict[str, list[float]]

COARSE = np.arange(-3, 4, dtype=float)  # log10 of C and of κ = 2·gamma
FINE = 0.2 * np.arange(-4, 5)  # around the best of them


def coarse_grid(machine: Any, prefix: str) -> Grid:
    """7 × 7 points for C and gamma; 7 for C alone where the kernel, or its absence, leaves nothing else to choose."""
    if not hasattr(machine, "C"):
        inner = [name for name in machine.get_params() if name.split("__")[-1] in ("C", "gamma")]
        names = ", ".join(f"'{prefix}{name}': [...]" for name in inner) or "name: values"
        raise ValueError(
            f"param_grid='two-stage' is a search for C and gamma, and {type(machine).__name__} has no C: "
            f"give param_grid={{{names}}}."
        )
    grid: Grid = {f"{prefix}C": _powers(COARSE, 1.0)}
    if _has_width(machine):
        grid[f"{prefix}gamma"] = _powers(COARSE, 0.5)
    return grid


def fine_grid(best: dict[str, Any]) -> Grid:
    """9 points for each parameter, spaced by 0.2 in log10, with the best so far in the middle."""
    return {name: _powers(np.log10(value) + FINE, 1.0) for name, value in best.items()}


def _powers(exponents: Any, factor: float) -> list[float]:
    return [float(factor * 10.0**exponent) for exponent in exponents]


def _has_width(machine: Any) -> bool:
    kernel = getattr(machine, "kernel", None)
    return (
        kernel is not None and not isinstance(kernel, Kernel) and kernel in NAMES and kernel not in NAMES_WITHOUT_GAMMA
    )


def short_number(value: float) -> str:
    """A value of a grid for its picture: three digits, and 1000 rather than 1e+03."""
    return f"{float(f'{value:.3g}'):g}"
