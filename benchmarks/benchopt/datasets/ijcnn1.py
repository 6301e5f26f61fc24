from benchmark_utils.base import WorkDataset


class Dataset(WorkDataset):
    """ijcnn1, CSR with 22 columns and two classes."""

    name = "ijcnn1"
    source = "ijcnn1"
    parameters = {"model": ["SVC"], "C": [1.0], "n": [5000, "all"]}
