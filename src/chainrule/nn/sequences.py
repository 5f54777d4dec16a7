"""Sequences of different lengths in one batch, padded on the right.

A batch of sequences is a tensor (batch, steps, …) and the number of valid steps of each row,
`lengths`; what stands behind them is padding. None says that every row is valid to its end.
Notes: J 5, A 2.3.
"""

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from chainrule.errors import InputError

Lengths = Int[Tensor, " batch"]


def mask(lengths: Lengths, steps: int) -> Bool[Tensor, "batch steps"]:
    """True where t < length: the valid steps."""
    return torch.arange(steps, device=lengths.device) < lengths[:, None]


def without_padding(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch steps *rest"]:
    """x with zeros behind each row's length."""
    if lengths is None:
        return x
    valid = mask(lengths, x.shape[1])
    return x.masked_fill(~valid.view(*valid.shape, *[1] * (x.ndim - 2)), 0)


def last(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch *rest"]:
    """Each row's entry at its last valid step."""
    if lengths is None:
        return x[:, -1]
    return x[torch.arange(len(x), device=x.device), lengths - 1]


def turned_round(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch steps *rest"]:
    """The valid part of each row from its end to its start; the padding stays where it is."""
    if lengths is None:
        return x.flip(1)
    t = torch.arange(x.shape[1], device=x.device)
    mirrored = torch.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)
    return x.gather(1, mirrored.view(*mirrored.shape, *[1] * (x.ndim - 2)).expand_as(x))


def check_lengths(lengths: Tensor | None, batch: int, steps: int) -> None:
    """One length from 1 to the number of steps for each row."""
    if lengths is None:
        return
    if lengths.shape != (batch,) or lengths.is_floating_point():
        raise InputError(
            f"expected one whole number for each of the {batch} sequences as lengths, got "
            f"{str(lengths.dtype).removeprefix('torch.')} of shape {tuple(lengths.shape)}"
        )
    if lengths.numel() and not (lengths.min() >= 1 and lengths.max() <= steps):
        raise InputError(
            f"expected lengths from 1 to {steps}, the steps of the batch, got "
            f"{int(lengths.min())} to {int(lengths.max())}; leave empty sequences out"
        )


def packed(x: Tensor, lengths: Lengths | None) -> Tensor | PackedSequence:
    """As torch's recurrent kernels take rows of different lengths."""
    if lengths is None:
        return x
    return pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)


def unpacked(y: Tensor | PackedSequence, steps: int) -> Tensor:
    """Back to (batch, steps, …), with zeros behind each row's length."""
    if isinstance(y, Tensor):
        return y
    return pad_packed_sequence(y, batch_first=True, total_length=steps)[0]
