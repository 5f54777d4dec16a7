"""Chapter 7, geometric deep learning: sets, point clouds and graphs."""

from chainrule.models.geometric.chebyshev import Chebyshev
from chainrule.models.geometric.gat import GAT
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.models.geometric.message_passing import MessagePassing
from chainrule.models.geometric.polynomial import Polynomial
from chainrule.models.geometric.spectral import Spectral
from chainrule.models.geometric.weisfeiler_leman import WeisfeilerLeman

__all__ = [
    "GAT",
    "GCN",
    "Chebyshev",
    "GraphClassifier",
    "MessagePassing",
    "Polynomial",
    "Spectral",
    "WeisfeilerLeman",
]
