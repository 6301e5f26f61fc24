from __future__ import annotations

import typer

from ordsvm.demo import main


def demo() -> None:
    """Train every ordinal model on data that scikit-learn ships: what `make demo` runs."""
    raise typer.Exit(main())
