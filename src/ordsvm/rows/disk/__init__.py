"""Rows on disk, read in blocks."""
