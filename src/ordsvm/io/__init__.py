"""Model files: `save` and `load`, arrays plus JSON, that execute nothing; and export to ONNX.

The format is described in docs/model_file.md.
"""

from ordsvm.io.model_file import ModelFileError, load, save
from ordsvm.io.onnx import to_onnx

__all__ = ["ModelFileError", "load", "save", "to_onnx"]
