"""Linear machines: weights of features instead of scores of samples."""
