"""Chapter 9, learning theory: bounds, the VC dimension, and regression on random features."""

from chainrule.models.theory.random_features import RandomFeatures

__all__ = ["RandomFeatures"]
