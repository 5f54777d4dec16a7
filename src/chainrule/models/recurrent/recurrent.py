"""The interface of every recurrent layer: a sequence and a state in, a sequence and a state out.

    z_t = F(z_{t-1}, x_t),   y_t = G(z_t),   z_0 = 0

A sequence may be fed in chunks, each with the state returned for the chunk before; the outputs are
the same, and chunks of one step need constant memory.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.nn.sequences import check_lengths, last_valid, zero_padding

State = Tensor | tuple[Tensor, ...]
"""The state of a layer: one tensor or several, batch first."""


@checked
class Recurrent(nn.Module):
    """Base class of the recurrent layers; a subclass defines `unroll`, or `forward` itself.

        z_t = F(z_{t-1}, x_t),   y_t = G(z_t),   z_0 = 0

    Calling a layer with (x, state, lengths) returns (outputs, state):

        x        (batch, steps, input_size)
        state    of the step before x; None for z_0 = 0
        lengths  valid steps of each row; None if all are valid
        outputs  (batch, steps, hidden_size), zero after each row's length
        state    after each row's last valid step

    Args:
        input_size: Features of each step.
        hidden_size: Features of each output.
        state_shapes: Shape of each state tensor without the batch; one of
            (hidden_size,) by default.

    >>> import torch
    >>> from chainrule.models.recurrent import Recurrent
    >>> class Sum(Recurrent):
    ...     def unroll(self, x, *state):
    ...         z = state[0][:, None] + x.cumsum(1)
    ...         return z, (z,)
    >>> outputs, state = Sum(1, 1)(torch.ones(1, 3, 1))
    >>> outputs.flatten().tolist(), state.item()
    ([1.0, 2.0, 3.0], 3.0)
    """

    input_size: int
    hidden_size: int
    state_shapes: tuple[tuple[int, ...], ...]
    complex_state = False
    unroll: Callable[..., tuple[Tensor, tuple[Tensor, ...]]]
    """(x, state …) ↦ outputs (batch, steps, hidden_size), and each state tensor at every step."""

    def __init__(
        self, input_size: Count, hidden_size: Count, state_shapes: Sequence[tuple[Count, ...]] = ()
    ):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.state_shapes = tuple(state_shapes) or ((hidden_size,),)

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        outputs, trajectories = self.unroll(x, *self.starting_state(x, state))
        after = tuple(last_valid(trajectory, lengths) for trajectory in trajectories)
        return zero_padding(outputs, lengths), pack_state(after)

    def initial_state(self, batch: int, like: Tensor) -> State:
        """z_0 = 0, with the device and precision of `like`."""
        dtype = like.dtype.to_complex() if self.complex_state else like.dtype
        return pack_state(
            tuple(like.new_zeros((batch, *shape), dtype=dtype) for shape in self.state_shapes)
        )

    def starting_state(self, x: Tensor, state: State | None) -> tuple[Tensor, ...]:
        """The tensors of the given state after a check of their shapes, or of z_0."""
        zero = state_tensors(self.initial_state(x.shape[0], x))
        if state is None:
            return zero
        given, expected = ([tuple(t.shape) for t in s] for s in (state_tensors(state), zero))
        if given != expected:
            raise InputError(
                f"expected a state of shapes {expected}, got {given}; pass the state that this "
                "layer returned for the same batch"
            )
        return state_tensors(state)

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        """(batch, hidden_size): the output that has seen the whole sequence, the last valid one."""
        return last_valid(outputs, lengths)

    def check_input(self, x: Tensor, lengths: Tensor | None) -> None:
        """Raise an error unless x is (batch, steps, input_size) and the lengths fit."""
        if x.ndim != 3 or x.shape[2] != self.input_size or not x.shape[1]:
            raise InputError(
                f"expected sequences of shape (batch, steps, {self.input_size}) with one step or "
                f"more, got {tuple(x.shape)}"
            )
        check_lengths(lengths, *x.shape[:2])


def state_tensors(state: State) -> tuple[Tensor, ...]:
    """The tensors of a state."""
    return (state,) if isinstance(state, Tensor) else state


def pack_state(tensors: tuple[Tensor, ...]) -> State:
    """A state of these tensors; a single tensor is a state by itself."""
    return tensors[0] if len(tensors) == 1 else tensors
