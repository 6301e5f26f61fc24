"""The search for C and the parameters of a kernel."""

from ordsvm.model_selection.search import OrdinalSearchCV

__all__ = ["OrdinalSearchCV"]
