"""Shi et al., "A novel large-scale ordinal regression model", 2021."""

from experiments.items import Item

ITEMS: dict[str, Item] = {}
