"""An independent judge of trained models: it imports nothing of the library that it judges.

Kernels, hinges, objectives and rules of prediction are written from the papers; the optimum of small problems is
Clarabel's.
"""

from benchmarks.campaign.judge.verdict import judge

__all__ = ["judge"]
