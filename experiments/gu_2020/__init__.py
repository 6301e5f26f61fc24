"""Gu et al., "Solving large-scale SVOR with asynchronous parallel coordinate descent algorithms", 2020."""

from experiments.items import Item

ITEMS: dict[str, Item] = {}
