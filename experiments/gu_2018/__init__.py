"""Gu et al., "Accelerated asynchronous greedy coordinate descent algorithm for SVMs", IJCAI 2018."""

from experiments.gu_2018.figures import ITEMS

__all__ = ["ITEMS"]
