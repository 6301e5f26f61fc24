"""The suites: which tests of scikit-learn run, and which classes of this library take the place of theirs."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Suite:
    """Tests of scikit-learn, the module whose names are replaced, and for each name the class of ordsvm.

    defaults: of parameters, those of scikit-learn where ours has others.
    """

    name: str
    tests: str
    place: str
    classes: dict[str, str]
    defaults: dict[str, Any] = field(default_factory=dict)

    def replace(self) -> None:
        """Put our classes under their names: test modules that are imported afterwards get these."""
        theirs, ours = importlib.import_module(self.place), importlib.import_module("ordsvm")
        for name, own in self.classes.items():
            kind = getattr(ours, own)
            if self.defaults:
                kind = _with_defaults(kind, self.defaults)
                kind.__module__, kind.__qualname__ = self.place, name  # where pickle looks for it
            setattr(theirs, name, kind)


def _with_defaults(kind: Any, defaults: dict[str, Any]) -> Any:
    """Return a subclass whose `__init__` has other defaults."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    own = [p.replace(default=defaults.get(p.name, p.default)) for p in parameters]

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__(self, *args, **(defaults | kwargs))

    init.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    made = type(kind.__name__, (kind,), {})
    made.__init__ = init  # type: ignore[misc]
    return made


SEARCH_TESTS = "sklearn.model_selection.tests.test_search"
SEARCH_CLASS = {"GridSearchCV": "OrdinalSearchCV"}
SUITES = {
    suite.name: suite
    for suite in (
        Suite("svm", "sklearn.svm.tests", "sklearn.svm", {n: n for n in ("SVC", "SVR", "LinearSVC", "LinearSVR")}),
        Suite("search", SEARCH_TESTS, "sklearn.model_selection", SEARCH_CLASS),
        Suite("search-accuracy", SEARCH_TESTS, "sklearn.model_selection", SEARCH_CLASS, {"scoring": None}),
    )
}
