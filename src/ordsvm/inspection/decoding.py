"""Features of a table back to cells, as far as they say: numbers, categories, the words that weigh most."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm.tables.columns import CategoryColumn, NumberColumn

WORDS = 6  # of a text


def cells_of(encoder: Any, features: Any) -> dict[str, str]:
    """The cells, by column, that an encoder has made these features of one row of."""
    row = np.asarray(features.toarray() if sp.issparse(features) else features, dtype=np.float64).ravel()
    found, start = {}, 0
    for column in encoder.columns_:
        size = len(column.feature_names())
        found[column.name] = _cell(column, row[start : start + size])
        start += size
    return found


def _cell(column: Any, values: Any) -> str:
    if isinstance(column, NumberColumn):
        return f"{values[0] * column.deviation + column.mean:.6g}"
    if isinstance(column, CategoryColumn):
        return column.values[int(np.argmax(values))] if values.any() else ""
    heaviest = np.argsort(-values, kind="stable")[:WORDS]
    return ", ".join(column.words[i] for i in heaviest if values[i] > 0)
