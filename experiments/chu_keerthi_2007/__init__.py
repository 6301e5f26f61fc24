"""Chu & Keerthi, "Support vector ordinal regression", Neural Computation 19 (2007)."""

from experiments.chu_keerthi_2007 import tables

ITEMS = tables.items()
