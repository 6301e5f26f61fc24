"""Ctrl-C must reach the programs that tests start, also where a shell in the background has had it ignored."""

import signal
import threading

if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
