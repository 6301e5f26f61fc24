"""What the steps of a pipeline make of samples that are to be predicted."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def transformed_by_steps(pipeline: Pipeline, X: Any) -> Any:
    """Return X as it reaches the last step of a fitted pipeline.

    A step that resamples has no `transform`: as in the pipelines of imbalanced-learn, it has its say in training only.
    """
    for _, step in pipeline.steps[:-1]:
        if hasattr(step, "fit_resample") or step is None or step == "passthrough":
            continue
        X = step.transform(X)
    return X
