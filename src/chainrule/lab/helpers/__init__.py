"""Shared by several claims; no claim imports another claim."""
