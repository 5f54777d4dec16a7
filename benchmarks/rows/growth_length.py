"""Growth with the length of a sequence: layers forward and backward, batch 1, width 128."""

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.suite.contract import Growth, Line
from benchmarks.suite.tuning import tuned

WIDTH, HEADS, WINDOW = 128, 4, 64
Unit = Callable[[], object]


def stepping(layer: nn.Module, length: int) -> Unit:
    tuned()
    x = torch.randn(1, length, WIDTH)

    def unit() -> None:
        layer.zero_grad(set_to_none=True)
        output = layer(x)
        (output[0] if isinstance(output, tuple) else output).sum().backward()

    return unit


def full(length: int) -> Unit:
    from chainrule.nn.attention import SelfAttention

    return stepping(SelfAttention(WIDTH, HEADS), length)


def windowed(length: int) -> Unit:
    from chainrule.models.attention import WindowedAttention

    return stepping(
        WindowedAttention(hidden_size=WIDTH, num_heads=HEADS, window=WINDOW, global_tokens=1),
        length,
    )


def linear(length: int) -> Unit:
    from chainrule.models.attention import LinearAttention

    return stepping(LinearAttention(hidden_size=WIDTH, num_heads=HEADS, causal=True), length)


def recurrent(kind: str) -> Callable[[int], Unit]:
    def build(length: int) -> Unit:
        from chainrule.models import recurrent

        return stepping(getattr(recurrent, kind)(WIDTH, WIDTH), length)

    return build


def lengths(largest: int) -> list[int]:
    return [128, *(2**k for k in range(8, 18, 2) if 2**k <= largest)]


ROW = Growth(
    axis="steps",
    lines={
        "full attention": Line(full, [128, 256, 1024, 2048, 4096, 8192], 2.0, 1.0),
        f"window of {WINDOW}": Line(windowed, lengths(16_384), 1.0, 1.0),
        "linear attention, causal": Line(linear, lengths(16_384), 1.0, 1.0),
        "LSTM": Line(recurrent("LSTM"), lengths(16_384), 1.0, 1.0),
        "minGRU": Line(recurrent("MinGRU"), lengths(65_536), 1.0, 1.0),
        "LRU": Line(recurrent("LRU"), lengths(65_536), 1.0, 1.0),
        "selective (Mamba's scan)": Line(recurrent("Selective"), lengths(65_536), 1.0, 1.0),
    },
    tiny=(8, 16),
)
