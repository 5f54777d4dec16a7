"""A graph convolutional network as a classifier of nodes, the rows of X.

    GCNClassifier().fit(X, y, edge_index=edges).predict(X, edge_index=edges)

`edge_index` is (2, edges), source and target of each, an undirected edge once in each direction.
Beside it, y = -1 and a sample_weight of zero mark nodes without a label: they pass messages on, and
nothing is learned from them. Without edges every row stands alone.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from chainrule.arguments import Count, Rate
from chainrule.errors import InputError, NotBatchableError
from chainrule.estimators.base import (
    counted,
    encoded,
    estimator,
    example_weights,
    labeled,
    tensor,
    with_class_weight,
)
from chainrule.estimators.members import Arrays
from chainrule.estimators.network import NetworkEstimator, OneNetwork, Problem, as_tensors
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.graphs import Graph
from chainrule.learning.losses import cross_entropy
from chainrule.models.geometric import GCN
from chainrule.nn.on_graph import OnGraph
from chainrule.training import Settings

UNLABELED = -1


@estimator
class GCNClassifier(OneNetwork, BaseNetworkClassifier):
    """Graph convolutions with one logit for each class at every node; the whole graph at once.

    >>> import chainrule as cr
    >>> data = cr.data.karate()
    >>> X, y, edges = data.graph.x.numpy(), data.labels.numpy(), data.graph.edge_index.numpy()
    >>> model = GCNClassifier(max_iter=50, random_state=0).fit(X, y, edge_index=edges)
    >>> model.score(X, y, edge_index=edges) > 0.9
    True
    """

    hidden_layer_sizes: Count | Sequence[Count] = (16,)
    """Units of each hidden layer."""
    dropout: Rate = 0.0
    """Dropout probability of the inputs and of the hidden units; 0.5 in the paper."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        edge_index: Any = None,
        edge_weight: Any = None,
    ) -> "GCNClassifier":
        """Train on the labeled nodes of a graph."""
        X, y = labeled(self, X, y, self._precision(new=not self._continues))
        known = has_label(y, edge_index)
        self._note_classes(np.unique(y[known]))
        arrays = self._nodes(X, y, sample_weight, known)
        with self._on(as_graph(X, edge_index, edge_weight)):
            self._fit_networks(Problem(arrays, len(self.classes_), cross_entropy))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        edge_index: Any = None,
        edge_weight: Any = None,
    ) -> "GCNClassifier":
        """Train for one epoch on this graph; the first call needs all `classes`."""
        first = not hasattr(self, "modules_")
        self._check_partial_fit(first, classes)
        X, y = labeled(self, X, y, self._precision(new=first), reset=first)
        if first:
            self.classes_ = unique_labels(classes)
        arrays = self._nodes(X, y, sample_weight, has_label(y, edge_index))
        with self._on(as_graph(X, edge_index, edge_weight)):
            self._partial_fit_networks(arrays, len(self.classes_), cross_entropy)
        return self

    def predict_proba(self, X: Any, edge_index: Any = None, edge_weight: Any = None) -> np.ndarray:
        """One column of probabilities per class, for all nodes of any graph."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self._precision(new=False))
        with self._on(as_graph(X, edge_index, edge_weight)), torch.no_grad():
            outputs = self.module_.eval()(torch.arange(len(X)))
        return outputs.double().softmax(1).numpy()

    def predict_log_proba(
        self, X: Any, edge_index: Any = None, edge_weight: Any = None
    ) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X, edge_index, edge_weight))

    def predict(self, X: Any, edge_index: Any = None, edge_weight: Any = None) -> np.ndarray:
        """The most probable class of every node."""
        best = self.predict_proba(X, edge_index, edge_weight).argmax(1)
        return self.classes_[best]

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        edge_index: Any = None,
        edge_weight: Any = None,
    ) -> float:
        """The accuracy on the labeled nodes."""
        y, answers = np.asarray(y), self.predict(X, edge_index, edge_weight)
        known = has_label(y, edge_index)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(y[known], answers[known], sample_weight=weights))

    @staticmethod
    def _fit_many(estimators: Sequence[NetworkEstimator], data: Sequence[Any]) -> None:
        raise NotBatchableError("networks on a graph are trained one by one")

    def _nodes(self, X: np.ndarray, y: np.ndarray, sample_weight: Any, known: np.ndarray) -> Arrays:
        """Numbers, class indices and weights of the labeled nodes."""
        labels = encoded(y[known], self.classes_)
        weights = example_weights(sample_weight, X)[known]
        weights = with_class_weight(weights, self.class_weight, labels, self.classes_)
        return as_tensors(*counted(weights, np.flatnonzero(known), labels))

    @contextmanager
    def _on(self, graph: Graph) -> Generator[None]:
        """Let the networks see a graph."""
        self._graph = graph
        if hasattr(self, "modules_"):
            self.modules_ = [OnGraph(network, graph) for network in self.modules_]
        try:
            yield
        finally:
            del self._graph
            if hasattr(self, "modules_"):
                self.modules_ = [getattr(network, "network", network) for network in self.modules_]

    def _network(self, seed: int, x: Tensor, outputs: int) -> nn.Module:
        return OnGraph(super()._network(seed, self._graph.x, outputs), self._graph)

    def _build(self, inputs: int, outputs: int) -> GCN:
        hidden = [int(width) for width in np.atleast_1d(self.hidden_layer_sizes)]
        return GCN(inputs, hidden, outputs, self.dropout)

    def _settings(self, examples: int, seed: int) -> Settings:
        if self.batch_size != "auto":
            raise InputError("a batch is the whole graph; leave out `batch_size`")
        return replace(super()._settings(examples, seed), batch_size=examples)


def has_label(y: np.ndarray, edge_index: Any) -> np.ndarray:
    """Which nodes have a label: all without edges, else those whose y is not -1."""
    if edge_index is None or y.dtype.kind not in "iuf":
        return np.ones(len(y), dtype=bool)
    known = y != UNLABELED
    if not known.any():
        raise InputError("expected some labeled nodes, got y = -1 for all of them")
    return known


def as_graph(X: np.ndarray, edge_index: Any, edge_weight: Any) -> Graph:
    """The nodes of X and their edges; none if there is no edge_index."""
    edges = np.zeros((2, 0), dtype=np.int64) if edge_index is None else np.asarray(edge_index)
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            "expected `edge_index` (2, edges), the rows that are source and target of each edge, "
            f"got {edges.dtype} {edges.shape}"
        )
    x = tensor(X)
    weight = None if edge_weight is None else torch.tensor(np.asarray(edge_weight), dtype=x.dtype)
    return Graph(x, torch.tensor(edges, dtype=torch.int64), edge_weight=weight)
