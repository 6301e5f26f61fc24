"""The documented names of the solvers of linear machines and of their rows on disk."""

from ordsvm.rows.disk.row_store import RowStore
from ordsvm.solvers import DCD1, DCD2, LinearInteriorPoint, RankDCD

__all__ = ["DCD1", "DCD2", "LinearInteriorPoint", "RankDCD", "RowStore"]
