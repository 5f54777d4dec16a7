"""Activations by closed form, and their gradients by exercise."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.nn.activations import ACTIVATIONS, activation

z = torch.linspace(-4, 4, 81, dtype=torch.float64)
BY_HAND = {
    "step": lambda z: float(z > 0),
    "identity": lambda z: z,
    "sigmoid": lambda z: 1 / (1 + math.exp(-z)),
    "tanh": lambda z: 2 / (1 + math.exp(-2 * z)) - 1,
    "relu": lambda z: max(0, z),
    "leaky_relu": lambda z: max(0.01 * z, z),
    "softplus": lambda z: math.log(1 + math.exp(z)),
    "gelu": lambda z: z * 0.5 * (1 + math.erf(z / math.sqrt(2))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_its_formula(name: str) -> None:
    expected = torch.tensor([BY_HAND[name](float(v)) for v in z], dtype=torch.float64)
    torch.testing.assert_close(activation(name)(z), expected)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_keeps_the_shape_and_type(name: str) -> None:
    x = torch.randn(2, 3, 4)
    assert activation(name)(x).shape == x.shape
    assert activation(name)(x).dtype == x.dtype


def gradient(name: str, value: float) -> float:
    x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    activation(name)(x).backward()
    assert x.grad is not None
    return x.grad.item()


@given(st.floats(-100, 100))
def test_the_step_has_no_gradient_anywhere(value: float) -> None:
    assert gradient("step", value) == 0


@given(st.floats(30, 700))
def test_the_sigmoid_saturates_and_the_relu_does_not(value: float) -> None:
    assert gradient("sigmoid", value) < 1e-12
    assert gradient("relu", value) == 1


def test_the_step_is_off_at_zero() -> None:
    assert activation("step")(torch.zeros(1)).item() == 0


def test_an_unknown_activation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no activation 'swish'.*relu"):
        activation("swish")


def test_dashes_count_as_underscores() -> None:
    assert activation("leaky-relu") is ACTIVATIONS["leaky_relu"]
