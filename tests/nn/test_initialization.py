"""Initial weights against the variances that define them."""

import pytest
import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.nn.initialization import INITIALIZATIONS, initialize

n, m = 400, 200


VARIANCES = {
    "kaiming": 2 / n,
    "xavier": 2 / (n + m),
    "lecun": 1 / n,
    "normal": 1e-4,
    "kaiming-uniform": 2 / n,
    "xavier-uniform": 2 / (n + m),
    "lecun-uniform": 1 / n,
    "uniform": 1e-4,
}


@pytest.mark.parametrize("name", VARIANCES)
@pytest.mark.parametrize("layer", [nn.Linear(n, m), nn.Conv2d(16, 8, 5)], ids=["linear", "conv"])
def test_the_variance_is_the_scheme(name: str, layer: nn.Module) -> None:
    """A convolution of 16 to 8 channels by 5×5 windows has n = 400 and m = 200."""
    torch.manual_seed(0)
    W = initialize(layer, name).weight
    # The sample variance of N normal numbers strays by a factor √(2/N); N is 3,200 at least.
    assert W.var().item() == pytest.approx(VARIANCES[name], rel=5 * (2 / W.numel()) ** 0.5)
    assert abs(W.mean().item()) < 5 * (VARIANCES[name] / W.numel()) ** 0.5


@pytest.mark.parametrize("name", [name for name in VARIANCES if "uniform" in name])
def test_uniform_weights_lie_within_root_three_sigma(name: str) -> None:
    W = initialize(nn.Linear(n, m), name).weight
    bound = (3 * VARIANCES[name]) ** 0.5
    assert 0.99 * bound < W.abs().max().item() <= bound * (1 + 1e-6)


@pytest.mark.parametrize(("name", "value"), [("zero", 0.0), ("constant", 0.1)])
def test_constant_weights_show_the_symmetry(name: str, value: float) -> None:
    W = initialize(nn.Conv1d(2, 3, 2), name).weight
    assert torch.equal(W, torch.full_like(W, value))


def test_orthogonal_weights_have_singular_values_one() -> None:
    W = initialize(nn.Linear(8, 5), "orthogonal").weight.detach()
    torch.testing.assert_close(torch.linalg.svdvals(W), torch.ones(5))


@pytest.mark.parametrize("name", INITIALIZATIONS)
def test_the_bias_starts_at_zero_where_there_is_one(name: str) -> None:
    assert not initialize(nn.Linear(3, 2), name).bias.any()
    assert initialize(nn.Linear(3, 2, bias=False), name).bias is None


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError, match="no initialization 'hope'"):
        initialize(nn.Linear(3, 2), "hope")
