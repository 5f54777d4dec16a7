"""Scores of attention: how well a key matches a query, before the softmax.

    dot      q · k                      variance d for unit normals: the softmax saturates
    scaled   q · k / √d                 variance 1
    cosine   q · k / (‖q‖ ‖k‖)          between -1 and 1: no weight exceeds another by more than e²

Vaswani et al. (2017) for the scaled ones. Notes: J 6.1, A 2.6.2 (footnote), L "Attention".
"""

import math

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Vectors = Float[Tensor, "..."]
Scores = Float[Tensor, "..."]


def dot(q: Vectors, k: Vectors) -> Scores:
    """Q Kᵀ."""
    return q @ k.mT


def scaled_dot(q: Vectors, k: Vectors) -> Scores:
    """Q Kᵀ / √d."""
    return q @ k.mT / math.sqrt(q.shape[-1])


def cosine(q: Vectors, k: Vectors) -> Scores:
    """q · k / (‖q‖ ‖k‖) of all pairs; 0 for a vector of zeros."""
    return F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
