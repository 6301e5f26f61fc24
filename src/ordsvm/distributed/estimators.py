"""The linear machines on rows that are divided among the workers of a Dask cluster."""

from __future__ import annotations

from ordsvm import estimators
from ordsvm.distributed.machine import DistributedMachine


class LinearSVOR(DistributedMachine, estimators.LinearSVOR):
    """Linear support vector ordinal regression on distributed rows: one score, cut by thresholds.

    The problem is that of `ordsvm.LinearSVOR`. Rows stay on the workers of a Dask cluster.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of loss, before weights.
    cost : {"absolute", "zero-one", "squared"} or array-like of shape (n_ranks, n_ranks), default="absolute"
        The matrix cost[true, predicted], with V-shaped rows, in the order of the ranks or with labels. Rows that are
        not convex (zero-one) may disorder the thresholds.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss beyond the margin, or the square of it.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    tol : float or None, default=None
        Training stops when the relative duality gap is at most this; None is 0.01.
    max_iter : int, default=1000
        The largest number of passes of every worker over its own rows; -1 for no limit.
    time_limit : float or None, default=None
        Seconds, checked after every round; training stops with a usable model and a `ConvergenceWarning`.
    solver : {"auto", "cocoa", "linear-interior-point"} or solver object, default="auto"
        A name, or an options object: `CoCoA` for many features, above all sparse ones, `LinearInteriorPoint` for many
        samples of few features, whatever C and the number of workers.
    warm_start : bool, default=False
        Not possible: True is an error.
    callback : callable or None, default=None
        Called with a `Progress` after every round, whose gap is proved; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr after every round.
    n_threads : int or None, default=None
        Shards of a worker, at most; None is one for every thread it has.
    deterministic : bool, default=False
        Not possible: True is an error, for shards depend on the workers.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.
    device : {"cpu"}, default="cpu"
        Not possible: another one is an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    coef_ : ndarray of shape (n_features,)
        The weights w.
    thresholds_ : ndarray of shape (n_classes - 1,)
        The predicted rank is the number of thresholds below w·x + intercept_; 0 for two ranks.
    intercept_ : ndarray of shape (1,)
        Added to w·x: for two ranks minus their threshold, so that the score is cut at 0; for more, 0.
    rank_rule_ : {"count"}
        That rule by its name.
    result_ : FitResult
        How training went, with the duality gap that proves how good the model is.
    n_iter_ : int
        Passes of every worker over its own rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.LinearSVOR : The same for rows in memory, or on disk.
    CoCoA : Options of the solver for many features.
    ordsvm.LinearInteriorPoint : Options of the solver for few features.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.distributed import LinearSVOR
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> rows, labels = da.from_array(X, chunks=(221, 10)), da.from_array(y, chunks=221)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = LinearSVOR(C=0.01, tol=0.1).fit(rows, labels, client=client)
    >>> model.predict(X).shape
    (442,)
    """


class LinearNPSVOR(DistributedMachine, estimators.LinearNPSVOR):
    """Linear nonparallel support vector ordinal regression on distributed rows: a score for every rank.

    The problem is that of `ordsvm.LinearNPSVOR`. Rows stay on the workers of a Dask cluster.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of loss, where C1 or C2 is None.
    C1 : float or None, default=None
        The cost for the samples of a score's own rank; None is C.
    C2 : float or None, default=None
        The cost for the samples of other ranks; None is C. The paper finds that different ones gain little.
    epsilon : float, default=0.1
        How far from 0 a score may be on its own rank without a loss.
    predictor : {"ordered", "nearest"}, default="ordered"
        How the scores become a rank. "ordered", the paper's r_new, counts the k with f_k(x) + f_{k+1}(x) > 0;
        "nearest", its r_old, takes the k with the least |f_k(x)|. See `ordsvm.problem.predictors`. It may be
        changed after training.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss beyond the margin, or the square of it.
    fit_intercept : bool, default=True
        Whether the scores have intercepts. They are penalised: with features far from 0, centre them.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C1 and C2 for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    tol : float or None, default=None
        Training stops when the relative duality gap is at most this; None is 0.01.
    max_iter : int, default=1000
        The largest number of passes of every worker over its own rows; -1 for no limit.
    time_limit : float or None, default=None
        Seconds, checked after every round; training stops with a usable model and a `ConvergenceWarning`.
    solver : {"auto", "cocoa", "linear-interior-point"} or solver object, default="auto"
        A name, or an options object: `CoCoA` for many features, above all sparse ones, `LinearInteriorPoint` for many
        samples of few features, whatever C and the number of workers.
    warm_start : bool, default=False
        Not possible: True is an error.
    callback : callable or None, default=None
        Called with a `Progress` after every round, whose gap is proved; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr after every round.
    n_threads : int or None, default=None
        Shards of a worker, at most; None is one for every thread it has.
    deterministic : bool, default=False
        Not possible: True is an error, for shards depend on the workers.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.
    device : {"cpu"}, default="cpu"
        Not possible: another one is an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    coef_ : ndarray of shape (n_ranks, n_features)
        The weights w of every rank.
    intercept_ : ndarray of shape (n_ranks,)
        The intercepts.
    result_ : FitResult
        How training went, with the duality gap that proves how good the model is.
    n_iter_ : int
        Passes of every worker over its own rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.LinearNPSVOR : The same for rows in memory, or on disk.
    CoCoA : Options of the solver for many features.
    ordsvm.LinearInteriorPoint : Options of the solver for few features.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.distributed import LinearNPSVOR
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> rows, labels = da.from_array(X, chunks=(221, 10)), da.from_array(y, chunks=221)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = LinearNPSVOR(C=0.01, tol=0.1).fit(rows, labels, client=client)
    >>> model.predict(X).shape
    (442,)
    """


class LinearSVC(DistributedMachine, estimators.LinearSVC):
    """Linear support vector classification on distributed rows: a score for every class.

    The problem is that of `ordsvm.LinearSVC`. Rows stay on the workers of a Dask cluster.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of loss, before weights.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss beyond the margin, or the square of it.
    fit_intercept : bool, default=True
        Whether the scores have intercepts. They are penalised: with features far from 0, centre them.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class.
    tol : float or None, default=None
        Training stops when the relative duality gap is at most this; None is 0.01.
    max_iter : int, default=1000
        The largest number of passes of every worker over its own rows; -1 for no limit.
    time_limit : float or None, default=None
        Seconds, checked after every round; training stops with a usable model and a `ConvergenceWarning`.
    solver : {"auto", "cocoa", "linear-interior-point"} or solver object, default="auto"
        A name, or an options object: `CoCoA` for many features, above all sparse ones, `LinearInteriorPoint` for many
        samples of few features, whatever C and the number of workers.
    warm_start : bool, default=False
        Not possible: True is an error.
    callback : callable or None, default=None
        Called with a `Progress` after every round, whose gap is proved; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr after every round.
    n_threads : int or None, default=None
        Shards of a worker, at most; None is one for every thread it has.
    deterministic : bool, default=False
        Not possible: True is an error, for shards depend on the workers.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.
    device : {"cpu"}, default="cpu"
        Not possible: another one is an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights w; one row for two classes.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The intercepts.
    result_ : FitResult
        How training went, with the duality gap that proves how good the model is.
    n_iter_ : int
        Passes of every worker over its own rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.LinearSVC : The same for rows in memory, or on disk.
    CoCoA : Options of the solver for many features.
    ordsvm.LinearInteriorPoint : Options of the solver for few features.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.distributed import LinearSVC
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> rows, labels = da.from_array(X, chunks=(221, 10)), da.from_array(y, chunks=221)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = LinearSVC(C=0.01, tol=0.1).fit(rows, labels, client=client)
    >>> model.predict(X).shape
    (442,)
    """


class LinearSVR(DistributedMachine, estimators.LinearSVR):
    """Linear ε-insensitive regression on distributed rows.

    The problem is that of `ordsvm.LinearSVR`. Rows stay on the workers of a Dask cluster.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of error beyond epsilon, before weights.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether errors beyond epsilon are squared.
    fit_intercept : bool, default=True
        Whether the scores have intercepts. They are penalised: with features far from 0, centre them.
    tol : float or None, default=None
        Training stops when the relative duality gap is at most this; None is 0.01.
    max_iter : int, default=1000
        The largest number of passes of every worker over its own rows; -1 for no limit.
    time_limit : float or None, default=None
        Seconds, checked after every round; training stops with a usable model and a `ConvergenceWarning`.
    solver : {"auto", "cocoa", "linear-interior-point"} or solver object, default="auto"
        A name, or an options object: `CoCoA` for many features, above all sparse ones, `LinearInteriorPoint` for many
        samples of few features, whatever C and the number of workers.
    warm_start : bool, default=False
        Not possible: True is an error.
    callback : callable or None, default=None
        Called with a `Progress` after every round, whose gap is proved; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr after every round.
    n_threads : int or None, default=None
        Shards of a worker, at most; None is one for every thread it has.
    deterministic : bool, default=False
        Not possible: True is an error, for shards depend on the workers.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.
    device : {"cpu"}, default="cpu"
        Not possible: another one is an error.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The intercept.
    result_ : FitResult
        How training went, with the duality gap that proves how good the model is.
    n_iter_ : int
        Passes of every worker over its own rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    ordsvm.LinearSVR : The same for rows in memory, or on disk.
    CoCoA : Options of the solver for many features.
    ordsvm.LinearInteriorPoint : Options of the solver for few features.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.distributed import LinearSVR
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> rows, labels = da.from_array(X, chunks=(221, 10)), da.from_array(y, chunks=221)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = LinearSVR(C=0.01, tol=0.1).fit(rows, labels, client=client)
    >>> model.predict(X).shape
    (442,)
    """
