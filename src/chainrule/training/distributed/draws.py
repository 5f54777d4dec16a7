"""Random numbers of a shared batch: each process draws those of the whole batch and keeps its rows.

    m = mask of all b rows,   rank r uses m[start : stop]

So dropout, noise and hidden words are those of one process. What a model draws is told apart by its
shape: a tensor that begins with the rows of the batch, or a multiple of them, belongs to the batch;
one of the shape of a parameter is noise of the weights, and any other is equal in all processes.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from chainrule.errors import InputError
from chainrule.nn.dropout import MASKS, mask
from chainrule.shares import SHARE, Share

aten = torch.ops.aten
FILLS = {
    aten.bernoulli_,
    aten.cauchy_,
    aten.exponential_,
    aten.geometric_,
    aten.log_normal_,
    aten.normal_,
    aten.random_,
    aten.uniform_,
}
LIKE = {aten.rand_like, aten.randn_like, aten.randint_like}
SIZED = {aten.rand, aten.randn, aten.randint}
BY_VALUE = {aten.bernoulli, aten.binomial, aten.multinomial, aten.normal, aten.poisson}
KNOWN = FILLS | LIKE | SIZED | BY_VALUE


class SharedDraws(TorchDispatchMode):
    """Replaces what is drawn for the rows of a share by its rows of a draw for the whole batch.

    Args:
        share: the rows.
        model: its parameters tell noise of the weights from that of the batch.
    """

    def __init__(self, share: Share, model: nn.Module):
        super().__init__()
        self.whole, self.model, self.paused, self.needed = share, model, False, False

    @cached_property
    def weights(self) -> set[tuple[int, ...]]:
        """The shapes of the parameters."""
        return {tuple(p.shape) for p in self.model.parameters()}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        packet = func.overloadpacket
        if packet not in KNOWN or self.paused or kwargs.get("generator") is not None:
            return func(*args, **kwargs)
        self.needed = True
        if packet in SIZED:
            place = [a.name for a in func._schema.arguments].index("size")
            return self.factory(func, args, kwargs, place)
        if packet is aten.multinomial and args[0].ndim == 1:
            return self.factory(func, args, kwargs, 1)
        by_value = packet in BY_VALUE or any(isinstance(a, Tensor) for a in args[1:])
        rows = self.rows(args[0].shape)
        if self.of_weights(packet, args[0]):
            return func(*args, **kwargs)
        if rows is None:
            if packet is aten.bernoulli_:
                self.check_dropped(args[0].shape)
            return func(*args, **kwargs)
        if by_value:
            raise InputError(
                f"the model draws by {packet.__name__}, whose values depend on the rows: several "
                "processes cannot draw it as one would; train in one process, or draw by rand"
            )
        whole = empty(rows[0], args[0])
        drawn = func(whole, *args[1:], **kwargs)[rows[1]]
        return args[0].copy_(drawn) if packet in FILLS else drawn.clone()

    def factory(self, func: Any, args: tuple[Any, ...], kwargs: Any, place: int) -> Any:
        """A new tensor of some size."""
        size = args[place]
        shape = (size,) if isinstance(size, int) else size
        rows = self.rows(shape)
        if rows is None or tuple(shape) in self.weights:
            return func(*args, **kwargs)
        whole = rows[0][0] if isinstance(size, int) else rows[0]
        return func(*args[:place], whole, *args[place + 1 :], **kwargs)[rows[1]].clone()

    @property
    def share(self) -> Share:
        """The rows, or the elements that a layer has packed from them."""
        return SHARE.get() or self.whole

    def of_weights(self, packet: Any, t: Tensor) -> bool:
        """Whether a draw is noise of the weights; dropout is that of the batch if it can be."""
        if packet in LIKE:
            own = (getattr(p, "_local_tensor", p) for p in self.model.parameters())
            return any(t.data_ptr() == p.data_ptr() for p in own)  # gathered ones move
        if packet is aten.bernoulli_ and self.rows(t.shape) is not None:
            return False
        return tuple(t.shape) in self.weights

    def rows(self, shape: Any) -> tuple[list[int], slice] | None:
        """The shape for the whole batch and the place of this share; None for other tensors."""
        n = self.share.rows
        if not shape or (shape[0] % n if n else shape[0]):
            return None
        each = shape[0] // n if n else 1
        place = slice(self.share.start * each, self.share.stop * each)
        return [self.share.total * each, *shape[1:]], place

    def check_dropped(self, shape: Any) -> None:
        """Refuse dropout of what was packed from rows: whose entries they are is not known."""
        if len(shape) > 1 and shape[0] > 1:
            raise InputError(
                f"dropout of a tensor of shape {tuple(shape)}, whose first axis is no multiple of "
                f"the {self.share.rows} rows of this process: several processes cannot draw it as "
                "one would; keep the batch first, drop out before rows are packed, or train in one "
                "process"
            )


def empty(shape: list[int], like: Tensor) -> Tensor:
    """A tensor of this shape in the memory layout of another, which decides the order of draws."""
    last = like.ndim == 4 and like.is_contiguous(memory_format=torch.channels_last)
    layout = torch.channels_last if last else torch.contiguous_format
    return torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=layout)


@contextmanager
def sharing(share: Share, model: nn.Module, watched: bool) -> Iterator[SharedDraws]:
    """The model sees the rows of a share, and every draw is the one of the whole batch.

    watched: whether draws other than those of the library's dropout are looked for.
    """
    mode = SharedDraws(share, model)

    def dropped(h: Tensor, rate: float) -> Tensor:
        rows = mode.rows(h.shape)
        if rate == 0:
            return h.new_ones(())
        if rows is None:
            mode.check_dropped(h.shape)
            return mask(h, rate)
        mode.paused = True
        try:
            return mask(h.new_empty(()).expand(rows[0]), rate)[rows[1]]
        finally:
            mode.paused = False

    with ExitStack() as stack:
        stack.callback(MASKS.reset, MASKS.set(dropped))
        stack.callback(SHARE.reset, SHARE.set(share))
        if watched:
            stack.enter_context(mode)
        yield mode
