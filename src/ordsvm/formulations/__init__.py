"""The formulations: labels in, a table of hinges and a treatment of the thresholds out.

Ranks are 0-based integers; threshold k lies between ranks k and k + 1. `C` is one number or one per sample
(C × sample weight × class weight).
"""

from ordsvm.formulations.npsvor import npsvor
from ordsvm.formulations.redsvm import redsvm
from ordsvm.formulations.shashua_levin import shashua_levin
from ordsvm.formulations.svc import svc
from ordsvm.formulations.svor import svor
from ordsvm.formulations.svorex import svorex
from ordsvm.formulations.svorim import svorim
from ordsvm.formulations.svr import svr

__all__ = ["npsvor", "redsvm", "shashua_levin", "svc", "svor", "svorex", "svorim", "svr"]
