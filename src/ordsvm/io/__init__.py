"""Model files: `save` and `load`, arrays plus JSON, that execute nothing; and export to ONNX.

The format is described in docs/model_file.md.
"""

from ordsvm.io.model_file import ModelFileError, load, save
from ordsvm.io.onnx import to_onnx
from ordsvm.io.registry import register

__all__ = ["ModelFileError", "load", "register", "save", "to_onnx"]
