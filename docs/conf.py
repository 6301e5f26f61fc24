"""The manual, by Sphinx: `make docs`. Warnings are errors, and nothing is fetched from the network."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import ordsvm

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from gallery_order import SECTIONS, by_list  # noqa: E402
from inventories import inventories  # noqa: E402

project = "ordsvm"
author = "ordsvm developers"
copyright = "ordsvm developers"
version = release = ordsvm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
    "outside",
    "results",
    "public_names",
]
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst", "_templates"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = [
    "config.cache",  # functions of sphinx-gallery's options can't be pickled
    "ref.python",  # attributes that several classes have: numpydoc refers to them by their bare name
]

# Pages
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# Reference
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
intersphinx_mapping = inventories(HERE / "inventories", HERE / "_build" / "inventories")

# Gallery: an example that fails or is skipped fails the build.
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "subsection_order": SECTIONS,
    "within_subsection_order": by_list,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "matplotlib_animations": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("ordsvm",),
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 30,
}
plot_gallery = str(os.environ.get("GALLERY", "1") != "0")  # GALLERY=0: pages only, for a quick look
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
os.environ.setdefault("ORDSVM_DATA", "")

# Page design
html_theme = "pydata_sphinx_theme"
html_title = "ordsvm"
html_static_path = ["_static"]
html_css_files = ["ordsvm.css"]
html_context = {"default_mode": "auto"}  # light or dark as the reader's system has it
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
