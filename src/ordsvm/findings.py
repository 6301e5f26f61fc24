"""What a diagnosis finds: a name, figures, a sentence and a remedy; and the warning that `fit` gives of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from typing import Any, overload

WIDTH = 100  # of a finding in a terminal


@dataclass(frozen=True)
class Finding:
    """One reason not to trust a model as it is.

    Parameters
    ----------
    name : str
        Which finding it is, such as "one-rank"; all names are in `ordsvm.diagnosis.NAMES`.
    sentence : str
        What was found, with its figures.
    remedy : str
        One thing to do about it.
    figures : dict, default={}
        The figures of the sentence by name.

    See Also
    --------
    diagnose : Makes findings.
    ModelWarning : A finding as `fit` reports it.

    Examples
    --------
    >>> from ordsvm import Finding
    >>> print(Finding("one-rank", "All 10 samples get the rank 3.", "Give class_weight='balanced'."))
    All 10 samples get the rank 3. Give class_weight='balanced'.
    """

    name: str
    sentence: str
    remedy: str
    figures: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}"

    def _repr_html_(self) -> str:
        return Findings([self])._repr_html_()


@dataclass(frozen=True)
class NumberedNames(Sequence[str]):
    """Names of columns that have none, such as "x3", made when they are read: there may be billions."""

    prefix: str
    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        chosen = range(self.size)[place]
        return f"{self.prefix}{chosen}" if isinstance(chosen, int) else [f"{self.prefix}{n}" for n in chosen]


class Findings(list[Finding]):
    """Findings as a list that is shown as a table, in a terminal or in a notebook.

    Parameters
    ----------
    found : iterable of Finding, default=()
        The findings.

    See Also
    --------
    diagnose : Makes it.

    Examples
    --------
    >>> from ordsvm import Finding, Findings
    >>> found = Findings([Finding("one-rank", "All 10 samples get the rank 3.", "Give class_weight='balanced'.")])
    >>> found
    one-rank
        All 10 samples get the rank 3.
        → Give class_weight='balanced'.
    >>> "one-rank" in found.names, found["one-rank"].remedy
    (True, "Give class_weight='balanced'.")
    >>> Findings()
    Nothing was found.
    """

    def __init__(self, found: Iterable[Finding] = ()) -> None:
        super().__init__(found)

    @property
    def names(self) -> list[str]:
        """The names of the findings, in their order."""
        return [finding.name for finding in self]

    def __getitem__(self, which: Any) -> Any:
        """The finding of a place, or the first one of a name."""
        if not isinstance(which, str):
            return super().__getitem__(which)
        for finding in self:
            if finding.name == which:
                return finding
        raise KeyError(which)

    def __repr__(self) -> str:
        if not self:
            return "Nothing was found."
        return "\n".join(
            f"{finding.name}\n{_indented(finding.sentence)}\n{_indented(f'→ {finding.remedy}')}" for finding in self
        )

    def _repr_html_(self) -> str:
        if not self:
            return "<p>Nothing was found.</p>"
        rows = "".join(
            f"<tr><td><b>{escape(finding.name)}</b></td><td style='text-align:left'>{escape(finding.sentence)}</td>"
            f"<td style='text-align:left'>{escape(finding.remedy)}</td></tr>"
            for finding in self
        )
        head = "<tr><th>finding</th><th>what was found</th><th>what to do</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _indented(text: str) -> str:
    return fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


class ModelWarning(UserWarning):
    """A finding that is certain by the end of `fit`: the model is an optimum, and of little use.

    Parameters
    ----------
    finding : Finding or str
        What was found, or a text.

    See Also
    --------
    diagnose : Finds more, with the data.

    Examples
    --------
    >>> import warnings
    >>> from ordsvm import ModelWarning
    >>> warnings.simplefilter("ignore", ModelWarning)  # hides these warnings and no other
    """

    def __init__(self, finding: Finding | str = "") -> None:
        super().__init__(str(finding))
        self.finding = finding if isinstance(finding, Finding) else None


def listed(labels: Iterable[Any], most: int = 6) -> str:
    """Labels or columns in a sentence; of many, the first ones."""
    shown = [str(label) for label in labels]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
