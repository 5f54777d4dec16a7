"""Pictures of a node classifier: confusion, graph, embedding, and attention where there is some."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from chainrule.data.graph_splits import GraphSplits
from chainrule.nn.on_graph import OnGraph
from chainrule.plots.graphs import edge_attention, embeddings, node_predictions
from chainrule.plots.predictions import confusion_matrix
from chainrule.recipes.families.node_classification import predicted_classes
from chainrule.runs.pictures import counts
from chainrule.runs.predictions import Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST, MOST = 5, 14  # neighbors of the node whose attention is drawn


def pictures(predictions: Predictions, model: OnGraph) -> "dict[str, Figure]":
    """Confusion matrix of the test nodes, the graph, and the last hidden layer."""
    data, predicted = predictions.data, predicted_classes(predictions)
    x, y = data.test
    wrong = f"test: {int((predicted[x] != y).sum())} of {len(y)} wrong"
    found = counts(y, predicted[x], len(data.classes))
    drawn = {"confusion": confusion_matrix(found, data.classes, wrong)}
    drawn["graph"] = graph_picture(predicted, data)
    points = embedding(model, x)
    if points is not None and len(points) > 3 and points.shape[1] > 1:
        drawn["embedding"] = embeddings(
            points.numpy(), y.numpy(), data.classes, "test nodes as the last layer sees them"
        )
    if hasattr(model.network, "attention"):
        drawn["attention"] = attention_picture(model, data)
    return drawn


def graph_picture(predicted: Tensor, data: GraphSplits) -> "Figure":
    """Truth and prediction; nodes without a label are shown as such."""
    edges, known = data.graph.edge_index.T.numpy(), data.train.x.numpy()
    truth, unlabeled = data.labels.clamp_min(0).numpy(), without_label(data)
    return node_predictions(
        edges, truth, predicted.numpy(), data.classes, known, unlabeled=unlabeled
    )


def without_label(data: GraphSplits) -> np.ndarray:
    """Numbers of the nodes whose class is not known."""
    return (data.labels < 0).nonzero()[:, 0].numpy()


def embedding(model: OnGraph, nodes: Tensor) -> Tensor | None:
    """The last hidden layer at these nodes, where the network has one."""
    with torch.inference_mode():
        outputs = model.eval().layer_outputs()
    return outputs[-2][nodes] if len(outputs) > 1 else None


def attention_picture(model: OnGraph, data: GraphSplits) -> "Figure":
    """The last layer's attention of the test node of medium degree where it is least even."""
    model.eval()
    with torch.inference_mode():
        graph = data.graph
        (column, row), q = model.network.attention(graph.x, graph.edge_index, graph.edge_attr)  # type: ignore[operator]
        q = q.mean(1)
    degree = row.bincount(minlength=data.graph.num_nodes)
    largest = torch.segment_reduce(q, "max", lengths=degree)
    spread = (largest * degree).masked_fill((degree < FEWEST) | (degree > MOST), -1)
    spread = spread[data.test.x]
    center = int(data.test.x[spread.argmax()])
    pairs = torch.stack([row, column], 1).numpy()
    truth = data.labels.clamp_min(0).numpy()
    return edge_attention(pairs, q.numpy(), truth, data.classes, center, without_label(data))
