"""Ctrl-C must reach the programs that tests start, also where a shell in the background has had it ignored."""

import signal
import threading

import pytest

from ordsvm import _core
from ordsvm.estimators import kernel
from ordsvm.solvers.kernel import problems

if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def no_solver(monkeypatch):
    """Fails the test if a solver is called."""

    def called(*arguments, **options):
        pytest.fail("a solver was called")

    monkeypatch.setattr(kernel, "solve", called)
    monkeypatch.setattr(problems, "solve", called)


@pytest.fixture
def no_core(monkeypatch):
    """Fails the test if a solver of the core is called: for options that only the solver itself can judge."""

    def called(*arguments, **options):
        pytest.fail("a solver of the core was called")

    for name in ("smo", "gcd"):
        monkeypatch.setattr(_core, name, called)
