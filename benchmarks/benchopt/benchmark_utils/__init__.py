"""The package `benchmarks` describes works and contestants once, for this folder and for the table of peers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # benchopt is started from anywhere
