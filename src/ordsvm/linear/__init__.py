"""Linear machines: weights of features instead of scores of samples."""

from ordsvm.linear.rank_dcd import RankDCD

__all__ = ["RankDCD"]
