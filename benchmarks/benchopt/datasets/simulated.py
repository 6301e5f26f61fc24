from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """500 standard normal columns, the class the sign of a planted quadratic form plus noise."""

    name = "simulated"
    source = "dense"
    parameters = {"model": ["SVC"], "kernel": ["rbf", "linear"], "C": [1.0], "n": [2000, "all"]}
    test_parameters = {"n": [60]}
