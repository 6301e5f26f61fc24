"""Model files: `save` and `load`, arrays plus JSON, that execute nothing; and export to ONNX.

The format is described in docs/model_file.md.
"""

from ordsvm.files.model_file import ModelFileError, load, save
from ordsvm.files.onnx import to_onnx
from ordsvm.files.registry import register

__all__ = ["ModelFileError", "load", "register", "save", "to_onnx"]
