"""How far predicted ranks, or probabilities of ranks, are from true ones, as functions and as scorers for scikit-learn.

Every function takes `categories`, the labels listed lowest first. With them a label counts as its rank
0, 1, ..., r − 1, the convention of the papers: neighbouring labels are one apart whatever they are called.
Without them an ordered dtype of y_true (pandas Categorical, polars Enum) supplies them; failing that the
labels have to be numbers, and they count with their own values: 2 and 5 are three apart.

The scorers take `categories` from the fitted estimator, so that a fold lacking a rank is no exception.
"""

from ordsvm.metrics.agreement import kendall_tau_b, quadratic_weighted_kappa, spearman_rho
from ordsvm.metrics.errors import (
    macro_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
    mean_cost,
    mean_squared_error,
    mean_zero_one_error,
    off_by_one_accuracy,
)
from ordsvm.metrics.probabilities import ranked_probability_score
from ordsvm.metrics.scorers import (
    PROBABILITY_SCORERS,
    SCORERS,
    OrdinalScorer,
    ProbabilityScorer,
    cost_scorer,
    get_scorer,
    get_scorer_names,
    kappa_scorer,
    macro_mae_scorer,
    mae_scorer,
    max_mae_scorer,
    mse_scorer,
    mze_scorer,
    off_by_one_scorer,
    rps_scorer,
    spearman_scorer,
    tau_scorer,
)

__all__ = [
    "PROBABILITY_SCORERS",
    "SCORERS",
    "OrdinalScorer",
    "ProbabilityScorer",
    "cost_scorer",
    "get_scorer",
    "get_scorer_names",
    "kappa_scorer",
    "kendall_tau_b",
    "macro_mae_scorer",
    "macro_mean_absolute_error",
    "mae_scorer",
    "max_mae_scorer",
    "maximum_mean_absolute_error",
    "mean_absolute_error",
    "mean_cost",
    "mean_squared_error",
    "mean_zero_one_error",
    "mse_scorer",
    "mze_scorer",
    "off_by_one_accuracy",
    "off_by_one_scorer",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "rps_scorer",
    "spearman_rho",
    "spearman_scorer",
    "tau_scorer",
]
