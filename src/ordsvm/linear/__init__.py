"""Linear machines: weights of features instead of scores of samples."""

from ordsvm.linear.dcd import DCD1, DCD2
from ordsvm.linear.rank_dcd import RankDCD
from ordsvm.linear.store import RowStore

__all__ = ["DCD1", "DCD2", "RankDCD", "RowStore"]
