"""What every recurrent layer is: a sequence and a state in, a sequence and a state out.

    z_t = F(z_{t-1}, x_t),   y_t = G(z_t),   z_0 = 0

`layer(x, state, lengths)` takes x of shape (batch, steps, inputs) and returns the outputs (batch,
steps, width) and the state after each row's last valid step. Fed piece by piece, each time with the
state that came back, it gives the same outputs: with pieces of one step, in constant memory. Rows
may have different `lengths`, with any padding behind them: the outputs there are zero.
"""

from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.sequences import check_lengths, last, without_padding

State = Tensor | tuple[Tensor, ...]
"""What a layer remembers: one tensor or a few, batch first."""


class Recurrent(nn.Module):
    """A layer that reads from left to right; `unroll` is its equation."""

    inputs: int
    width: int
    states: tuple[tuple[int, ...], ...]
    """Shape of each tensor of the state, without the batch."""
    complex_state = False

    def __init__(self, inputs: int, width: int, states: Sequence[tuple[int, ...]] = ()):
        super().__init__()
        if inputs < 1 or width < 1:
            raise InputError(f"a layer needs inputs and units, got {inputs} and {width}")
        self.inputs, self.width, self.states = inputs, width, tuple(states) or ((width,),)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Outputs (batch, steps, width), and for each tensor of the state its values over time."""
        raise NotImplementedError

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        outputs, courses = self.unroll(x, *self.begin(x, state))
        after = tuple(last(course, lengths) for course in courses)
        return without_padding(outputs, lengths), together(after)

    def initial(self, batch: int, like: Tensor) -> State:
        """z_0 = 0, on the device and with the precision of `like`."""
        dtype = like.dtype.to_complex() if self.complex_state else like.dtype
        return together(
            tuple(like.new_zeros((batch, *shape), dtype=dtype) for shape in self.states)
        )

    def begin(self, x: Tensor, state: State | None) -> tuple[Tensor, ...]:
        """The tensors of the given state, which must fit, or those of the initial one."""
        zero = parts(self.initial(len(x), x))
        if state is None:
            return zero
        given, expected = ([tuple(t.shape) for t in s] for s in (parts(state), zero))
        if given != expected:
            raise InputError(
                f"expected a state of shapes {expected}, got {given}; hand on the state that the "
                "same layer returned for the same batch"
            )
        return parts(state)

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        """(batch, width): what the outputs say of the whole sequence, the last valid one."""
        return last(outputs, lengths)

    def check(self, x: Tensor, lengths: Tensor | None) -> None:
        """Sequences of one step or more with as many inputs as the layer takes."""
        if x.ndim != 3 or x.shape[2] != self.inputs or not x.shape[1]:
            raise InputError(
                f"expected sequences of shape (batch, steps, {self.inputs}) with one step or more, "
                f"got {tuple(x.shape)}"
            )
        check_lengths(lengths, *x.shape[:2])


def parts(state: State) -> tuple[Tensor, ...]:
    """The tensors of a state."""
    return (state,) if isinstance(state, Tensor) else state


def together(tensors: tuple[Tensor, ...]) -> State:
    """A state of these tensors: a single one stands for itself."""
    return tensors[0] if len(tensors) == 1 else tensors
