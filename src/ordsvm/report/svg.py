"""Drawing in SVG: scales, axes and marks whose colours are classes of the page's style, so that they follow its theme.

Every text goes through Markup.format, which escapes it. A mark with a tip shows it under the pointer (page.js).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from ordsvm.report.words import LONGEST, number_text, shortened_label

WIDTH, HEIGHT = 440.0, 300.0
LETTER = 7.6  # width of a letter on a phone, where letters are largest, in the units of a chart
Scale = Callable[[float], float]


@dataclass
class Chart:
    """A chart: margins around a plane, and the marks on it."""

    label: str
    left: float = 46.0
    right: float = 18.0
    top: float = 14.0
    bottom: float = 42.0
    height: float = HEIGHT
    parts: list[Markup] = field(default_factory=list)

    def add(self, template: str, **values: Any) -> None:
        """A mark; numbers are rounded, texts escaped."""
        plain = {key: _rounded(value) if isinstance(value, float) else value for key, value in values.items()}
        self.parts.append(Markup(template).format(**plain))

    @property
    def plane(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the plane."""
        return self.left, WIDTH - self.right, self.top, self.height - self.bottom

    def render(self) -> Markup:
        size = f"0 0 {WIDTH:g} {self.height:g}"
        start = Markup('<svg viewBox="{}" role="img" aria-label="{}">').format(size, self.label)
        return start + Markup("").join(self.parts) + Markup("</svg>")

    # Scales

    def across(self, low: float, high: float) -> Scale:
        left, right, _, _ = self.plane
        return _linear(low, high, left, right)

    def upwards(self, low: float, high: float) -> Scale:
        _, _, top, bottom = self.plane
        return _linear(low, high, bottom, top)

    # Axes

    def x_axis(self, scale: Scale, ticks: Iterable[tuple[float, str]], title: str) -> None:
        _, _, top, bottom = self.plane
        for value, text in ticks:
            x = scale(value)
            self.add('<path class="grid" d="M{x} {top}V{bottom}"/>', x=x, top=top, bottom=bottom)
            self.add(
                '<text class="tick" x="{x}" y="{y}" text-anchor="middle">{text}</text>', x=x, y=bottom + 16, text=text
            )
        left, right, *_ = self.plane
        middle = (left + right) / 2
        self.add(
            '<text class="name" x="{x}" y="{y}" text-anchor="middle">{t}</text>', x=middle, y=self.height - 6, t=title
        )

    def y_axis(self, scale: Scale, ticks: Iterable[tuple[float, str]], title: str = "") -> None:
        left, right, *_ = self.plane
        for value, text in ticks:
            y = scale(value)
            self.add('<path class="grid" d="M{left} {y}H{right}"/>', left=left, right=right, y=y)
            self.text_beside(y, text)
        if title:
            self.up_title(title)

    def category_axis(self, scale: Scale, names: Sequence[str], title: str) -> None:
        left, right, _, bottom = self.plane
        below = '<text class="tick" x="{x}" y="{y}" text-anchor="middle">{t}</text>'
        for k, name in enumerate(names):
            self.add(below, x=scale(k), y=bottom + 16, t=name)
        self.add(below.replace("tick", "name"), x=(left + right) / 2, y=self.height - 6, t=title)

    def up_title(self, title: str) -> None:
        """The name of the vertical axis, turned."""
        _, _, top, bottom = self.plane
        turned = '<text class="name" transform="translate(12 {y}) rotate(-90)" text-anchor="middle">{t}</text>'
        self.add(turned, y=(top + bottom) / 2, t=title)

    def text_beside(self, y: float, text: str) -> None:
        """A label at the left of the plane; the whole of a long one is its tip."""
        shown = shortened_label(text)
        self.add('<text class="tick" x="{x}" y="{y}" text-anchor="end" data-tip="{tip}">{t}</text>', x=self.left - 6,
                 y=y + 4.5, tip=text, t=shown)  # fmt: skip

    # Marks

    def line(self, points: Sequence[tuple[float, float]], kind: str, tips: Sequence[str] = ()) -> None:
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add('<path class="line {kind}" d="{path}"/>', kind=kind, path=path)
        for (x, y), tip in zip(points, tips, strict=False):
            self.add(
                '<circle class="dot {kind}" cx="{x}" cy="{y}" r="3.5" data-tip="{tip}"/>', kind=kind, x=x, y=y, tip=tip
            )

    def bar(self, box: tuple[float, float, float, float], kind: str, tip: str) -> None:
        """A rectangle from (x, y), so wide and high; at least a hair wide."""
        x, y, width, height = box
        self.add('<rect class="bar {kind}" x="{x}" y="{y}" width="{w}" height="{h}" data-tip="{tip}"/>', kind=kind, x=x,
                 y=y, w=max(width, 0.8), h=max(height, 0.8), tip=tip)  # fmt: skip

    def cell(self, box: tuple[float, float, float, float], share: float, tip: str, kind: str = "") -> None:
        """A cell of a heat map, the stronger the larger the share."""
        x, y, width, height = box
        place = 'x="{x}" y="{y}" width="{w}" height="{h}"'
        template = f'<rect class="cell {{kind}}" {place} fill-opacity="{{share}}" data-tip="{{tip}}"/>'
        self.add(template, kind=kind, x=x, y=y, w=width - 2, h=height - 2, share=f"{share:.3f}", tip=tip)

    def sample(self, x: float, y: float, colour: str, tip: str) -> None:
        """A point with a colour of its own."""
        template = '<circle class="sample" fill="{c}" cx="{x}" cy="{y}" r="3.5" data-tip="{tip}"/>'
        self.add(template, c=colour, x=x, y=y, tip=tip)

    def path(self, path: str, kind: str, tip: str = "") -> None:
        tipped = ' data-tip="{tip}"' if tip else ""
        self.add(f'<path class="{{kind}}" d="{{path}}"{tipped}/>', kind=kind, path=path, tip=tip)

    def legend(self, entries: Sequence[tuple[str, str]]) -> None:
        """Names of the kinds of marks, in a row above the plane."""
        x = self.left
        for kind, name in entries:
            self.add('<rect class="bar {kind}" x="{x}" y="2" width="11" height="11"/>', kind=kind, x=x)
            self.add('<text class="tick" x="{x}" y="12">{name}</text>', x=x + 15, name=name)
            x += 26 + LETTER * len(name)


def margin_for(labels: Iterable[str], extra: float = 14.0) -> float:
    """Width of a left margin that holds these labels."""
    return extra + LETTER * max((min(len(label), LONGEST) for label in labels), default=0)


def nice_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Round numbers between two others, and how they are written."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [(low, number_text(low))]
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    is_odd = abs(step / power - 2.5) < 1e-9
    digits = max(0, (1 if is_odd else 0) - math.floor(math.log10(step) + 1e-9))
    if digits > 4 or max(abs(low), abs(high)) >= 1e6:
        return [(k * step, f"{k * step:.3g}") for k in range(first, last + 1)]
    return [(k * step, f"{k * step:,.{digits}f}".replace("-", "−")) for k in range(first, last + 1)]


VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # dark to light, for all eyes


def rank_colour(rank: int, n_ranks: int) -> str:
    """The colours of ranks, in order from dark to light."""
    place = 0.2 + 0.62 * rank / max(1, n_ranks - 1)  # seen on a light and on a dark page
    channels = np.array(VIRIDIS).T
    red, green, blue = (round(float(np.interp(place, np.linspace(0, 1, len(VIRIDIS)), one))) for one in channels)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _linear(low: float, high: float, start: float, end: float) -> Scale:
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (value - low) / span


def _rounded(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
