"""The threshold models by their formulations."""

from __future__ import annotations

from ordsvm import formulations
from ordsvm.estimators.threshold_model import ThresholdModel, init_with_cost


class SVOR(ThresholdModel):
    """The concise SVOR (Gu et al. 2020): every sample faces every threshold; thresholds are penalised.

    The recommended default. Its dual has only box constraints, its thresholds are unique and, with absolute or
    squared cost, in order.
    """

    formulation = formulations.svor
    __init__ = init_with_cost


class RedSVM(ThresholdModel):
    """RedSVM (Lin & Li 2012): the ranks reduced to questions "above k?", each weighted by what a mistake costs.

    With absolute cost it is `SVOR`.
    """

    formulation = formulations.redsvm
    __init__ = init_with_cost


class SVORIM(ThresholdModel):
    """Ordinal regression with implicit constraints (Chu & Keerthi 2007, §4): free thresholds, in order by Lemma 1.

    With two ranks it is C-SVC.
    """

    formulation = formulations.svorim
    __init__ = init_with_cost


class SVOREX(ThresholdModel):
    """Ordinal regression with explicit constraints (Chu & Keerthi 2007, §2): adjacent thresholds, kept in order."""

    formulation = formulations.svorex


class ShashuaLevinSVOR(ThresholdModel):
    """Shashua & Levin's machine: as SVOREX without the constraint, so its thresholds may come out disordered."""

    formulation = formulations.shashua_levin
