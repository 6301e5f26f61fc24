"""The order of the gallery: sections and examples as listed here; those that are not come last, by name."""

from __future__ import annotations

from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey

SECTIONS = ExplicitOrder(["../examples/first_steps", "../examples/models", "../examples/trust", "../examples/large"])
EXAMPLES = (
    ("first_model", "tuning", "migrating", "digits_as_ranks")
    + ("disordered_thresholds", "costs", "imbalance", "ratings")
    + ("tune_and_trust", "probabilities", "prediction_sets", "explaining", "early_stopping")
    + ("convergence_race", "thresholds_along_a_run")
    + ("review_words", "tall_data", "many_samples", "rows_from_disk", "dask_rows", "long_fit")
)


class by_list(FileNameSortKey):  # type: ignore[misc]
    """A key of sphinx-gallery: the place in `EXAMPLES`."""

    def __call__(self, filename: str) -> tuple[int, str]:
        stem = filename.removesuffix(".py")
        return (EXAMPLES.index(stem) if stem in EXAMPLES else len(EXAMPLES), stem)
