"""Runs inside an environment of the benchmark search, by its path: loads data and a grid when told to, then searches.

A line of JSON in, a line of JSON out: `{"load": {...}}` is answered by ordsvm's version, `{"search": true}` by the best
parameters. Only numpy, scipy and ordsvm's public classes are imported.
"""

import json
import sys

import numpy as np
from scipy import sparse

import ordsvm
from ordsvm.metrics import mae_scorer


def load(task):
    """A function that makes the search once."""
    with np.load(task["data"]) as file:
        X = sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        y = file["y"]
    X = X if task["sparse"] else X.toarray()
    machine = getattr(ordsvm, task["machine"])()
    options = {"scoring": mae_scorer, "cv": 5, "refit": False, "n_jobs": task["n_jobs"]}

    def search():
        return ordsvm.OrdinalSearchCV(machine, task["grid"], **options).fit(X, y).best_params_

    return search


def main():
    search = None
    for line in sys.stdin:
        message = json.loads(line)
        if "load" in message:
            search = load(message["load"])
            print(json.dumps(ordsvm.__version__), flush=True)
        else:
            print(json.dumps(search()), flush=True)


if __name__ == "__main__":
    main()
