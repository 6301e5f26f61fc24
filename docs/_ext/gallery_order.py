"""The order of the gallery: sections as listed here, examples by their titles' order in the section."""

from __future__ import annotations

from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey

SECTIONS = ExplicitOrder(["../examples/first_steps", "../examples/models", "../examples/trust", "../examples/large"])
by_title = FileNameSortKey
