"""The search for C and the parameters of a kernel."""

from ordsvm.search.search import OrdinalSearchCV

__all__ = ["OrdinalSearchCV"]
