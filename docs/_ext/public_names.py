"""The API reference: a page for every public class and function, written before the build, and an index of all."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

# Modules that users import from, with what they are about.
MODULES = {
    "ordsvm": "Machines, searches, certificates, files",
    "ordsvm.solvers": "More of solvers",
    "ordsvm.kernels": "Kernels",
    "ordsvm.formulations": "Formulations",
    "ordsvm.metrics": "Metrics and scorers",
    "ordsvm.plotting": "Pictures",
    "ordsvm.inspection": "Explanations",
    "ordsvm.datasets": "Data",
    "ordsvm.text": "Text",
    "ordsvm.tables": "Tables of files",
    "ordsvm.files": "Model files",
    "ordsvm.evaluation": "Evaluation",
    "ordsvm.report": "Reports",
    "ordsvm.progress": "Progress",
    "ordsvm.distributed": "Clusters",
}
FOREIGN = "BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, MetaEstimatorMixin, Exception, Protocol"


def names(module: str) -> list[str]:
    """What a module offers and those before it in the list do not."""
    found = import_module(module)
    earlier = [import_module(other) for other in list(MODULES)[: list(MODULES).index(module)]]
    return [
        name
        for name in found.__all__
        if inspect.isclass(getattr(found, name)) or inspect.isroutine(getattr(found, name))
        if not any(getattr(other, name, None) is getattr(found, name) for other in earlier)
    ]


def write_pages(app: Sphinx) -> None:
    """`api/generated`, anew; a page whose text stays keeps its time, so that builds are incremental."""
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index": _index()}
    for module in MODULES:
        pages |= {f"{module}.{name}": _page(module, name) for name in names(module)}
    for file in folder.glob("*.rst"):
        if file.stem not in pages:
            file.unlink()
    for stem, text in pages.items():
        file = folder / f"{stem}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _index() -> str:
    lines = ["API reference", "=============", ""]
    for title, (module, chosen) in _sections().items():
        lines += [title, "-" * len(title), "", f"``{module}``", "", ".. list-table::", "   :widths: 30 70", ""]
        for name in chosen:
            lines += [f"   * - :doc:`{name} <{module}.{name}>`", f"     - {_summary(module, name)}"]
        lines += ["", ".. toctree::", "   :hidden:", ""]
        lines += [f"   {module}.{name}" for name in chosen] + [""]
    return "\n".join(lines)


def _sections() -> dict[str, tuple[str, list[str]]]:
    """Titles, with the module and the names of each; what `ordsvm` itself offers is divided by where it is defined."""
    kinds = {
        "Machines": "ordsvm.estimators",
        "Solvers": "ordsvm.solvers",
        "Searches, probabilities, files, results": "ordsvm",
    }
    found: dict[str, tuple[str, list[str]]] = {title: ("ordsvm", []) for title in kinds}
    for name in names("ordsvm"):
        where = getattr(import_module("ordsvm"), name).__module__
        title = next(title for title, start in kinds.items() if where.startswith(start))
        found[title][1].append(name)
    return found | {title: (module, names(module)) for module, title in MODULES.items() if module != "ordsvm"}


def _summary(module: str, name: str) -> str:
    text = inspect.getdoc(getattr(import_module(module), name)) or ""
    return " ".join(text.split("\n\n")[0].split())


def _page(module: str, name: str) -> str:
    title = f"{module}.{name}".removeprefix("ordsvm.")
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(getattr(import_module(module), name)):
        lines += [f".. autoclass:: {name}", "   :members:", f"   :inherited-members: {FOREIGN}", ""]
    else:
        lines += [f".. autofunction:: {name}", ""]
    return "\n".join([*lines, f".. minigallery:: {module}.{name}", "   :add-heading: In the gallery", ""])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True}
