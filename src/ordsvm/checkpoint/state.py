"""What a checkpoint keeps of a running fit, and the object that a solver gives it to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import NDArray


@dataclass(frozen=True)
class State:
    """Plain facts, which become JSON, and arrays by name."""

    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether it is the end of what it is about, and not a point on the way."""
        return bool(self.facts.get("done", False))

    @classmethod
    def joined(cls, parts: Mapping[str, State]) -> Self:
        """One state of several with names."""
        arrays = {f"{name}/{key}": array for name, part in parts.items() for key, array in part.arrays.items()}
        return cls({name: part.facts for name, part in parts.items()}, arrays)

    def parts(self) -> dict[str, State]:
        """What `joined` was given."""
        found: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in self.facts}
        for key, array in self.arrays.items():
            name, _, rest = key.partition("/")
            found[name][rest] = array
        return {name: State(self.facts[name], arrays) for name, arrays in found.items()}


class Keeper:
    """Takes the states of a running fit, one an interval.

    resumed   the state to go on from; None: the fit begins
    """

    def __init__(
        self, write: Callable[[State], None], interval: float, resumed: State | None = None, keeps_end: bool = True
    ) -> None:
        self.resumed = resumed
        self._write, self._interval, self._keeps_end = write, interval, keeps_end
        self._next = time.monotonic() + interval

    def due(self) -> bool:
        """Whether the last state is as old as the interval."""
        return time.monotonic() >= self._next

    def keep(self, state: State) -> None:
        self._write(state)
        self._next = time.monotonic() + self._interval

    def finish(self, state: State) -> None:
        """Keeps the last state of this call, unless what follows from the fit is kept instead."""
        if self._keeps_end:
            self.keep(state)

    def part(self, resumed: State | None, wrap: Callable[[State], State]) -> Keeper:
        """For a part of the work, whose states `wrap` makes states of all of it."""
        return _PartKeeper(self, resumed, wrap)


class _PartKeeper(Keeper):
    """On the clock of the whole."""

    def __init__(self, whole: Keeper, resumed: State | None, wrap: Callable[[State], State]) -> None:
        self.resumed = resumed
        self._whole, self._wrap = whole, wrap

    def due(self) -> bool:
        return self._whole.due()

    def keep(self, state: State) -> None:
        self._whole.keep(self._wrap(state))

    def finish(self, state: State) -> None:
        self._whole.finish(self._wrap(state))
