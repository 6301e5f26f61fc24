from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """California housing, 8 columns: five equal-frequency ranks of the price."""

    name = "california"
    source = "california"
    parameters = {"model": ["SVOR", "SVORIM", "SVOREX"], "C": [1.0, 10.0, 100.0], "n": [2000, 5000]}
