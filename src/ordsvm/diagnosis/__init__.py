"""Diagnosis: what speaks against a model, or against the data that it was given."""

from ordsvm.diagnosis.diagnose import NAMES, diagnose

__all__ = ["NAMES", "diagnose"]
