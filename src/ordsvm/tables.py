"""The documented name of `ordsvm.data.frames`: from a file with named columns to a trained model."""

from ordsvm.data.frames import Table, TableEncoder, TableError, TableModel, read

__all__ = ["Table", "TableEncoder", "TableError", "TableModel", "read"]
