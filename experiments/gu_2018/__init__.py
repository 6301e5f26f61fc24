"""Gu et al., "Accelerated asynchronous greedy coordinate descent algorithm for SVMs", IJCAI 2018."""

from experiments.items import Item

ITEMS: dict[str, Item] = {}
