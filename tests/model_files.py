"""Model files made by hand: what `save` would write for any JSON and arrays, with a checksum that holds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from ordsvm.io.model_file import FORMAT, TEXT, VERSION, checksum


def contents(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON and the arrays of a model file."""
    arrays = load_file(path)
    return json.loads(arrays.pop(TEXT).tobytes()), arrays


def forge(path: Path, text: bytes | Any, arrays: dict[str, np.ndarray], **header: str) -> Path:
    """Writes a file whose checksum is right, whatever it holds."""
    if not isinstance(text, bytes):
        text = json.dumps(text).encode()
    arrays = arrays | {TEXT: np.frombuffer(text, dtype=np.uint8)}
    standard = {"format": FORMAT, "version": str(VERSION), "sha256": checksum(arrays)}
    save_file(arrays, path, metadata=standard | header)
    return path
