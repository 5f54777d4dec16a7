"""Derivatives written out: backpropagation, co-states, forward mode, curvature, computation graphs.

backpropagation    the δ-recursion of a fully connected network (reverse mode)
costate            the same for a chain of any layers
forward_mode       derivatives along one direction
curvature          Hessian-vector products, the largest curvature, gradient descent
newton             Newton's method and critical points of any kind, for few weights
landscape          the loss on a plane through weight space
computation_graph  the graph of an expression with all values and gradients
"""

from chainrule.autodiff.backpropagation import (
    Layer,
    delta_sigmoid,
    delta_softmax,
    delta_squared,
    delta_squared_sigmoid,
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
from chainrule.autodiff.landscape import filter_normalized, plane, principal_directions
from chainrule.autodiff.newton import critical_points, newton

__all__ = [
    "Block",
    "Graph",
    "Layer",
    "Node",
    "automatic",
    "costates",
    "critical_points",
    "delta_sigmoid",
    "delta_softmax",
    "delta_squared",
    "delta_squared_sigmoid",
    "dense",
    "directional_derivative",
    "filter_normalized",
    "flattened",
    "forward",
    "gradient_descent",
    "gradients",
    "hessian_vector",
    "largest_curvature",
    "newton",
    "plane",
    "principal_directions",
    "safe_rate",
    "states",
    "tangents",
    "trace",
]
