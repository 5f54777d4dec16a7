"""Figures: every function takes plain values and returns a matplotlib figure."""
