"""Chapter 7, geometric deep learning: sets, point clouds and graphs."""

from chainrule.models.geometric.chebyshev import ChebConv, ChebNet
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.models.geometric.equivariant_deep_sets import EquivariantDeepSets
from chainrule.models.geometric.gat import GAT, GATConv
from chainrule.models.geometric.gcn import GCN, GCNConv
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.models.geometric.message_passing import MPNN, MPNNConv
from chainrule.models.geometric.pointnet import PointFeatures, PointNet, TNet
from chainrule.models.geometric.pointnet_segmentation import PointNetSegmentation
from chainrule.models.geometric.polynomial import PolynomialConv, PolynomialGNN
from chainrule.models.geometric.ppgn import PPGN, PPGNLayer
from chainrule.models.geometric.spectral import SpectralConv, SpectralGNN
from chainrule.models.geometric.weisfeiler_leman import WeisfeilerLeman

__all__ = [
    "GAT",
    "GCN",
    "MPNN",
    "PPGN",
    "ChebConv",
    "ChebNet",
    "DeepSets",
    "EquivariantDeepSets",
    "GATConv",
    "GCNConv",
    "GraphClassifier",
    "MPNNConv",
    "PPGNLayer",
    "PointFeatures",
    "PointNet",
    "PointNetSegmentation",
    "PolynomialConv",
    "PolynomialGNN",
    "SpectralConv",
    "SpectralGNN",
    "TNet",
    "WeisfeilerLeman",
]
