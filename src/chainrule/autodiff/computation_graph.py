"""The computation graph of an expression or a model, with the value and gradient of every node.

    v_i = f_i(v_j : j → i),    ∂ℓ/∂v_j = Σ_{i : j → i} [∂f_i/∂v_j]ᵀ ∂ℓ/∂v_i

Nodes are tensors: the named inputs, constants, and the result of each call to torch. An edge leads
from an argument to the result. `trace` records the values during the forward pass; one backward
pass of autograd adds the gradients.

    trace(lambda: losses.squared(model(x), y).sum(), {"x": x, **dict(model.named_parameters())})

A computation graph has no cycle; a recurrence appears unrolled over time. Notes: A 1.3.7.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode, resolve_name

from chainrule.arguments import checked
from chainrule.errors import InputError

Edge = tuple[int, int]
Call = Callable[[Tensor, Tensor], Tensor]  # (old argument, new argument) ↦ the operation's result


class Node(NamedTuple):
    """A tensor of the graph: an input, a constant, or the result of an operation.

    Args:
        name: As in `inputs`, or of the operation.
        operation: Name of the function of torch; empty for inputs.
        value: The tensor.
        gradient: ∂ Σ output / ∂ value; None where there is none.

    >>> import torch
    >>> x = torch.tensor(2.0)
    >>> trace(lambda: x * x, {"x": x}).nodes[0].name
    'x'
    """

    name: str
    operation: str
    value: Tensor
    gradient: Tensor | None = None

    def row(self) -> tuple[str, str, str, str, str]:
        """Name, operation, shape, value and gradient as text, for a figure or a table."""
        shape = "×".join(map(str, self.value.shape))
        gradient = "" if self.gradient is None else summary(self.gradient)
        return self.name, self.operation, shape, summary(self.value), gradient


@dataclass(frozen=True)
class Graph:
    """Nodes in order of computation, and edges (argument, result) as pairs of node indices.

    nodes: one per tensor.
    edges: those of the operations.
    jacobians: ∂f_i/∂v_j of every edge (j, i), shaped (*result, *argument), if they were wanted.

    >>> import torch
    >>> x = torch.tensor(2.0)
    >>> len(trace(lambda: x.exp() + x, {"x": x}).edges)
    3
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    jacobians: Mapping[Edge, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(0 <= end < len(self.nodes) for edge in self.edges for end in edge):
            raise InputError(
                f"an edge leads to a node that does not exist; there are {len(self.nodes)} nodes"
            )
        check_acyclic([node.name for node in self.nodes], self.edges)


@checked
def trace(
    compute: Callable[[], Tensor], inputs: Mapping[str, Tensor], jacobians: bool = False
) -> Graph:
    """The graph of compute(), with the gradient of the output's sum at every node.

    Args:
        compute: Evaluates the expression and returns a tensor.
        inputs: Names of the tensors that the expression depends on.
        jacobians: Also find the derivative of every operation by each argument; for small graphs.

    >>> import torch
    >>> x = torch.tensor(2.0)
    >>> trace(lambda: x * x, {"x": x}).nodes[0].gradient
    tensor(4.)
    """
    with requiring_gradients(inputs.values()):
        with Tape(inputs) as tape:
            output = compute()
        number = tape.numbers.get(id(output))
        if number is None:
            raise InputError("compute must return a tensor computed from the inputs")
        gradients = tape.gradients(number)
        local = tape.jacobians() if jacobians else {}
    nodes = [n._replace(gradient=g) for n, g in zip(tape.nodes, gradients, strict=True)]
    return pruned(nodes, tape.edges, local, number)


class Tape(TorchFunctionMode):
    """Records every call to torch whose result has a gradient."""

    def __init__(self, inputs: Mapping[str, Tensor]):
        super().__init__()
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.numbers: dict[int, int] = {}  # id of a tensor → index of its node
        self.places: list[GradientEdge | None] = []
        self.calls: dict[int, Call] = {}  # of the results
        self.alive: list[Tensor] = []  # ids are unique only among living tensors
        for name, tensor in inputs.items():
            self.record(tensor, name, "input")

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
                made = self.record(t, readable(func), readable(func))
                self.edges += [(source, made) for source in dict.fromkeys(sources)]
                if t is result:
                    self.calls[made] = partial(called, func, args, kwargs or {})
        return result

    def number(self, tensor: Tensor) -> int:
        """The index of the tensor's node; an unknown tensor becomes a constant."""
        known = self.numbers.get(id(tensor))
        return self.record(tensor, "constant", "constant") if known is None else known

    def record(self, tensor: Tensor, name: str, operation: str) -> int:
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

    def jacobians(self) -> dict[Edge, Tensor]:
        """∂f_i/∂v_j of every edge (j, i) between floating-point tensors."""
        found = {}
        for j, i in self.edges:
            argument, value = self.alive[j], self.nodes[j].value
            if value.is_floating_point() and i in self.calls:
                found[j, i] = jacobian(partial(self.calls[i], argument), value)
        return found


def called(
    func: Callable, args: Sequence[Any], kwargs: Mapping[str, Any], old: Tensor, new: Tensor
) -> Tensor:
    """func(*args, **kwargs) with one argument exchanged wherever it occurs."""

    def exchanged(value: Any) -> Any:
        if value is old:
            return new
        if isinstance(value, list | tuple):
            return type(value)(exchanged(part) for part in value)
        return value.detach() if isinstance(value, Tensor) else value

    return func(*map(exchanged, args), **{name: exchanged(v) for name, v in kwargs.items()})


@contextmanager
def requiring_gradients(inputs: Iterable[Tensor]) -> Iterator[None]:
    """Floating-point inputs require gradients inside, and as before afterwards."""
    switched = [t for t in inputs if t.is_floating_point() and not t.requires_grad]
    for t in switched:
        t.requires_grad_(True)
    try:
        with torch.enable_grad():
            yield
    finally:
        for t in switched:
            t.requires_grad_(False)


def pruned(
    nodes: Sequence[Node], edges: Sequence[Edge], jacobians: Mapping[Edge, Tensor], output: int
) -> Graph:
    """The part of the graph that the output depends on, renumbered."""
    needed = {output}
    for argument, result in sorted(set(edges), key=lambda edge: -edge[1]):
        if result in needed:
            needed.add(argument)
    place = {old: new for new, old in enumerate(sorted(needed))}
    kept = [(place[a], place[b]) for a, b in edges if b in needed]
    local = {(place[a], place[b]): J for (a, b), J in jacobians.items() if b in needed}
    return Graph([nodes[old] for old in sorted(needed)], kept, local)


def check_acyclic(names: Sequence[str], edges: Sequence[Edge]) -> None:
    """Raise an error that names the nodes of a cycle: backpropagation needs an acyclic graph."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for argument, result in edges:
        sorter.add(result, argument)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " → ".join(names[number] for number in error.args[1])
        raise InputError(
            f"a computation graph has no cycle, but found {cycle}; unroll the recurrence over time"
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
    """Up to three values, or mean ± standard deviation of more."""
    if tensor.numel() == 1:
        return f"{tensor.item():.4g}"
    if tensor.numel() <= 3:
        return "[" + ", ".join(f"{value:.3g}" for value in tensor.flatten().tolist()) + "]"
    return f"{tensor.double().mean():.3g} ± {tensor.double().std():.2g}"
