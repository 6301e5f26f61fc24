from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """a9a, CSR with 123 columns and two classes."""

    name = "a9a"
    source = "a9a"
    parameters = {"model": ["SVC"], "C": [1.0], "n": [5000, "all"]}
