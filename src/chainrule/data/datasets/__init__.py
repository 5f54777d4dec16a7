"""The data sets, one per file: each has `ABOUT` and `load`."""
