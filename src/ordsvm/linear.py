"""Linear machines: weights of features instead of scores of samples."""

from ordsvm.data.row_store import RowStore
from ordsvm.solvers.linear.dcd import DCD1, DCD2
from ordsvm.solvers.linear.rank_dcd import RankDCD

__all__ = ["DCD1", "DCD2", "RankDCD", "RowStore"]
