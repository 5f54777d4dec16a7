"""McCulloch-Pitts units against truth tables."""

from itertools import product

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.connectionism.mcculloch_pitts import (
    McCullochPitts,
    logical_and,
    logical_nand,
    logical_not,
    logical_or,
    logical_xor,
    majority,
)


def table(inputs: int) -> Tensor:
    return torch.tensor(list(product([0.0, 1.0], repeat=inputs)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_gates_have_their_truth_tables(n: int) -> None:
    x = table(n)
    number = x.sum(1)
    for gate, expected in [
        (logical_and(n), number == n),
        (logical_or(n), number >= 1),
        (logical_nand(n), number < n),
        (majority(n), 2 * number > n),
    ]:
        assert torch.equal(gate(x)[:, 0], expected.float())


def test_not_inverts() -> None:
    assert logical_not()(table(1)).flatten().tolist() == [1, 0]


def test_three_units_with_weights_of_one_compute_xor() -> None:
    network = logical_xor()
    assert network(table(2)).flatten().tolist() == [0, 1, 1, 0]
    assert sum(layer.sigma.shape[0] for layer in network) == 3


def test_nands_alone_make_every_gate() -> None:
    x = table(2)
    twice = nn.Sequential(logical_nand(2), logical_not())
    assert torch.equal(twice(x), logical_and(2)(x))


def test_weights_and_inputs_of_other_values_are_refused() -> None:
    with pytest.raises(InputError, match="sigma"):
        McCullochPitts(torch.tensor([[0.5, 1.0]]), torch.ones(1))
    with pytest.raises(InputError, match="0 and 1"):
        logical_and(2)(torch.tensor([[0.5, 1.0]]))
