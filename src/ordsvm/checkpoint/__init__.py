"""Checkpoints: a long fit, stream or search that goes on where a crash, a kill or a reboot has ended it."""

from ordsvm.checkpoint.description import described
from ordsvm.checkpoint.identity import digest
from ordsvm.checkpoint.session import Checkpoint, Session, check_checkpoint, opened
from ordsvm.checkpoint.state import Keeper, State

__all__ = ["Checkpoint", "Keeper", "Session", "State", "check_checkpoint", "described", "digest", "opened"]
