"""The threshold models by their formulations."""

from __future__ import annotations

from ordsvm import formulations
from ordsvm.estimators._docs import KERNEL, documented
from ordsvm.estimators.threshold_model import ThresholdModel, init_with_cost


@documented(KERNEL)
class SVOR(ThresholdModel):
    """Concise support vector ordinal regression: hinges at every threshold; thresholds are penalised.

    The recommended default. Its dual has only box constraints, its thresholds are unique and, with absolute or squared
    cost, in order::

        min ½‖w‖² + ½‖b‖² + C Σ_i Σ_k |cost(y_i, k+1) − cost(y_i, k)| · max(0, 1 − s_ik (f(x_i) − b_k))

    with s_ik = +1 if y_i > k else −1. The predicted rank is the number of thresholds below the score,
    h(x) = 1 + Σ_k I[f(x) > b_k] with ranks from 1.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {cost}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {linear_solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {early_stopping}
    {validation_fraction}
    {n_iter_no_change}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    {counted_thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {kernel_}
    {support_}
    {support_vectors_}
    {dual_coef_}
    {coef_}
    {validation_indices_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    LinearSVOR : The same with weights of features instead of a kernel, for many or sparse samples.
    SVORIM : The same hinges with free thresholds.
    certify : Recomputes the proof of a trained model.

    References
    ----------
    .. [1] B. Gu et al., "Solving large-scale support vector ordinal regression with asynchronous parallel coordinate
       descent algorithms", Pattern Recognition, 2020.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVOR(C=1.0, gamma=0.05).fit(X, y)
    >>> model.result_.converged
    True
    >>> len(model.thresholds_) == len(model.classes_) - 1
    True
    """

    formulation = formulations.svor
    __init__ = init_with_cost


@documented(KERNEL)
class RedSVM(ThresholdModel):
    """RedSVM: the ranks reduced to questions "above k?", each weighted by what a mistake costs.

    With absolute cost it is `SVOR`. The predicted rank is the number of questions with the answer yes, that of the
    thresholds below the score.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {cost}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {linear_solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {early_stopping}
    {validation_fraction}
    {n_iter_no_change}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    {counted_thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {kernel_}
    {support_}
    {support_vectors_}
    {dual_coef_}
    {coef_}
    {validation_indices_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVOR : The same problem by its other name.
    LinearSVOR : The same with weights of features instead of a kernel.

    References
    ----------
    .. [1] H.-T. Lin, L. Li, "Reduction from cost-sensitive ordinal ranking to weighted binary classification", Neural
       Computation 24, 2012.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import RedSVM
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = RedSVM(C=1.0, gamma=0.05).fit(X, y)
    >>> model.result_.converged
    True
    >>> len(model.thresholds_) == len(model.classes_) - 1
    True
    """

    formulation = formulations.redsvm
    __init__ = init_with_cost


@documented(KERNEL)
class SVORIM(ThresholdModel):
    """Ordinal regression with implicit constraints: hinges at every threshold; thresholds are free.

    Thresholds come out in order by themselves (Lemma 1 of the paper), where cost weights don't decrease with the
    distance from the rank. With two ranks it is C-SVC::

        min ½‖w‖² + C Σ_i Σ_k |cost(y_i, k+1) − cost(y_i, k)| · max(0, 1 − s_ik (f(x_i) − b_k))

    with s_ik = +1 if y_i > k else −1. The predicted rank is the first k with f(x) < b_k.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {cost}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {early_stopping}
    {validation_fraction}
    {n_iter_no_change}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    {thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {kernel_}
    {support_}
    {support_vectors_}
    {dual_coef_}
    {coef_}
    {validation_indices_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVOREX : Thresholds next to the rank only, and their order as a constraint.
    SVOR : The same hinges with penalised thresholds.

    References
    ----------
    .. [1] W. Chu, S. S. Keerthi, "Support vector ordinal regression", Neural Computation 19, 2007, §4.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVORIM
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVORIM(C=1.0, gamma=0.05).fit(X, y)
    >>> model.result_.converged
    True
    >>> len(model.thresholds_) == len(model.classes_) - 1
    True
    """

    formulation = formulations.svorim
    __init__ = init_with_cost


@documented(KERNEL)
class SVOREX(ThresholdModel):
    """Ordinal regression with explicit constraints: thresholds next to the rank only, kept in order.

    The order of the thresholds is a constraint of the problem::

        min ½‖w‖² + C Σ_i [max(0, 1 + f(x_i) − b_{y_i}) + max(0, 1 − f(x_i) + b_{y_i − 1})],   b ascending

    The predicted rank is the first k with f(x) < b_k.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {early_stopping}
    {validation_fraction}
    {n_iter_no_change}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    {thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {kernel_}
    {support_}
    {support_vectors_}
    {dual_coef_}
    {coef_}
    {validation_indices_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVORIM : Every threshold for every sample; in order without a constraint.
    ShashuaLevinSVOR : The same without the constraint.

    References
    ----------
    .. [1] W. Chu, S. S. Keerthi, "Support vector ordinal regression", Neural Computation 19, 2007, §2.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOREX
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVOREX(C=1.0, gamma=0.05).fit(X, y)
    >>> model.result_.converged
    True
    >>> len(model.thresholds_) == len(model.classes_) - 1
    True
    """

    formulation = formulations.svorex


@documented(KERNEL)
class ShashuaLevinSVOR(ThresholdModel):
    """Ordinal regression of Shashua & Levin: as SVOREX without the order of the thresholds.

    Its thresholds may come out disordered; it is here for comparison. The predicted rank is the first k with
    f(x) < b_k.

    Parameters
    ----------
    {C}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {class_weight}
    {categories}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {early_stopping}
    {validation_fraction}
    {n_iter_no_change}
    {random_state}
    {device}

    Attributes
    ----------
    {classes_}
    {thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {kernel_}
    {support_}
    {support_vectors_}
    {dual_coef_}
    {coef_}
    {validation_indices_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVOREX : The same with the order as a constraint.

    References
    ----------
    .. [1] A. Shashua, A. Levin, "Ranking with large margin principle: two approaches", NIPS, 2003.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import ShashuaLevinSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = ShashuaLevinSVOR(C=1.0, gamma=0.05).fit(X, y)
    >>> model.result_.converged
    True
    >>> len(model.thresholds_) == len(model.classes_) - 1
    True
    """

    formulation = formulations.shashua_levin
