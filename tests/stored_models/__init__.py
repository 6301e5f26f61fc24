"""Model files that released versions have written: every later version reads them."""
