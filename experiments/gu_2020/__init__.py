"""Gu et al., "Solving large-scale SVOR with asynchronous parallel coordinate descent algorithms", 2020."""

from experiments.gu_2020 import figures, large, path, steps, threads

ITEMS = steps.ITEMS | path.ITEMS | figures.BOXES | figures.CURVES | threads.ITEMS | large.ITEMS
