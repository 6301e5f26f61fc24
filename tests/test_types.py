"""Annotations of the public surface: what users give has a type that editors and type checkers can use."""

import inspect

import pytest

from tests.test_docstrings import OBJECTS

TYPED = {  # parameters that mean the same wherever they occur
    "X", "y", "sample_weight", "y_true", "y_pred", "y_proba", "kernel", "gamma", "cost", "solver", "class_weight",
    "categories", "callback", "random_state", "checkpoint", "validation", "ax", "cv", "param_grid", "scoring",
}  # fmt: skip


def annotated(item) -> inspect.Signature | None:
    function = item.__init__ if inspect.isclass(item) else item
    return inspect.signature(function) if callable(function) else None


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_parameters_have_types(name):
    signature = annotated(OBJECTS[name])
    parameters = signature.parameters.values() if signature else ()
    assert [p.name for p in parameters if p.name in TYPED and p.annotation in ("Any", p.empty)] == []
