"""scikit-learn's callbacks, where the installed version has them: every look at a running fit is a task of that fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ordsvm.result import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(fit: Any) -> Any:
        return fit


def reports_to_callbacks(fit: Any) -> Any:
    """A `fit` that tells the callbacks set by `set_callbacks`, on the machine or on a search around it, how it goes."""

    @with_callbacks
    def reporting(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        fit(self, X, y, *args, **kwargs)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    @wraps(fit)
    def fit_or_report(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        has_callbacks = bool(getattr(self, "_skl_callbacks", None))
        return (reporting if has_callbacks else fit)(self, X, y, *args, **kwargs)

    return fit_or_report


def all_callbacks(machine: Any) -> Callable[[Progress], bool | None] | None:
    """The machine's own callback, and scikit-learn's; any of them may stop the fit."""
    context = getattr(machine, "_callback_fit_ctx", None)
    if context is None:
        return machine.callback

    def look(progress: Progress) -> bool:
        task = context.subcontext(task_name="look")
        task.call_on_fit_task_begin(estimator=machine)
        stop = bool(task.call_on_fit_task_end(estimator=machine))
        return stop | (machine.callback is not None and bool(machine.callback(progress)))

    return look
