"""Chu & Keerthi, "Support vector ordinal regression", Neural Computation 19 (2007)."""

from experiments.chu_keerthi_2007 import figure4, figure5, figure6, search_size, tables

FIGURES = {"figure4": figure4.ITEM, "figure5": figure5.ITEM, "figure6": figure6.ITEM}
ITEMS = tables.items() | FIGURES | {"search_size": search_size.ITEM}
