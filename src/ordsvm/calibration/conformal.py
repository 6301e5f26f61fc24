"""Prediction sets: runs of neighbouring ranks that hold the true one as often as promised.

A set starts at the middle rank of the predicted distribution and takes in the more probable neighbour, again and
again. `depth[i, k]` is the probability gathered before rank k is let in: 0 for the middle rank, so no set is empty.
Split conformal prediction (Vovk et al. 2005) chooses how deep to go: as deep as the true ranks lay
of that share of the samples that were not used for training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordsvm._typing import Floats, Ints


def middle_ranks(cumulative: Floats) -> Ints:
    """The median of every distribution: the rank with the least expected distance."""
    return np.argmax(cumulative >= 0.5, axis=1)


def depths(cumulative: Floats) -> Floats:
    """For every sample and rank, the probability of the ranks that come into the set before it."""
    n, n_ranks = cumulative.shape
    rows = np.arange(n)
    outside = np.full((n, 1), -1.0)
    padded = np.column_stack([outside, np.diff(cumulative, axis=1, prepend=0.0), outside])  # rank k is column k + 1
    low = high = middle_ranks(cumulative) + 1
    gathered = padded[rows, low]
    depth = np.zeros((n, n_ranks))
    for _ in range(n_ranks - 1):
        up = padded[rows, high + 1] > padded[rows, low - 1]
        low, high = np.where(up, low, low - 1), np.where(up, high + 1, high)
        entered = np.where(up, high, low)
        depth[rows, entered - 1] = gathered
        gathered = gathered + padded[rows, entered]
    return depth


@dataclass(frozen=True)
class Conformal:
    """The depths of true ranks, in ascending order, and how much weight there is up to each."""

    depth: Floats
    weight: Floats

    @classmethod
    def fit(cls, cumulative: Floats, codes: Ints, weight: Floats) -> Conformal:
        depth = depths(cumulative)[np.arange(len(codes)), codes]
        order = np.argsort(depth, kind="stable")
        return cls(depth[order], np.cumsum(weight[order]))

    def depth_for(self, coverage: float) -> float:
        """How deep to go. The new sample counts as one more; if there are too few others, all ranks are taken in."""
        needed = coverage * (self.weight[-1] + 1.0)
        place = np.searchsorted(self.weight, needed * (1 - 1e-12))
        return float(self.depth[place]) if place < len(self.depth) else np.inf

    def intervals(self, cumulative: Floats, coverage: float) -> tuple[Ints, Ints]:
        """The lowest and the highest rank of every set."""
        inside = depths(cumulative) <= self.depth_for(coverage)
        return inside.argmax(axis=1), inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
