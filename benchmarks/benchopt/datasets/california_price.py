from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """California housing, 8 columns: the standardised price."""

    name = "california-price"
    source = "california"
    parameters = {"model": ["SVR"], "C": [1.0, 10.0], "n": [10_000]}
