"""Costs of networks: against the textbook formulas, published figures and the notes' arithmetic."""

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.models.connectionism.hopfield import Hopfield
from chainrule.models.convolution import ResNet
from chainrule.nn.attention import SelfAttention
from chainrule.nn.profile import (
    LayerProfile,
    convolution_parameters,
    dense_parameters,
    merge_blocks,
    profile,
)


def totals(model: nn.Module, batch: Tensor) -> tuple[int, int]:
    layers = profile(model, batch)
    return sum(layer.parameters for layer in layers), sum(layer.multiply_adds for layer in layers)


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 2))
def test_a_convolution_by_its_formula(channels: int, filters: int, kernel: int, batch: int) -> None:
    layer = nn.Conv2d(channels, filters, kernel)
    found = profile(nn.Sequential(layer), torch.zeros(batch, channels, 6, 5))
    pixels = (7 - kernel) * (6 - kernel)
    assert found == [
        LayerProfile(
            "0",
            "Conv2d",
            (filters, 7 - kernel, 6 - kernel),
            convolution_parameters(channels, filters, kernel),
            channels * kernel**2 * filters * pixels,
        )
    ]


def test_strides_groups_and_transposed_convolutions() -> None:
    x = torch.zeros(2, 4, 8, 8)
    assert totals(nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), x) == (114, 108 * 16)
    assert totals(nn.ConvTranspose2d(4, 6, 2, stride=2), x) == (102, 96 * 64)


def test_dense_layers_by_their_formula() -> None:
    model = nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3))
    assert totals(model, torch.zeros(4, 7)) == (dense_parameters((7, 5, 3)), 7 * 5 + 5 * 3)
    assert [layer.kind for layer in profile(model, torch.zeros(4, 7))] == [
        "Linear",
        "ReLU",
        "Linear",
    ]


def test_recurrent_layers_by_their_formula() -> None:
    """Gates × units × (inputs + units) at every step, whatever kernel runs."""
    x = torch.zeros(3, 4, 5)
    for kind, gates in ((nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)):
        assert totals(kind(5, 7, batch_first=True), x)[1] == 4 * gates * 7 * (5 + 7)
    both = nn.LSTM(5, 7, batch_first=True, bidirectional=True)
    assert totals(both, x)[1] == 2 * 4 * 4 * 7 * (5 + 7)


def test_published_figures() -> None:
    """He et al. (2016): 1.8, 3.6 and 3.8 · 10⁹; torchvision lists 1.81, 3.66 and 4.09."""
    with torch.device("meta"):
        x = torch.zeros(1, 3, 224, 224)
        models = [ResNet.imagenet(depth) for depth in (18, 34, 50)]
    giga = [round(totals(model, x)[1] / 1e9, 2) for model in models]
    assert giga == [1.81, 3.66, 4.09]


class Borrower(nn.Module):
    """Uses one part by calling it, one by its weight alone, and a vector of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.borrowed = nn.Linear(3, 3), nn.Linear(3, 2)
        self.v = nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.used(x), self.borrowed.weight) @ self.v


def test_what_no_part_does_the_model_does_itself() -> None:
    itself, used = profile(Borrower(), torch.zeros(4, 3))
    assert itself == LayerProfile("", "Borrower", (), 8 + 2, 6 + 2)
    assert used == LayerProfile("used", "Linear", (3,), 12, 9)


def test_a_state_that_no_optimizer_learns_counts_too() -> None:
    assert totals(Hopfield(4), torch.ones(1, 4))[0] == 4 * 4 + 4


def test_profiling_leaves_the_model_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Dropout()).train()
    model[1].eval()
    before = [t.clone() for t in model.state_dict().values()]
    profile(model, torch.randn(4, 3))
    assert [part.training for part in model.modules()] == [True, True, False, True]
    assert all(map(torch.equal, before, model.state_dict().values()))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_large_tables_join_the_layers_of_a_block() -> None:
    layers = profile(ResNet.cifar(20, 10), torch.zeros(1, 3, 8, 8))
    assert merge_blocks(layers, 100) == layers
    table = merge_blocks(layers, 12)
    assert [row.name for row in table[2:5]] == ["layer1.0", "layer1.1", "layer1.2"]
    assert table[2] == LayerProfile(
        "layer1.0", "4 layers", (16, 8, 8), 2 * (2304 + 32), 2 * 2304 * 64
    )
    assert len(merge_blocks(layers, 1)) == len(merge_blocks(layers, 6)) == 6
    for rows in (table, merge_blocks(layers, 6)):
        for cost in ("parameters", "multiply_adds"):
            assert sum(getattr(r, cost) for r in rows) == sum(getattr(r, cost) for r in layers)


def test_the_dense_network_of_the_notes_has_77_billion_parameters() -> None:
    n = 256 * 256 * 3
    assert dense_parameters((n, n, n)) == 77_309_804_544 == n * n + n * n + n + n
    assert dense_parameters((n, n, n, 3)) - 77_309_804_544 == 589_827
    gray = 256 * 256
    assert dense_parameters((gray, gray, gray)) == 8_590_065_664
    assert convolution_parameters(3, 64, 3) == 1_792
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(n, n), nn.Linear(n, n))
        x = torch.zeros(1, n)
    assert totals(model, x) == (77_309_804_544, 2 * n * n)


def test_few_parameters_of_a_resnet_are_dense() -> None:
    with torch.device("meta"):
        layers = profile(ResNet.imagenet(50), torch.zeros(1, 3, 64, 64))
    dense = sum(layer.parameters for layer in layers if layer.kind == "Linear")
    assert (dense, sum(layer.parameters for layer in layers)) == (2_049_000, 25_557_032)


def test_the_products_inside_fused_attention_count() -> None:
    """Four maps of n d² each, then Q Kᵀ and A V of n² d; torch's counter leaves out the kernel."""
    n, d = 64, 16
    layers = profile(SelfAttention(d, 2), torch.randn(2, n, d))
    assert sum(layer.multiply_adds for layer in layers) == 4 * n * d**2 + 2 * n**2 * d
