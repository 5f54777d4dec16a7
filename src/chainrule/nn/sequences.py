"""Sequences of different lengths in one batch, padded on the right.

A batch is a tensor (batch, steps, …) with `lengths`, the number of valid steps of each row; the
steps after them are padding. `lengths=None` means that every row is valid to its end. In a batch of
tokens, padding is token 0. Notes: J 5, A 2.3.
"""

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from chainrule.errors import InputError
from chainrule.shares import longest

PADDING = 0
Lengths = Int[Tensor, " batch"]


def valid_mask(lengths: Lengths, steps: int) -> Bool[Tensor, "batch steps"]:
    """True at the valid steps, t < length."""
    return torch.arange(steps, device=lengths.device) < lengths[:, None]


def zero_padding(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch steps *rest"]:
    """x with zeros after each row's length."""
    if lengths is None:
        return x
    valid = valid_mask(lengths, x.shape[1])
    return x.masked_fill(~valid.view(*valid.shape, *[1] * (x.ndim - 2)), 0)


def last_valid(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch *rest"]:
    """Each row's entry at its last valid step."""
    if lengths is None:
        return x[:, -1]
    return x[torch.arange(x.shape[0], device=x.device), lengths - 1]


def reverse(
    x: Shaped[Tensor, "batch steps *rest"], lengths: Lengths | None
) -> Shaped[Tensor, "batch steps *rest"]:
    """The valid steps of each row in reverse order; padding stays at the end."""
    if lengths is None:
        return x.flip(1)
    t = torch.arange(x.shape[1], device=x.device)
    mirrored = torch.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)
    return x.gather(1, mirrored.view(*mirrored.shape, *[1] * (x.ndim - 2)).expand_as(x))


def token_lengths(tokens: Int[Tensor, "batch steps"]) -> Lengths:
    """Number of tokens in each row that are not padding."""
    return (tokens != PADDING).sum(1)


def trim_padding(tokens: Int[Tensor, "batch steps"]) -> Int[Tensor, "batch shorter"]:
    """The rows cut to the length of the longest; a program that is exported keeps them whole."""
    if torch.compiler.is_compiling():
        return tokens
    return tokens[:, : longest(int(token_lengths(tokens).max()))]


def check_lengths(lengths: Tensor | None, batch: int, steps: int) -> None:
    """Raise an error unless each row has one length from 1 to the number of steps."""
    if lengths is None:
        return
    if lengths.shape != (batch,) or lengths.is_floating_point():
        raise InputError(
            f"expected one integer for each of the {batch} sequences as lengths, got "
            f"{str(lengths.dtype).removeprefix('torch.')} of shape {tuple(lengths.shape)}"
        )
    if lengths.numel() and not (lengths.min() >= 1 and lengths.max() <= steps):
        raise InputError(
            f"expected lengths from 1 to {steps}, the steps of the batch, got "
            f"{int(lengths.min())} to {int(lengths.max())}; leave empty sequences out"
        )


def pack(x: Tensor, lengths: Lengths | None) -> Tensor | PackedSequence:
    """The format in which torch's recurrent kernels take rows of different lengths."""
    if lengths is None:
        return x
    return pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)


def unpack(y: Tensor | PackedSequence, steps: int) -> Tensor:
    """Back to (batch, steps, …), with zeros after each row's length."""
    if isinstance(y, Tensor):
        return y
    return pad_packed_sequence(y, batch_first=True, total_length=steps)[0]
