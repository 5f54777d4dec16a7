"""The cost of a network: parameters, multiply-adds and output shapes, layer by layer.

    dense          (n + 1) m parameters           n m multiply-adds                     per example
    convolution    (c k² + 1) m parameters        c k² m multiply-adds for each of its output pixels

Shared weights cost parameters once and multiply-adds at every pixel. The counts are taken from the
operations of a forward pass, so they hold for any model; sums, norms and activations are not
counted, as is usual in the literature.

    A 2.1: two hidden layers as wide as a color image, n = 256 · 256 · 3 = 196,608:
           n² + n² + n + n = 77,309,804,544 parameters          dense_parameters((n, n, n))
           gray, n = 65,536:  8,590,065,664
           64 filters of 3×3 on the same color image: 1,792    convolution_parameters(3, 64, 3)

A's "most of the learnable parameters in modern models (e.g. ResNets) live in the dense layers" does
not hold: in ResNet-50 they are 2,049,000 of 25,557,032. Notes: A 2.1, L "Why convolutions?".
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from chainrule.arguments import checked

FLOP_FORMULAS: dict[Any, Callable[..., int]] = {
    torch.ops.aten.mv: lambda matrix, vector, **_: 2 * matrix[0] * matrix[1],
    torch.ops.aten.dot: lambda one, other, **_: 2 * one[0],
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: lambda q, k, v, *_, **__: (
        sdpa_flop_count(q, k, v)
    ),
    torch.ops.aten.mkldnn_rnn_layer: lambda x, W, U, *_, **__: (
        2 * x[0] * x[1] * W[0] * (W[1] + U[1])  # steps, examples, gates, inputs and units
    ),
}
"""Operations that torch's counter does not know: shapes ↦ multiplications and additions."""


@dataclass(frozen=True)
class LayerProfile:
    """The cost of one layer; `output` (a shape) and `multiply_adds` are those of one example."""

    name: str
    kind: str
    output: tuple[int, ...] | None
    parameters: int
    multiply_adds: int


@checked
def profile(model: nn.Module, batch: Tensor) -> list[LayerProfile]:
    """The layers that compute, in the order of their calls; their costs sum to the model's.

    A submodule that is never called itself counts towards the one around it, which uses its
    weights. For a model without parameters, such as a Hopfield network, its buffers count.
    """
    outputs: dict[str, tuple[int, ...] | None] = {}
    counter = FlopCounterMode(display=False, custom_mapping=FLOP_FORMULAS)
    with evaluating(model), recorded_shapes(model, outputs), counter, torch.enable_grad():
        model(batch)  # without gradients torch's counter fails on weights that are passed on
    flops = {name: sum(each.values()) for name, each in counter.get_flop_counts().items()}
    kind = type(model).__name__
    spent = {n: flops.get(f"{kind}.{n}" if n else kind, 0) // 2 // len(batch) for n in outputs}
    own, parameters = Counter(spent), Counter[str]()
    for name in outputs:
        if name:
            own[called(parent(name), outputs)] -= spent[name]
    for name, learned in (dict(model.named_parameters()) or model.state_dict()).items():
        parameters[called(parent(name), outputs)] += learned.numel()
    outer = {called(parent(name), outputs) for name in outputs if name}
    rows = []
    for name, output in outputs.items():
        part = model.get_submodule(name)
        works = name not in outer and not isinstance(part, nn.Identity)
        if works or own[name] or parameters[name]:
            rows.append(
                LayerProfile(name, type(part).__name__, output, parameters[name], own[name])
            )
    return rows


def parent(name: str) -> str:
    """`layer1.0` for `layer1.0.conv1`, and the empty name of the model itself for `layer1`."""
    return name.rpartition(".")[0]


def called(name: str, outputs: Mapping[str, Any]) -> str:
    """The innermost submodule around a name, itself included, that was called."""
    return name if name in outputs else called(parent(name), outputs)


def merge_blocks(layers: Sequence[LayerProfile], max_rows: int) -> list[LayerProfile]:
    """The most detailed table of at most `max_rows` rows, in which a block may be one row."""
    deepest = max((layer.name.count(".") for layer in layers), default=0)
    for depth in range(deepest + 1, 0, -1):
        groups: dict[str, list[LayerProfile]] = {}
        for layer in layers:
            groups.setdefault(".".join(layer.name.split(".")[:depth]), []).append(layer)
        if len(groups) <= max_rows or depth == 1:
            break
    return [merged(name, group) for name, group in groups.items()] if layers else []


def merged(name: str, group: Sequence[LayerProfile]) -> LayerProfile:
    """The group as one row, with the output of its last layer."""
    if len(group) == 1:
        return group[0]
    return LayerProfile(
        name,
        f"{len(group)} layers",
        group[-1].output,
        sum(layer.parameters for layer in group),
        sum(layer.multiply_adds for layer in group),
    )


def dense_parameters(sizes: Sequence[int]) -> int:
    """Σ_l (d_{l-1} + 1) d_l."""
    return sum((n + 1) * m for n, m in pairwise(sizes))


def convolution_parameters(channels: int, filters: int, kernel: int) -> int:
    """(c k² + 1) m."""
    return (channels * kernel**2 + 1) * filters


@contextmanager
def recorded_shapes(model: nn.Module, outputs: dict[str, tuple[int, ...] | None]) -> Iterator[None]:
    """Fill `outputs` with the shape of each submodule's output, in the order of the calls."""
    names = {part: name for name, part in model.named_modules()}

    def enter(part: nn.Module, arguments: tuple[Any, ...]) -> None:
        outputs.setdefault(names[part], None)

    def leave(part: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        if isinstance(output, Tensor):
            outputs[names[part]] = tuple(output.shape[1:])

    hooks = [part.register_forward_pre_hook(enter) for part in names]
    hooks += [part.register_forward_hook(leave) for part in names]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode; afterwards each submodule returns to its own mode."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode
