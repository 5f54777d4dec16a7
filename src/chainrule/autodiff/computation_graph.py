"""The computation graph of an expression or a model, with the value and gradient of every node.

Nodes are tensors: the named inputs, the constants met on the way, and the result of each call to
torch. An edge leads from an argument to the result. Values are noted while the expression is
computed, gradients of the output follow by one backward sweep of autograd.

    trace(lambda: losses.squared(model(x), y).sum(), {"x": x, **dict(model.named_parameters())})

A computation graph has no cycle; a recurrence is drawn unrolled. Notes: A 1.3.7.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode, resolve_name

from chainrule.errors import InputError

Edge = tuple[int, int]


class Node(NamedTuple):
    """A tensor of the graph: an input, a constant, or the result of the operation in its name."""

    name: str
    operation: str
    value: Tensor
    gradient: Tensor | None = None

    def row(self) -> tuple[str, str, str, str, str]:
        """Name, operation, shape, value and gradient in words, for a drawing or a table."""
        shape = "×".join(map(str, self.value.shape))
        gradient = "" if self.gradient is None else summary(self.gradient)
        return self.name, self.operation, shape, summary(self.value), gradient


@dataclass(frozen=True)
class Graph:
    """Nodes in the order of computation, and edges (argument, result) between their numbers."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]

    def __post_init__(self) -> None:
        if not all(0 <= end < len(self.nodes) for edge in self.edges for end in edge):
            raise InputError(f"an edge leads to a node that is not among the {len(self.nodes)}")
        refuse_cycles([node.name for node in self.nodes], self.edges)


def trace(compute: Callable[[], Tensor], inputs: Mapping[str, Tensor]) -> Graph:
    """The graph of compute(), with the gradients of its sum at every node.

    inputs: the tensors to be named; their gradients are computed too.
    """
    with wanting_gradients(inputs.values()):
        with Tape(inputs) as tape:
            output = compute()
        number = tape.numbers.get(id(output))
        if number is None:
            raise InputError("the expression must return a tensor computed from the inputs")
        gradients = tape.gradients(number)
    nodes = [n._replace(gradient=g) for n, g in zip(tape.nodes, gradients, strict=True)]
    return pruned(nodes, tape.edges, number)


class Tape(TorchFunctionMode):
    """Notes every call to torch whose result has a gradient, as it was written."""

    def __init__(self, inputs: Mapping[str, Tensor]):
        super().__init__()
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.numbers: dict[int, int] = {}  # of the node that a tensor, by its id, now stands for
        self.places: list[GradientEdge | None] = []
        self.alive: list[Tensor] = []  # an id is a tensor's own only as long as it lives
        for name, tensor in inputs.items():
            self.note(tensor, name, "input")

    def __torch_function__(
        self,
        func: Callable,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        outputs = [t for t in tensors(result) if t.grad_fn is not None]
        if outputs:
            sources = [self.number(t) for t in tensors([*args, *(kwargs or {}).values()])]
            for t in outputs:
                made = self.note(t, readable(func), readable(func))
                self.edges += [(source, made) for source in dict.fromkeys(sources)]
        return result

    def number(self, tensor: Tensor) -> int:
        """The tensor's node; one that was never seen is a constant."""
        known = self.numbers.get(id(tensor))
        return self.note(tensor, "constant", "constant") if known is None else known

    def note(self, tensor: Tensor, name: str, operation: str) -> int:
        number = len(self.nodes)
        self.nodes.append(Node(name, operation, tensor.detach().clone()))
        self.numbers[id(tensor)] = number
        self.places.append(get_gradient_edge(tensor) if tensor.requires_grad else None)
        self.alive.append(tensor)
        return number

    def gradients(self, output: int) -> list[Tensor | None]:
        """∂ Σ output / ∂ node, for every node that has one."""
        top = self.places[output]
        if top is None:
            return [None] * len(self.nodes)
        places = [place for place in self.places if place is not None]
        ones = torch.ones_like(self.nodes[output].value)
        found = iter(torch.autograd.grad(top, places, ones, allow_unused=True))
        return [None if place is None else next(found) for place in self.places]


@contextmanager
def wanting_gradients(inputs: Iterable[Tensor]) -> Iterator[None]:
    """Real-valued inputs require gradients here, and afterwards again only where they did."""
    switched = [t for t in inputs if t.is_floating_point() and not t.requires_grad]
    for t in switched:
        t.requires_grad_(True)
    try:
        with torch.enable_grad():
            yield
    finally:
        for t in switched:
            t.requires_grad_(False)


def pruned(nodes: Sequence[Node], edges: Sequence[Edge], output: int) -> Graph:
    """The part of the graph that the output depends on, renumbered."""
    needed = {output}
    for argument, result in sorted(set(edges), key=lambda edge: -edge[1]):
        if result in needed:
            needed.add(argument)
    place = {old: new for new, old in enumerate(sorted(needed))}
    kept = [(place[a], place[b]) for a, b in edges if b in needed]
    return Graph([nodes[old] for old in sorted(needed)], kept)


def refuse_cycles(names: Sequence[str], edges: Sequence[Edge]) -> None:
    """A graph that runs in a circle has no backward sweep."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for argument, result in edges:
        sorter.add(result, argument)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " → ".join(names[number] for number in error.args[1])
        raise InputError(
            f"a computation graph has no cycle, but {circle} is one; unroll it over time"
        ) from None


def tensors(values: Any) -> list[Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, list | tuple):
        return [t for value in values for t in tensors(value)]
    return []


def readable(func: Callable) -> str:
    """The name of a torch function: add, linear, T."""
    parts = [p for p in (resolve_name(func) or "call").split(".") if p != "__get__"]
    return parts[-1].strip("_")


def summary(tensor: Tensor) -> str:
    """Up to three numbers themselves; of more, mean ± spread."""
    if tensor.numel() == 1:
        return f"{tensor.item():.4g}"
    if tensor.numel() <= 3:
        return "[" + ", ".join(f"{value:.3g}" for value in tensor.flatten().tolist()) + "]"
    return f"{tensor.double().mean():.3g} ± {tensor.double().std():.2g}"
