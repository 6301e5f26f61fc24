"""Checkpoints: a long fit, stream or search that goes on where a crash, a kill or a reboot has ended it."""

from ordsvm.checkpoint.description import described
from ordsvm.checkpoint.identity import digest
from ordsvm.checkpoint.session import Checkpoint, OtherFitError, Session, check_checkpoint, opened
from ordsvm.checkpoint.state import Keeper, State
from ordsvm.checkpoint.state_file import DamagedError

__all__ = [
    "Checkpoint",
    "DamagedError",
    "Keeper",
    "OtherFitError",
    "Session",
    "State",
    "check_checkpoint",
    "described",
    "digest",
    "opened",
]
