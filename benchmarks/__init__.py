"""Measurements of this project: the suite with its rows, and scripts for what is no race."""
