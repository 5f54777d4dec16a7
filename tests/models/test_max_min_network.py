"""Maxima of minima as ReLU networks: by hand, and by their definition."""

import pytest
import torch

from chainrule.errors import InputError
from chainrule.models.feedforward.max_min_network import MaxMinNetwork, lattice, max_min


@pytest.mark.parametrize(("k", "s", "hidden"), [(1, 1, 0), (2, 1, 1), (1, 2, 1), (3, 5, 5)])
def test_it_is_the_largest_of_the_smallest(k: int, s: int, hidden: int) -> None:
    generator = torch.Generator().manual_seed(k)
    slopes = torch.randn(k, s, 3, generator=generator, dtype=torch.float64)
    offsets = torch.randn(k, s, generator=generator, dtype=torch.float64)
    x = torch.randn(50, 3, generator=generator, dtype=torch.float64)
    network = MaxMinNetwork(slopes, offsets)
    assert len(network.layers) == hidden + 1
    torch.testing.assert_close(network(x)[:, 0], max_min(slopes, offsets, x))


def test_a_hat_is_neither_convex_nor_concave() -> None:
    """0, x, 2 - x and 0 on four intervals."""
    slopes = torch.tensor([[0.0], [1.0], [-1.0], [0.0]])
    offsets = torch.tensor([0.0, 0.0, 2.0, 0.0])
    ends = torch.tensor([[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    network = MaxMinNetwork(*lattice(slopes, offsets, list(ends[..., None])))
    x = torch.tensor([[-1.0], [0.0], [0.5], [1.0], [1.5], [2.5]])
    assert network(x).flatten().tolist() == [0.0, 0.0, 0.5, 1.0, 0.5, 0.0]


def test_pieces_must_match() -> None:
    with pytest.raises(InputError, match="slopes"):
        MaxMinNetwork(torch.zeros(2, 1, 3), torch.zeros(2, 2))
