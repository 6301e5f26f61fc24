"""From a file with named columns to a trained model: what the command line works with, for Python too.

`read` reads a file, `TableEncoder` makes numbers of columns, `TableModel` keeps both encoder and machine, and goes into
a model file whole.
"""

from ordsvm.tables.encoder import TableEncoder
from ordsvm.tables.model import TableModel
from ordsvm.tables.reading import Table, TableError, read

__all__ = ["Table", "TableEncoder", "TableError", "TableModel", "read"]
