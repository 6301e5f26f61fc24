from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """Census house(16H), 16 columns: ten equal-frequency ranks of the price."""

    name = "census"
    source = "census"
    parameters = {"model": ["SVOR"], "C": [1.0], "n": [6000]}
