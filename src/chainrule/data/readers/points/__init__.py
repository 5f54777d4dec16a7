"""Clouds of points: OFF, PLY, XYZ and NumPy files."""
