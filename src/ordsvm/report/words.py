"""Numbers and labels as a reader sees them."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

LONGEST = 26  # letters of a label beside an axis


def number_text(value: float, digits: int = 3) -> str:
    """A number with so many digits that count, without powers of ten where it can be read without."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e7):
        return f"{value:.{digits - 1}e}".replace("-", "−")
    places = digits - 1 if size == 0 else max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{value:,.{places}f}".replace("-", "−")


def percent_text(share: float) -> str:
    """A share in percent; one that is too small to matter is so called."""
    if 0 < share < 1e-6:
        return "less than 0.0001 %"
    if share == 0:
        return "0 %"
    if share < 0.0001:
        return f"{100 * share:.4f} %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def signed(value: float) -> str:
    """A difference, with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def shortened_label(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def labels_of(classes: NDArray[Any]) -> list[str]:
    """Labels as text."""
    return [str(label) for label in classes.tolist()]
