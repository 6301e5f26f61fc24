"""Runs inside an environment of the benchmark before-after, by its path: loads a work when told to, then fits it.

A line of JSON in, a line of JSON out: `{"load": {...}}` is answered by ordsvm's version, after a first fit;
`{"fit": true}` by the seconds of a fit. Only numpy, scipy and ordsvm's public estimators are imported.
"""

import gc
import json
import sys
import time

import numpy as np
from scipy import sparse

import ordsvm


def load(task):
    """A function that fits the work once."""
    with np.load(task["data"]) as file:
        y = file["y"]
        X = (
            file["X"]
            if "X" in file
            else sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        )
    n, kind, options = task["rows_a_fit"], getattr(ordsvm, task["model"]), task["options"]
    parts = [(X[start : start + n], y[start : start + n]) for start in range(0, len(y), n)]

    def fit():
        for samples, labels in parts:
            kind(**options).fit(samples, labels)

    return fit


def seconds(fit):
    gc.collect()
    gc.disable()
    began = time.perf_counter()
    fit()
    taken = time.perf_counter() - began
    gc.enable()
    return taken


def main():
    fit = None
    for line in sys.stdin:
        message = json.loads(line)
        if "load" in message:
            fit = load(message["load"])
            fit()
            print(json.dumps(ordsvm.__version__), flush=True)
        else:
            print(json.dumps(seconds(fit)), flush=True)


if __name__ == "__main__":
    main()
