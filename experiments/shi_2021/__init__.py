"""Shi et al., "A novel large-scale ordinal regression model", 2021."""

from experiments.shi_2021.tables import ITEMS

__all__ = ["ITEMS"]
