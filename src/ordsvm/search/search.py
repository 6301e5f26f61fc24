"""OrdinalSearchCV: grid search that computes a kernel matrix once, or shares passes over rows, and walks along C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from ordsvm._typing import CheckpointPath, CrossValidation, Samples, SampleWeight
from ordsvm.checkpoint import DamagedError, OtherFitError, Session, check_checkpoint, digest, opened
from ordsvm.checkpoint.description import FREE_TO_CHANGE, parameters_in_words
from ordsvm.checkpoint.identity import data_identity
from ordsvm.checks import (
    check_choice,
    check_estimator,
    check_flag,
    check_jobs,
    check_positive,
    check_verbose,
    shortened,
)
from ordsvm.conventions import linked
from ordsvm.devices import on_host, usable_device
from ordsvm.estimators.base import Machine, all_or_nothing
from ordsvm.estimators.folds import Fold, make_folds
from ordsvm.estimators.validation import checkpoint_argument, weight_argument
from ordsvm.findings import Finding
from ordsvm.kernels.given import KERNEL_VALUES, values_in_words
from ordsvm.metrics import SCORERS, get_scorer
from ordsvm.metrics.scorers import best_possible
from ordsvm.search.grids import coarse_grid, fine_grid
from ordsvm.search.jobs import SearchJobs
from ordsvm.search.journal import Outcome
from ordsvm.search.methods import METHODS, Found, Judgement, exhaustive, halving, pruned, racing
from ordsvm.search.paths import Judge, Parameters, Scorer, own_score
from ordsvm.search.remarks import (
    edges_of_grid,
    require_fits,
    require_scores,
    warn_of_edges,
    warn_of_limits,
    warn_of_missing_scores,
    warn_of_unweighted_scores,
)
from ordsvm.search.results import Table, results_table, score_names
from ordsvm.search.views import Views
from ordsvm.sparse import check_structure

ParamGrid: TypeAlias = Literal["two-stage"] | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
Score: TypeAlias = float | dict[str, float]
Scoring: TypeAlias = str | Callable[..., Score] | Iterable[str] | Mapping[str, str | Callable[..., float]] | None
FOUND = ("best_estimator_", "best_params_", "best_index_", "best_score_", "refit_time_", "feature_names_in_")


@linked
class OrdinalSearchCV(GridSearchCV):
    """Cross-validated search for the parameters of a model, with the results and conventions of `GridSearchCV`.

    It gives the answers of `GridSearchCV`, up to what `tol` leaves open, in less time.

    Parameters
    ----------
    estimator : estimator
        A model, or a pipeline that ends in one. The steps before the last are fitted once a fold, if the grid leaves
        their parameters alone.
    param_grid : "two-stage", dict or list of dicts, default="two-stage"
        "two-stage" is the search of Chu & Keerthi [1]_: 7 × 7 values of log10 C and log10 κ from −3 to 3, where
        gamma = κ/2, then 9 × 9 spaced by 0.2 around the best. Models without gamma search for C alone.
    scoring : str, callable, list, tuple or dict, default="mae"
        A name from `ordsvm.metrics.SCORERS` or of scikit-learn, a scorer, or several. None is the estimator's own. A
        function `score(estimator, X, y)` may return several scores in a dict; with one, fits share less.
    n_jobs : int or None, default=None
        How many folds, each with one set of kernel parameters, at once. Linear models whose folds share passes take
        their own `n_threads` instead. On a CUDA device None is two threads, and there are no more.
    refit : bool, str or callable, default=True
        As in `GridSearchCV`: the best parameters are used to train on all samples; a str names the scorer to go by.
    cv : int, splitter or iterable, default=None
        None is 5 folds. Folds given by their number are those of scikit-learn: of classifiers each has its share of
        every rank, in the order of the rows. If rows are sorted, shuffle them or give StratifiedKFold(5, shuffle=True,
        random_state=0).
    verbose : int, default=0
        Passed on to joblib.
    error_score : "raise" or float, default=nan
        The score where a fit or a scorer fails, of which there is a warning. Where that leaves no candidate with a
        finite score, it is an error.
    return_train_score : bool, default=False
        Whether scores of the training samples are computed too.
    memory_limit : float, default=1000
        Megabytes for kernel matrices. Where they need more, models compute the rows they need, each for itself. For
        linear models, of the dual variables of fits that share passes: more folds come after each other.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where all models train and predict, the best one too; None: where the estimator's own `device` says.
    method : {"exhaustive", "pruned", "racing", "halving"}, default="exhaustive"
        Which fits are made. "exhaustive": all, as in `GridSearchCV`. "pruned": none of a candidate that is proven to be
        unable to win; the winner and its scores are those of the exhaustive search. "racing": first to a loose
        tolerance, then to `tol` where the ranking is open, by the rule below. "halving": on few samples first, as in
        scikit-learn's `HalvingGridSearchCV`, for those who accept another winner.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        As in `GridSearchCV`; with two stages also "stage", 1 or 2. By "pruned" and "racing" also "pruned", whether
        folds were left out: their scores and the mean are NaN, and the rank is the last. By "racing" also "refined",
        whether scores are those of fits to `tol`. By "halving" also "iter" and "n_resources", the round and its number
        of samples, with a row for every candidate of a round.
    n_pruned_ : int
        How many fits of the grid were not made: of "racing" fits to the loose tolerance.
    best_estimator_ : estimator
        The model with the best parameters, trained on all samples.
    best_params_ : dict
        The best parameters.
    best_index_ : int
        Their place in `cv_results_`.
    best_score_ : float
        Their mean score.
    scorer_ : callable or dict of str to callable
        The scorer, or several by name.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds of the training on all samples.
    multimetric_ : bool
        Whether there are several scorers.
    classes_ : ndarray of shape (n_classes,)
        The labels, lowest first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X is a data frame.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Search for the parameters of any estimator.
    ordsvm.plotting.SearchDisplay : Picture of the search.

    Notes
    -----
    At the end one `ConvergenceWarning` counts the fits that did not converge, if any, and a `ModelWarning` says which
    of the best parameters are at the edge of what was tried, and which way to extend the grid.

    A kernel matrix is computed once for each set of kernel parameters and shared by all C and all folds. C runs
    upwards, and every fit starts from the one before, or from that of the kernel before. Samples to be tested are part
    of the fit with a C of 0, so that the fit gives their scores too. Folds run side by side, in threads that share
    the matrices. A model with solver="auto" is trained by steps on pairs and, where that takes long, by Newton's
    method, to the same `tol`; the best one is trained again by the model's own solver. Other estimators than those of
    this package, classes derived from these, and pipelines that resample are searched as `GridSearchCV` does it. On a
    device, fits of up to 8,000 samples that differ in fold
    and C alone are made side by side by the interior-point method.

    Linear models that are trained by `LinearInteriorPoint`, by name or by "auto", share the passes over the samples:
    a copy of the rows, ordered by the folds that they are in, is read block by block, and every fold works on a block
    in turn. C runs upwards too. Weights at C prove a gap at r · C, r · gap + ½(r − 1)²‖w‖²: where that is within `tol`
    the fit at r · C has the same weights and takes no pass at all, and otherwise it starts from them. Every fit has its
    certified gap, as alone. Models with 1,500 features or more, a time limit, a callback or fewer than 100 iterations
    are trained one by one.

    The method "pruned" leaves a candidate out of the folds to come when its mean score could not reach that of a
    candidate with scores of all folds if it had the best possible score in all of them, 0 for errors and 1 for
    accuracies and coefficients. A fit from which another one starts that is still needed is made all the same, so that
    scores are the same to the last bit. With 5 folds a mean error has to be 1.25 times the best before it saves a
    fold, so the gain is small; it grows with the number of folds.

    The method "racing" fits to a tolerance of 0.1, fold after fold. Candidates are out that could catch up with the
    leader only if the samples to come differed from those tested so far by 3.5 standard deviations, as the losses of
    both on the same samples have it. Then those within 1 % of the least mean error, or two samples, or twice the
    largest change of a mean error that refining has brought so far, are trained to `tol`, until none is left. The
    winner is the best of these: scores of the others are those of loose fits. It is not the default since
    `cv_results_` is not whole.

    Both need to know the best possible score: with several scores, scores of the user's own, a `refit` that is a
    function, linear models that share passes, or on a device, the search is exhaustive, at least in part.

    References
    ----------
    .. [1] W. Chu, S. S. Keerthi, "Support vector ordinal regression", Neural Computation 19, 2007, §5.3.
    .. [2] O. Maron, A. W. Moore, "Hoeffding races: accelerating model selection search for classification and function
       approximation", NIPS 6, 1994.

    Examples
    --------
    >>> from ordsvm import SVOR, OrdinalSearchCV
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> search = OrdinalSearchCV(SVOR(), {"C": [1.0, 10.0, 1000.0], "gamma": [0.01, 0.1]}, cv=3).fit(X[:90], y[:90])
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    >>> search.predict(X[90:]).shape
    (352,)
    >>> race = OrdinalSearchCV(SVOR(), cv=3, method="racing", refit=False).fit(X[:90], y[:90])
    >>> race.n_pruned_ < 3 * len(race.cv_results_["params"])
    True
    """

    # kept by tests/test_model_selection.py::test_answers_of_grid_search, tests/test_campaign_kinds.py::test_a_slice,
    # tests/test_search_methods.py::test_the_exact_rule_keeps_the_winner_and_all_scores

    method: str = "exhaustive"  # of pickles of 0.1.0 too

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: ParamGrid = "two-stage",
        *,
        scoring: Scoring = "mae",
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: CrossValidation = None,
        verbose: int = 0,
        error_score: float | Literal["raise"] = np.nan,
        return_train_score: bool = False,
        memory_limit: float = 1000,
        device: str | None = None,
        method: str = "exhaustive",
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.memory_limit = memory_limit
        self.device = device
        self.method = method

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Refuse the callbacks of scikit-learn: fits that share their work are no tasks of their own.

        Parameters
        ----------
        *callbacks : callback instances
            None of them can be set.

        Returns
        -------
        OrdinalSearchCV
            The search, if there are no callbacks.
        """
        if callbacks:
            raise ValueError(
                f"OrdinalSearchCV can't report to {callbacks[0]!r}, as its fits share their work: set the callback on "
                "the model inside, or on a GridSearchCV."
            )
        return self

    @all_or_nothing
    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        sample_weight: SampleWeight = None,
        checkpoint: CheckpointPath = None,
        **params: Any,
    ) -> Self:
        """Try all parameters and train the best ones on all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,), default=None
            Their labels or targets.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for splitters that keep them together.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in training and in scores; a fold that tests samples of weight 0 alone is an error.
            Of a pipeline the last step gets them; with scikit-learn's metadata routing, the steps that request them.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the outcome of every fit, and long fits every minute: the same call goes on from there.
        **params : dict
            The weights by the name of a pipeline's last step, such as `svor__sample_weight`, as `GridSearchCV` takes
            them.

        Returns
        -------
        OrdinalSearchCV
            The fitted search.
        """
        check_checkpoint(checkpoint)
        self._check_options()
        check_positive("memory_limit", self.memory_limit)
        check_choice("method", self.method, METHODS)
        if self.method == "halving" and callable(self.refit):
            raise ValueError("method='halving' goes by a score: refit can't be a function. Give the name of a score.")
        if isinstance(self.param_grid, str):
            check_choice("param_grid", self.param_grid, ["two-stage"])
        sample_weight = on_host(self._weights(sample_weight, params), "sample_weight")
        X, y, groups = on_host(X), on_host(y, "y"), on_host(groups, "groups")
        check_structure(X)
        X, y, groups, sample_weight = indexable(X, y, groups, sample_weight)
        self._placed()
        weight_argument(self.estimator, sample_weight)  # raises where the best estimator could not be trained with them
        for name in FOUND:  # by an earlier search
            self.__dict__.pop(name, None)
        scorers = self._choose_scorers()
        if sample_weight is not None:
            warn_of_unweighted_scores(scorers)
        folds = make_folds(self.cv, X, y, groups, is_classifier(self.estimator))
        self.n_splits_ = len(folds)
        with opened(checkpoint) as session:
            if session is not None:
                session.require(self._identity(X, y, sample_weight, folds))
            judge = Judge(self._judged_by(scorers), self.return_train_score, self.error_score)
            self._fit(X, y, sample_weight, folds, judge, session)
        return self

    def _check_options(self) -> None:
        """Raise ValueError or TypeError where what `GridSearchCV` has too is of a wrong type."""
        check_estimator("estimator", self.estimator)
        check_jobs(self.n_jobs)
        check_verbose(self.verbose)
        check_flag("return_train_score", self.return_train_score)
        raises = isinstance(self.error_score, str) and self.error_score == "raise"
        if not raises and not isinstance(self.error_score, Real):
            raise ValueError(f"error_score={shortened(self.error_score)} is not valid: give 'raise' or a number.")
        if not (isinstance(self.refit, (bool, np.bool_, str)) or callable(self.refit)):
            raise ValueError(
                f"refit={shortened(self.refit)} is not valid: give True, False, the name of a score or a function."
            )

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, folds: list[Fold], judge: Judge, session: Session | None
    ) -> None:
        estimator = self._placed()
        jobs = SearchJobs(
            estimator,
            X,
            y,
            sample_weight,
            folds,
            Views(estimator, X, y, folds, judge.train_too),
            judge,
            self.n_jobs,
            self.verbose,
            float(self.memory_limit) * 2**20,
            session,
        )
        self.cv_results_ = self._search(jobs)
        warn_of_missing_scores(self.cv_results_)
        if self.refit or self._has_winner():
            self._choose_best()
        if self.refit:
            self._train_best(X, y, sample_weight, None if session is None else session.inner("best"))

    def score(self, X: Samples, y: ArrayLike | None = None, **params: Any) -> float:
        """Return the score of the best estimator, by the scorer of the search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,), default=None
            Their labels or targets.
        **params : dict
            What the scorer takes with scikit-learn's metadata routing.

        Returns
        -------
        float
            The score, greater is better.
        """
        return float(super().score(on_host(X), on_host(y, "y"), **params))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata the estimator, the scorers and the splitter request, for scikit-learn's routing.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        scored = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        for name, scorer in self._named_scorers().items():
            router.add(**{"scorer" if name == "score" else name: scorer}, method_mapping=scored)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _weights(self, sample_weight: Any, params: dict[str, Any]) -> Any:
        """The weights, under whichever name they were given."""
        own = f"{self.estimator.steps[-1][0]}__sample_weight" if isinstance(self.estimator, Pipeline) else ""
        unknown = [name for name in params if name != own]
        if unknown or (params and sample_weight is not None):
            raise TypeError(
                f"OrdinalSearchCV.fit can't take {(unknown or [own])[0]!r}: give groups, sample_weight or checkpoint."
            )
        return params.get(own, sample_weight)

    def _placed(self) -> Any:
        """The estimator, with the machine in it on the device of the search."""
        if self.device is None:
            return self.estimator
        name = f"{self.estimator.steps[-1][0]}__device" if isinstance(self.estimator, Pipeline) else "device"
        if name not in self.estimator.get_params():
            raise ValueError(f"device={self.device!r}: {self.estimator!r} has no parameter of that name.")
        usable_device(self.device)
        return clone(self.estimator).set_params(**{name: self.device})

    def _identity(self, X: Any, y: Any, sample_weight: Any, folds: list[Fold]) -> dict[str, str]:
        """What a checkpoint is of: the search, its parameters, the data and the folds."""
        rows = digest(*(rows for fold in folds for rows in fold))
        cut = {"cv": f"{len(folds)} folds", "folds (give the splitter a random_state)": rows}
        about = {"model": type(self).__name__} | parameters_in_words(self, FREE_TO_CHANGE | {"cv"})
        rows_of_X = X if sp.issparse(X) else np.asarray(X)
        values = digest(*(values_in_words(kernel, rows_of_X) for kernel in self._callable_kernels()))
        return about | cut | data_identity(X, digest(y, sample_weight)) | {KERNEL_VALUES: values}

    def _callable_kernels(self) -> list[Any]:
        """Return the kernels of the estimator and of the grid that are callables."""
        grids = [] if isinstance(self.param_grid, str) else list(ParameterGrid(self.param_grid).param_grid)
        named = [(name, [value]) for name, value in self.estimator.get_params().items()]
        named += [(name, values) for grid in grids for name, values in grid.items()]
        kernels = [values for name, values in named if name.rpartition("__")[2] == "kernel"]
        return [kernel for values in kernels for kernel in values if callable(kernel)]

    def _choose_scorers(self) -> dict[str, Scorer]:
        """Scorers by the names they have in the results; the attributes are those of `GridSearchCV`."""
        scorers, several = self._named_scorers(), self._has_several_scores()
        self.multimetric_ = several
        self.scorer_ = scorers if several else scorers["score"]
        if several:
            self._check_refit(scorers)
        return scorers

    def _check_refit(self, names: Iterable[str]) -> None:
        """Raise ValueError unless `refit` says which of several scores to go by."""
        if self.refit is not False and not callable(self.refit) and self.refit not in names:
            raise ValueError(
                f"refit={self.refit!r} does not say which of several scores to go by: give refit=False or one of "
                f"{', '.join(map(repr, names))}."
            )

    def _has_several_scores(self) -> bool:
        return isinstance(self.scoring, (list, tuple, set, dict))

    def _named_scorers(self) -> dict[str, Scorer]:
        named = self.scoring if self._has_several_scores() else {"score": self.scoring}
        if not isinstance(named, dict):
            named = {name: name for name in named}
        return {name: self._scorer(scoring) for name, scoring in named.items()}

    def _judged_by(self, scorers: dict[str, Scorer]) -> dict[str, Scorer]:
        """The scorers; of the one for None scikit-learn's does not tell whether it takes weights."""
        given = self.scoring if isinstance(self.scoring, dict) else {"score": self.scoring}
        return {name: own_score if given.get(name, "") is None else scorer for name, scorer in scorers.items()}

    def _scorer(self, scoring: Any) -> Scorer:
        return get_scorer(scoring) if isinstance(scoring, str) else check_scoring(self.estimator, scoring)

    def _search(self, jobs: SearchJobs) -> Table:
        if not isinstance(self.param_grid, str):
            found = self._found(jobs, list(ParameterGrid(self.param_grid)))
            warn_of_limits(found.outcomes)
            return self._table(jobs.judge, [found])
        coarse = self._found(jobs, list(ParameterGrid(coarse_grid(jobs.machine, jobs.prefix))))
        table = self._table(jobs.judge, [coarse])
        best = self._best_index(table)
        fine = list(ParameterGrid(fine_grid(coarse.candidates[best])))
        stages = [coarse, self._found(jobs, fine, 2, float(table.get("mean_test_score", [-np.inf] * len(fine))[best]))]
        warn_of_limits([row for found in stages for row in found.outcomes])
        sizes = [len(found.candidates) for found in stages]
        return self._table(jobs.judge, stages) | {"stage": np.repeat([1, 2], sizes)}

    def _table(self, judge: Judge, stages: list[Found]) -> Table:
        candidates = [each for found in stages for each in found.candidates]
        outcomes = [row for found in stages for row in found.outcomes]
        self.n_pruned_ = sum(found.n_pruned for found in stages)
        columns = {name: np.concatenate([found.columns[name] for found in stages]) for name in stages[0].columns}
        return self._scored(judge, candidates, outcomes, columns.get("n_resources")) | columns

    def _scored(
        self, judge: Judge, candidates: list[Parameters], outcomes: list[list[Outcome]], sizes: Any = None
    ) -> Table:
        """The table of these outcomes. Of how many scores is known only now, if a function has returned a dict."""
        require_fits(outcomes, judge.failures)
        names = score_names(outcomes)
        if names != ["score"] and not self.multimetric_:
            self.multimetric_ = True
            self._check_refit(names)
        return results_table(candidates, outcomes, names, self.return_train_score, sizes)

    def _found(
        self, jobs: SearchJobs, candidates: list[Parameters], stage: int = 1, incumbent: float = -np.inf
    ) -> Found:
        """The outcomes of the candidates, by the method of the search."""
        by = self._judgement(jobs)
        if self.method == "halving":
            return halving(jobs, candidates, stage, partial(self._ranked, jobs.judge))
        if self.method == "exhaustive" or by is None:
            return exhaustive(jobs, candidates, stage)
        if self.method == "pruned":
            return pruned(jobs, candidates, stage, by, incumbent)
        return racing(jobs, candidates, stage, by)

    def _ranked(self, judge: Judge, outcomes: list[list[Outcome]]) -> Any:
        """Places of candidates, the best one first."""
        table = self._scored(judge, [{}] * len(outcomes), outcomes)
        return np.argsort(table[f"rank_test_{self._score_name(table)}"], kind="stable")

    def _judgement(self, jobs: SearchJobs) -> Judgement | None:
        """What candidates are compared by before all fits are made; None where no bound of the scores is known."""
        if callable(self.refit) or self.multimetric_:
            return None
        by_name = isinstance(self.scoring, str) and self.scoring not in SCORERS
        best = best_possible(self.scoring if by_name else self.scorer_)
        if self.scoring is None and isinstance(jobs.machine, Machine):
            best = 1.0  # accuracy, or the coefficient of determination
        is_number = isinstance(self.error_score, Real) and not np.isnan(float(self.error_score))
        if best is None or (is_number and float(self.error_score) > best):
            return None
        return Judgement("score", best)

    def _edges(self) -> list[Finding]:
        """Best parameters at the edge of what was tried."""
        if callable(self.refit) or not hasattr(self, "best_index_"):
            return []
        return edges_of_grid(self.cv_results_, self.best_index_, f"mean_test_{self._score_name(self.cv_results_)}")

    def _best_index(self, table: Table) -> int:
        """Of the best candidate: the first among equals."""
        if not callable(self.refit):
            name = self._score_name(table)
            require_scores(table, name)
            return int(np.argmin(table[f"rank_test_{name}"]))
        best, n_candidates = self.refit(table), len(table["params"])
        if not isinstance(best, Integral):
            raise TypeError(f"refit returned {best!r}: return the index of a candidate, a whole number.")
        if not 0 <= int(best) < n_candidates:
            raise IndexError(f"refit returned {best}: return the index of a candidate, from 0 to {n_candidates - 1}.")
        return int(best)

    def _score_name(self, table: Table) -> str:
        """The score that candidates are ranked by."""
        if self.multimetric_ and self.refit:
            return str(self.refit)
        return next(name for name in table if name.startswith("rank_test_")).removeprefix("rank_test_")

    def _has_winner(self) -> bool:
        """Whether a search without a refit names a best candidate: of several scores none is the one to go by."""
        return not self.multimetric_ and bool(np.isfinite(self.cv_results_["mean_test_score"]).any())

    def _choose_best(self) -> None:
        self.best_index_ = self._best_index(self.cv_results_)
        self.best_params_: Parameters = self.cv_results_["params"][self.best_index_]
        if not callable(self.refit):
            name = self._score_name(self.cv_results_)
            self.best_score_ = float(self.cv_results_[f"mean_test_{name}"][self.best_index_])
        warn_of_edges(self._edges())

    def _train_best(self, X: Any, y: Any, sample_weight: Any, session: Session | None) -> None:
        estimator = clone(self._placed()).set_params(**clone(self.best_params_, safe=False))
        began = time.perf_counter()
        options = weight_argument(estimator, sample_weight) | checkpoint_argument(estimator, session)
        try:
            estimator.fit(X, y, **options)
        except (OtherFitError, DamagedError):  # of what was best before
            if session is None:
                raise
            session.remove()
            estimator.fit(X, y, **options)
        self.best_estimator_ = estimator
        self.refit_time_ = time.perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
