"""The rows of the suite: one file each, found by the folder."""
