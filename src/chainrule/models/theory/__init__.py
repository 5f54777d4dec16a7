"""Chapter 9, learning theory: bounds, the VC dimension, random features, infinite width."""

from chainrule.models.theory.infinite_network import InfiniteNetwork
from chainrule.models.theory.random_features import RandomFeatures

__all__ = ["InfiniteNetwork", "RandomFeatures"]
