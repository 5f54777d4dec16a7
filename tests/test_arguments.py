"""The checked door: a signature is enforced, and a call that fails is explained."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, NonNegative, Positive, Rate, Share, checked, fits
from chainrule.errors import InputError

NUMBERS = st.integers() | st.floats()


@checked
class Layer(nn.Module):
    """All kinds of arguments that constructors have."""

    def __init__(
        self,
        inputs: Count,
        hidden: Sequence[Count] = (),
        dropout: Rate | Sequence[Rate] = 0.0,
        norm: str | None = None,
        size: tuple[int, int] = (1, 1),
        activation: Callable[[Tensor], Tensor] = torch.tanh,
        bias: bool = True,
    ):
        super().__init__()
        self.linear, self.activation = nn.Linear(inputs, 2, bias), activation

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch m"]:
        return self.activation(self.linear(x))

    def scaled(self, x: Float[Tensor, "batch n"], factor: Positive) -> Float[Tensor, "batch m"]:
        return self(x) * factor


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inputs": 0}, "Layer: `inputs` must be a whole number of at least 1, got 0"),
        ({"inputs": 3.0}, "got 3.0"),
        ({"inputs": True}, "got True"),
        ({"inputs": None}, "got None"),
        ({"inputs": 10**30}, "Layer cannot take `inputs` 1000"),
        ({"hidden": "ab"}, "`hidden` must be a sequence, each a whole number of at least 1"),
        ({"hidden": [3, -1]}, r"got \[3, -1\]"),
        ({"dropout": 1.5}, "a number from 0 to below 1 or a sequence"),
        ({"dropout": [0.1, math.nan]}, r"got \[0.1, nan\]"),
        ({"norm": 3}, "`norm` must be a string or None, got 3"),
        ({"size": (1, 2, 3)}, "`size` must be a sequence of 2, each a whole number"),
        ({"activation": "relu"}, "`activation` must be a function, got 'relu'"),
        ({"bias": 1}, "`bias` must be True or False, got 1"),
    ],
)
def test_a_constructor_refuses_what_its_signature_rules_out(
    wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Layer(**({"inputs": 3} | wrong))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(4, 2), r"Layer cannot take `x` float32 of shape \(4, 2\): .*multiplied"),
        (torch.zeros(2), r"`x` must be a float tensor of shape \(batch, n\), got float32 of shape"),
        (torch.zeros(4, 3, dtype=torch.long), r"got int64 of shape \(4, 3\)"),
        ([[1.0, 2.0, 3.0]], r"got \[\[1.0"),
        (None, "got None"),
    ],
)
def test_a_forward_pass_that_fails_says_what_it_takes(x: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Layer(3)(x)


def test_methods_have_the_same_door() -> None:
    layer, x = Layer(3), torch.zeros(4, 3)
    assert torch.equal(layer.scaled(x, factor=2), 2 * layer(x))
    with pytest.raises(InputError, match=r"Layer.scaled: `factor` must be a number above 0, got 0"):
        layer.scaled(x, 0)


def test_a_missing_argument_is_left_to_python() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'inputs'"):
        Layer()  # type: ignore[call-arg]


def test_the_cause_of_a_failure_is_kept() -> None:
    with pytest.raises(InputError) as caught:
        Layer(3)(torch.zeros(4, 2))
    assert isinstance(caught.value.__cause__, RuntimeError)


@given(NUMBERS)
def test_ranges_hold_exactly_the_numbers_they_name(value: float) -> None:
    whole, finite = isinstance(value, int), math.isfinite(value)
    assert fits(value, Count) == (whole and value >= 1)
    assert fits(value, Natural) == (whole and value >= 0)
    assert fits(value, Positive) == (finite and value > 0)
    assert fits(value, NonNegative) == (finite and value >= 0)
    assert fits(value, Share) == (finite and 0 <= value <= 1)
    assert fits(value, Rate) == (finite and 0 <= value < 1)


@checked
def stacked(*rows: Tensor, repeat: Count = 1) -> Tensor:
    return torch.cat([*rows] * repeat)


def test_arguments_after_a_star_are_those_with_their_name() -> None:
    assert len(stacked(torch.zeros(2), torch.zeros(3), repeat=2)) == 10
    with pytest.raises(InputError, match="stacked: `repeat` must be a whole number"):
        stacked(torch.zeros(2), repeat=0)
