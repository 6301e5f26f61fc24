"""Model files made by hand: what `save` would write for any JSON and arrays, with a checksum that holds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from ordsvm.files.model_file import FORMAT, TEXT, VERSION, checksum


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
    return overwrite(path, save(arrays, metadata=standard | header))


def overwrite(path: Path, data: bytes) -> Path:
    """Writes over what is there: some file systems flush a file that was made empty first, which takes time."""
    path.touch()
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
    return path
