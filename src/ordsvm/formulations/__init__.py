"""The formulations: labels in, a table of hinges and a treatment of the thresholds out.

Ranks are 0-based integers; threshold k lies between ranks k and k + 1. `C` is one number or one per sample
(C × sample weight × class weight).
"""

from ordsvm.formulations.linear import label_table
from ordsvm.formulations.npsvor import npsvor
from ordsvm.formulations.svc import svc, svc_pairs
from ordsvm.formulations.svr import svr
from ordsvm.formulations.threshold import (
    ThresholdFormulation,
    cost_matrix,
    cost_weights,
    redsvm,
    shashua_levin,
    svor,
    svorex,
    svorim,
)

__all__ = [
    "ThresholdFormulation",
    "cost_matrix",
    "cost_weights",
    "label_table",
    "npsvor",
    "redsvm",
    "shashua_levin",
    "svc",
    "svc_pairs",
    "svor",
    "svorex",
    "svorim",
    "svr",
]
