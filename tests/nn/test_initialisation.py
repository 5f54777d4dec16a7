"""Initial weights against the variances that define them."""

import pytest
import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.nn.initialisation import INITIALISATIONS, initialise

n, m = 400, 200


@pytest.mark.parametrize(
    ("name", "variance"),
    [("kaiming", 2 / n), ("xavier", 2 / (n + m)), ("lecun", 1 / n), ("normal", 1e-4)],
)
def test_the_variance_is_the_scheme(name: str, variance: float) -> None:
    torch.manual_seed(0)
    W = initialise(nn.Linear(n, m), name).weight
    # The sample variance of 80,000 normal numbers strays by a factor √(2 / 80,000) = 0.5 %.
    assert W.var().item() == pytest.approx(variance, rel=0.025)


def test_orthogonal_weights_have_singular_values_one() -> None:
    W = initialise(nn.Linear(8, 5), "orthogonal").weight.detach()
    torch.testing.assert_close(torch.linalg.svdvals(W), torch.ones(5))


@pytest.mark.parametrize("name", INITIALISATIONS)
def test_the_bias_starts_at_zero_where_there_is_one(name: str) -> None:
    assert not initialise(nn.Linear(3, 2), name).bias.any()
    assert initialise(nn.Linear(3, 2, bias=False), name).bias is None


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError, match="no initialisation 'hope'"):
        initialise(nn.Linear(3, 2), "hope")
