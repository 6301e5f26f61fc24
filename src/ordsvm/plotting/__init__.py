"""Pictures, as scikit-learn's Displays: `from_estimator` computes and draws, `plot` draws again on other axes."""

from ordsvm.plotting.confusion import OrdinalConfusionDisplay
from ordsvm.plotting.regions import DecisionRegionsDisplay
from ordsvm.plotting.scores import ScoresDisplay
from ordsvm.plotting.search import SearchDisplay
from ordsvm.plotting.training import ConvergenceDisplay, ThresholdPathDisplay

__all__ = [
    "ConvergenceDisplay",
    "DecisionRegionsDisplay",
    "OrdinalConfusionDisplay",
    "ScoresDisplay",
    "SearchDisplay",
    "ThresholdPathDisplay",
]
