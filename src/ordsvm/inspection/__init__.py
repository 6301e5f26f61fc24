"""Why a model predicts what it predicts: weights, contributions, similar cases, and what columns do."""

from ordsvm.inspection.cases import Case, SimilarCases, similar_cases
from ordsvm.inspection.columns import Dependence, Importance, ScoreRegressor, dependence, importance
from ordsvm.inspection.contributions import Contributions, contributions
from ordsvm.inspection.displays import ContributionsDisplay, WeightsDisplay
from ordsvm.inspection.explanation import Explanation, explain
from ordsvm.inspection.weights import Weights, weights

__all__ = [
    "Case",
    "Contributions",
    "ContributionsDisplay",
    "Dependence",
    "Explanation",
    "Importance",
    "ScoreRegressor",
    "SimilarCases",
    "Weights",
    "WeightsDisplay",
    "contributions",
    "dependence",
    "explain",
    "importance",
    "similar_cases",
    "weights",
]
