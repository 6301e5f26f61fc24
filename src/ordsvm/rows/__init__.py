"""Rows of samples: in memory, on disk and as streams."""
