"""The text about parameters and attributes that several machines share.

A docstring names an entry by a line with its name in braces, and `documented` puts the entry there. So every class
lists its own parameters only, in their order, and a text is written once.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import dedent
from typing import Any, TypeVar

T = TypeVar("T", bound=type[Any])

COMMON = """
    time_limit : float or None, default=None
        Seconds after which training stops, with a usable model and a `ConvergenceWarning`. The proof at the end is part
        of them: a kernel machine estimates what it will take, and stops that much earlier.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class. A dict may name labels that y lacks, as in folds without a rare one,
        unless `categories` or an ordered dtype lists all labels.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    warm_start : bool, default=False
        Whether to start from the dual variables of the previous fit, for the same rows. Where there are not as many of
        them as now, as after a fit to other rows, training starts anew.
    callback : callable or None, default=None
        Called with a `Progress` several times a second; returning True stops training.
    cost : {"absolute", "zero-one", "squared"} or array of shape (n_ranks, n_ranks), default="absolute"
        cost[true, predicted] with V-shaped rows. Rows that are not convex (zero-one) may disorder the thresholds. A
        pandas frame with the labels as index and columns goes by these, an array by the order of the ranks.
    predictor : {"ordered", "nearest"}, default="ordered"
        What makes a rank of the scores. "ordered", the paper's r_new, counts the k with f_k(x) + f_{k+1}(x) > 0;
        "nearest", its r_old, takes the k with the least ``|f_k(x)|``. May be changed after training.
    epsilon : float, default=0.1
        Half the width of the tube in which errors are free.
    n_features_in_ : int
        Number of features of the training samples.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names that are strings.
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    sorted_classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    thresholds_ : ndarray of shape (n_classes - 1,)
        The predicted rank is the first k with f(x) + intercept_ < thresholds_[k], or the last rank; 0 for two ranks.
    counted_thresholds_ : ndarray of shape (n_classes - 1,)
        The predicted rank is the number of thresholds below f(x) + intercept_; 0 for two ranks.
    cut_intercept_ : ndarray of shape (1,)
        Added to f(x): for two ranks minus their threshold, so that the score is cut at 0; for more, 0.
    rank_rule_ : {"count", "first"}
        How thresholds make a rank of a score: "count", the number of those below it; "first", the first one above it.
    result_ : FitResult
        How training ended, with the duality gap that proves how good the model is.
"""

KERNEL = (
    COMMON
    + """
    C : float, default=1.0
        Weight of the losses against ½‖w‖².
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples, on a device as tensors, and returns the matrix of kernel values between
        them.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels but the linear one, as in scikit-learn, above 0. Chu & Keerthi's κ is 2·gamma.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant term of the polynomial and sigmoid kernels.
    intercept : {"free", "penalized", "none"}, default="free"
        "free" is scikit-learn's. "penalized" adds ½·intercept² to the objective, "none" leaves the intercept out: these
        two make the simpler problem that the box solvers (gcd and the asynchronous ones) need.
    tol : float, default=1e-3
        Training stops when both the violation of the optimality conditions and the relative duality gap are at most
        this, which is below 1, for every problem of the machine.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix; never exceeded.
    max_iter : int, default=-1
        The largest number of steps, for every problem of the machine; -1 for no limit.
    solver : str or solver object, default="auto"
        A name such as "smo" or an options object such as `SMO(selection="mvp")`.
    linear_solver : str or solver object, default="auto"
        A name such as "gcd" or an options object such as `Block(q2=128)`. With a linear kernel also "rank-dcd", the
        solver of `LinearSVOR`, for which max_iter counts passes; "auto" is that for many samples, or sparse ones with
        more than 200 hinges, unless others are for validation.
    deterministic : bool, default=False
        Whether to train by one thread, so that the model is the same, bit by bit, whatever n_threads and the number of
        cores. Without it models of other numbers of threads may differ within `tol`. Prediction is the same anyway.
    verbose : bool, default=False
        Whether to write a line about the progress to stderr several times a second.
    n_threads : int or None, default=None
        Threads of prediction and of the solvers that take several; None is every core that this process may use.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it trains and predicts: "cuda" is a GPU (`pip install "ordsvm[gpu]"`), "cuda:1" the second one,
        "cuda:all" all of a machine, "auto" a GPU where there is one and the problem is large enough. On a device
        solver="auto" is "proximal-newton", a tensor to train on is read where it is, and one to predict gives a tensor
        back.
    early_stopping : bool, default=False
        Whether to stop when the mean absolute error of validation samples no longer falls. A run that this, max_iter,
        time_limit or the callback cuts short leaves the model of the look with the least error; a run that converges,
        the optimum.
    validation_fraction : float, default=0.1
        The share of the samples that early stopping holds out, rank by rank, where `fit` is given no `validation`. They
        are not trained on.
    n_iter_no_change : int, default=10
        Looks without a smaller error before early stopping. Looks at validation samples, and calls of the callback with
        them, come every half a step a sample; those with a relative gap above ½ do not count.
    random_state : int, RandomState or None, default=None
        Draws the samples to hold out.
    kernel_ : Kernel
        The kernel, with the gamma that was used.
    n_iter_ : int
        Steps of the solver.
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors.
    support_vectors_ : {ndarray, CSR array} of shape (n_SV, n_features_in_)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_SV,)
        Their weights β in the score.
    coef_ : ndarray of shape (n_features_in_,)
        Weights of the features, for the linear kernel.
    validation_indices_ : ndarray of shape (n_held_out,)
        Rows of X that early stopping has held out.
"""
)

LINEAR = (
    COMMON
    + """
    C : float, default=1.0
        Weight of the losses against ½‖w‖².
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Whether losses are squared.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is penalised: with features far from 0, centre them.
    tol : float or None, default=None
        Training stops when the relative duality gap is at most this, below 1; None is 1e-3. The weights are then within
        `result_.coef_error` = √(2 · result_.gap) of the optimal ones.
    max_iter : int, default=1000
        The largest number of passes over the samples; -1 for no limit.
    solver : {"auto", "rank-dcd", "linear-interior-point"} or solver object, default="auto"
        A name, or an options object: `RankDCD` for many features, above all sparse ones, `LinearInteriorPoint` for many
        samples of few features, whatever C.
    verbose : bool, default=False
        Whether to write a line about every pass to stderr, or several a second where passes are short.
    n_threads : int or None, default=None
        Threads; None is every core that this process may use.
    deterministic : bool, default=False
        Whether to train by one thread, so that the model is the same, bit by bit, whatever n_threads and the number of
        cores. Without it models of other numbers of threads may differ within `tol`. Prediction is the same anyway.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where passes over the rows are made in training: "cuda" is a GPU (`pip install "ordsvm[gpu]"`), "cuda:1" the
        second one, for dense arrays in memory; solver="auto" is "linear-interior-point" then.
        "auto" is the CPU as yet. Prediction is the CPU's.
    n_iter_ : int
        Passes over the samples.
"""
)

NYSTROEM = (
    LINEAR
    + """
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian"} or callable, default="rbf"
        A callable takes two sets of samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels but the linear one, as in scikit-learn.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant term of the polynomial and sigmoid kernels.
    landmarks : {"uniform", "leverage"}, default="uniform"
        How the samples are drawn that the map is made of: each as likely as any other, or by approximate ridge leverage
        scores, which prefer samples unlike the others, for half as much time again as the map takes.
    n_landmarks : int or "auto", default="auto"
        How many, at most as many as there are samples. "auto": as many as `memory` allows, and no more than the larger
        of 300 and 4√n_samples.
    memory : float, default=1000
        Megabytes for the features of the training samples, of X's type, where n_landmarks is "auto".
    solver : {"linear-interior-point", "rank-dcd", "auto"} or solver object, default="linear-interior-point"
        A name, or an options object: `LinearInteriorPoint` or `RankDCD`.
    max_iter : int, default=1000
        The largest number of passes over the features; -1 for no limit.
    time_limit : float or None, default=None
        Seconds of training, after the features are made; it then stops with a usable model and a `ConvergenceWarning`.
    random_state : int, RandomState or None, default=None
        Draws the landmarks; None is the same every time.
    kernel_ : Kernel
        The kernel, with the gamma that was used.
    landmarks_ : {ndarray, CSR array} of shape (n_landmarks, n_features_in_)
        The landmarks.
    projection_ : ndarray of shape (n_landmarks, n_components)
        Features of x are k(x, landmarks_) @ projection_.
    approximation_ : NystroemError
        How far this machine is from the exact kernel machine: residuals, and bounds on its objective.
    result_ : FitResult
        How training ended, with the duality gap that proves how good the model is for the approximate kernel.
"""
)


def documented(texts: str) -> Any:
    """A class decorator that puts entries of `texts` where its docstring names them."""
    entries = _entries(texts)

    def decorate(kind: T) -> T:
        text = cleandoc(kind.__doc__ or "") + "\n"  # as the compiler of Python 3.13 leaves it
        kind.__doc__ = re.sub(r"^\{(\w+)\}$", lambda line: entries[line.group(1)], text, flags=re.M)
        return kind

    return decorate


def _entries(texts: str) -> dict[str, str]:
    """Return entries by name. sorted_classes_, counted_thresholds_, cut_intercept_ and linear_solver are other texts
    about the attribute or parameter without the first word."""
    found = {}
    for entry in re.split(r"\n(?=\w)", dedent(texts).strip()):
        name = entry.partition(" : ")[0]
        found[name] = re.sub(r"^(sorted_|counted_|cut_|linear_)", "", entry.strip())
    return found
