"""Manno, Palagi & Sagratella, "Parallel decomposition methods for linearly constrained problems", 2018."""

from experiments.manno_2018.figures import ITEMS

__all__ = ["ITEMS"]
