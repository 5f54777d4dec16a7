"""A computation graph with the value and gradient of every node and the factor of every edge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Literal

import torch
from torch import Tensor

from chainrule.autodiff.computation_graph import Edge, Graph, trace
from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP
from chainrule.plots.computation_graph import LEAVES, Box, columns, levels, routed
from chainrule.registry import unknown
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.formula import formula

VARIABLES = ("a", "b", "c", "x", "y")
Inputs = dict[str, Tensor]
Example = tuple[Inputs, Callable[[Inputs], Tensor]]


@dataclass(frozen=True)
class Settings:
    """The expression and its numbers.

    Args:
        example: which expression.
        formula: of the example "formula", in a, b, c, x and y.
        values: numbers of inputs by name, such as w₁ or W.2; the others keep their defaults.
    """

    example: Literal["logistic", "mlp", "recurrent", "formula"] = "logistic"
    formula: Annotated[str, Range(1, 200)] = "(a + b) * (b + c)"
    values: dict = field(default_factory=dict)


def run(settings: Json) -> Activity:
    """Every message is a change of some settings."""
    known = dict(settings)
    while True:
        shown = traced(read(Settings, known))
        message = yield View(lambda shown=shown: shown, waiting=True)  # type: ignore[misc]
        known |= message or {}


def traced(chosen: Settings) -> Json:
    """The graph as JSON, with the inputs' numbers by name."""
    inputs, compute = example(chosen)
    numbers = changed(inputs, chosen.values)
    graph = trace(lambda: compute(inputs), inputs, jacobians=True)
    return {"inputs": numbers, **drawn(graph)}


def example(chosen: Settings) -> Example:
    if chosen.example == "formula":
        h = formula(chosen.formula, VARIABLES)
        used = [name for name in VARIABLES if name in chosen.formula]
        if not used:
            raise InputError(f"the formula must depend on one of {', '.join(VARIABLES)}")
        numbers = dict(zip(VARIABLES, (2.0, 1.0, 3.0, 0.5, -1.0), strict=True))
        return {name: scalar(numbers[name]) for name in used}, h
    examples = {"logistic": logistic_unit, "mlp": two_layers, "recurrent": recurrent_unit}
    return examples[chosen.example]()


def logistic_unit() -> Example:
    """ℓ = -log σ(w₁ x₁ + w₂ x₂ + b), the loss of an example of class 1."""
    numbers = {"w₁": 2.0, "x₁": -1.0, "w₂": -3.0, "x₂": -2.0, "b": -3.0}

    def compute(v: Inputs) -> Tensor:
        z = v["w₁"] * v["x₁"] + v["w₂"] * v["x₂"] + v["b"]
        return -torch.sigmoid(z).log()

    return {name: scalar(number) for name, number in numbers.items()}, compute


def recurrent_unit() -> Example:
    """z_t = tanh(u z_{t-1} + v x_t) for three steps, ℓ = (z₃ - y)²."""
    numbers = {"u": 1.2, "v": 0.8, "x₁": 1.0, "x₂": -0.5, "x₃": 0.25, "z₀": 0.5, "y": 1.0}

    def compute(v: Inputs) -> Tensor:
        z = v["z₀"]
        for x in ("x₁", "x₂", "x₃"):
            z = torch.tanh(v["u"] * z + v["v"] * v[x])
        return (z - v["y"]).square()

    return {name: scalar(number) for name, number in numbers.items()}, compute


def two_layers() -> Example:
    """The library's MLP with two hidden units, ℓ = ½ (f(x) - y)²."""
    model = MLP(2, [2], 1, activation="tanh").double()
    start = {
        "layers.0.weight": [[0.6, -0.4], [0.3, 0.9]],
        "layers.0.bias": [0.1, -0.2],
        "layers.1.weight": [[1.2, -0.7]],
        "layers.1.bias": [0.05],
    }
    model.load_state_dict({n: torch.tensor(v, dtype=torch.float64) for n, v in start.items()})
    names = ("W₁", "b₁", "W₂", "b₂")
    weights = {n: p.detach() for n, p in zip(names, model.parameters(), strict=True)}
    x, y = ([[1.0, -2.0]], [[0.5]])
    inputs = {"x": torch.tensor(x).double(), **weights, "y": torch.tensor(y).double()}

    def compute(v: Inputs) -> Tensor:
        parameters = dict(zip(start, (v[n] for n in names), strict=True))
        output = torch.func.functional_call(model, parameters, (v["x"],))
        return losses.squared(output, v["y"])

    return inputs, compute


def scalar(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def changed(inputs: Inputs, values: Mapping[str, object]) -> dict[str, float]:
    """Put numbers into the inputs in place; returns all numbers by name."""
    places = {
        name if tensor.numel() == 1 else f"{name}.{k + 1}": (tensor, k)
        for name, tensor in inputs.items()
        for k in range(tensor.numel())
    }
    for name, number in values.items():
        if name not in places:
            raise InputError(unknown("input", name[:40], list(places)))
        if not isinstance(number, int | float) or not abs(number) <= 100:
            raise InputError(f"{name} must be a number from -100 to 100, got {number!r}")
        tensor, k = places[name]
        tensor.view(-1)[k] = number
    return {name: tensor.reshape(-1)[k].item() for name, (tensor, k) in places.items()}


def drawn(graph: Graph) -> Json:
    """Nodes with their places, edges with their routes and Jacobians."""
    level = levels([node.operation in LEAVES for node in graph.nodes], graph.edges)
    routes, all_levels = routed(graph.edges, level)
    boxes = [Box("value")] * len(level) + [Box()] * (len(all_levels) - len(level))
    steps = [pair for route in routes for pair in pairwise(route)]
    across = columns(boxes, all_levels, steps)
    nodes = [
        {
            "name": node.name,
            "operation": node.operation,
            "shape": list(node.value.shape),
            "value": rounded(node.value),
            "gradient": None if node.gradient is None else rounded(node.gradient),
            "level": level[i],
            "place": rounded(across[i]),
        }
        for i, node in enumerate(graph.nodes)
    ]
    edges = [edge_json(graph, edge, route) for edge, route in zip(graph.edges, routes, strict=True)]
    via = [[all_levels[i], rounded(across[i])] for i in range(len(level), len(all_levels))]
    return {"nodes": nodes, "edges": edges, "via": via}


def edge_json(graph: Graph, edge: Edge, route: list[int]) -> Json:
    """From, to, the points between, and the local derivative as a matrix (result by argument)."""
    J = graph.jacobians.get(edge)
    argument = graph.nodes[edge[0]].value
    flat = None if J is None else rounded(J.reshape(-1, argument.numel()))
    return {"from": edge[0], "to": edge[1], "via": route[1:-1], "jacobian": flat}
