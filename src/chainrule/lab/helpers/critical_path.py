"""The critical path of whatever runs: how many products depend on each other.

    depth(x y) = 1 + max(depth x, depth y),   depth(x + y) = max(depth x, depth y),   an input: 0

Beside the memory of every tensor lies an array with the depth of each of its numbers. Every
operation that torch calls, views and results written in place included, updates it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = ("mul", "addcmul")
NEW = ("empty", "empty_like", "new_empty", "new_zeros", "zeros", "zeros_like")
JOINS = ("cat", "stack")
SAME = ("abs", "add", "clone", "copy")  # as deep as the deepest of their inputs


class Cost(NamedTuple):
    """The longest chain of products, and all products."""

    depth: int
    products: int


class CriticalPath(TorchDispatchMode):
    """Follows the depth of every number, and counts the products."""

    def __init__(self) -> None:
        super().__init__()
        self.products = 0
        self.depths: dict[int, Tensor] = {}
        self.kept: list[Tensor] = []  # so that no memory is used twice

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = operation(*arguments, **(options or {}))
        name = operation.overloadpacket.__name__.rstrip("_")
        if not isinstance(result, Tensor) or not result.is_floating_point():
            return result  # views, and tests whether numbers are finite
        if name in (*PRODUCTS, *JOINS, *SAME):
            self.follow(name, arguments, result)
        elif name in NEW:
            self.of(result)
        else:
            assert self.is_known(result), f"no rule for the depth of {name}"
        return result

    def follow(self, name: str, arguments: Sequence[Any], result: Tensor) -> None:
        """Set the depth of a result."""
        if name in JOINS:
            joined: Callable[..., Tensor] = getattr(torch, name)
            found = joined([self.of(t) for t in arguments[0]], *arguments[1:])
        else:
            inputs = arguments[1:2] if name == "copy" else arguments
            parts = (self.of(t).expand(result.shape) for t in inputs if isinstance(t, Tensor))
            found = torch.stack(list(parts)).amax(0) + (name in PRODUCTS)
        self.products += (name in PRODUCTS) * result.numel()
        self.of(result).copy_(found)

    def of(self, t: Tensor) -> Tensor:
        """The depths of a tensor's numbers, as a view of those of its memory."""
        memory = t.untyped_storage()
        if not self.is_known(t):
            self.depths[memory.data_ptr()] = torch.zeros(memory.nbytes() // t.element_size()).long()
            self.kept.append(t)
        return self.depths[memory.data_ptr()].as_strided(t.shape, t.stride(), t.storage_offset())

    def is_known(self, t: Tensor) -> bool:
        return t.untyped_storage().data_ptr() in self.depths


def critical_path(function: Callable[..., Tensor], *inputs: Tensor) -> Cost:
    """The cost of function(*inputs), whose inputs have depth 0."""
    with torch.no_grad(), CriticalPath() as path:
        for t in inputs:
            path.of(t)
        result = function(*inputs)
    return Cost(int(path.of(result).max()), path.products)
