"""Derivatives written out: backpropagation, co-states, forward mode, curvature, computation graphs.

backpropagation    the δ-recursion of a fully connected network (reverse mode)
costate            the same for a chain of any layers
forward_mode       derivatives along one direction
curvature          Hessian-vector products, the largest curvature, gradient descent
computation_graph  the graph of an expression with all values and gradients
"""

from chainrule.autodiff.backpropagation import (
    Layer,
    delta_sigmoid,
    delta_softmax,
    delta_squared,
    forward,
    gradients,
)
from chainrule.autodiff.computation_graph import Graph, Node, trace
from chainrule.autodiff.costate import Block, automatic, costates, dense, states
from chainrule.autodiff.curvature import (
    flattened,
    gradient_descent,
    hessian_vector,
    largest_curvature,
    safe_rate,
)
from chainrule.autodiff.forward_mode import directional_derivative, tangents

__all__ = [
    "Block",
    "Graph",
    "Layer",
    "Node",
    "automatic",
    "costates",
    "delta_sigmoid",
    "delta_softmax",
    "delta_squared",
    "dense",
    "directional_derivative",
    "flattened",
    "forward",
    "gradient_descent",
    "gradients",
    "hessian_vector",
    "largest_curvature",
    "safe_rate",
    "states",
    "tangents",
    "trace",
]
