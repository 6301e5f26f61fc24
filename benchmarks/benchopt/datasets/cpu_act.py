from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """Computer activity, 21 columns: the standardised share of time in user mode."""

    name = "cpu_act"
    source = "cpu_act"
    parameters = {"model": ["SVR"], "C": [1.0, 10.0], "n": ["all"]}
