"""Manno, Palagi & Sagratella, "Parallel decomposition methods for linearly constrained problems", 2018."""

from experiments.items import Item

ITEMS: dict[str, Item] = {}
