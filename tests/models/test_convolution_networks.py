"""Convolutional networks against plain PyTorch, the papers' counts, and laws."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.convolution import CNN, VGG, DenseNet, LeNet, PlainNetwork, ResNet, UNet
from chainrule.models.convolution.resnet import BasicBlock, Bottleneck, Subsampled, padded_shortcut
from chainrule.nn.dropout import dropout
from chainrule.registry import Entry, entries
from chainrule.training import Settings, fit, fit_many

CHAPTER = [entry for entry in entries("models") if entry.chapter == "convolution"]
every_model = pytest.mark.parametrize("entry", CHAPTER, ids=lambda entry: entry.name)


def counted(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def parts(module: nn.Module) -> list[Any]:
    return list(module.children())


# The course's CNN


def test_a_cnn_is_pytorchs_sequence_of_the_same_layers() -> None:
    model, x = CNN((3, 9, 8), ((4, 5), 6), 7, hidden=(10,), kernel_size=5), torch.randn(2, 3, 9, 8)
    (one, two), (three,) = map(parts, model.stages)
    pool = nn.MaxPool2d(2)
    first, last = model.head.layers
    peer = nn.Sequential(one, nn.ReLU(), two, nn.ReLU(), pool, three, nn.ReLU(), pool)
    peer.extend([nn.Flatten(), first, nn.ReLU(), last])
    assert torch.equal(model(x), peer(x))
    assert isinstance(first, nn.Linear) and first.in_features == 6 * 2 * 2


def test_norms_stand_before_the_activation_and_dropout_after_the_pool() -> None:
    model = CNN((1, 4, 4), (3,), 2, norm="batch", dropout=0.5, activation="tanh")
    x = torch.randn(6, 1, 4, 4)
    convolution, norm = parts(parts(model.stages[0])[0])
    assert convolution.bias is None
    torch.manual_seed(0)
    pooled = F.max_pool2d(norm(convolution(x)).tanh(), 2)
    expected = model.head(dropout(pooled, 0.5, training=True))
    torch.manual_seed(0)
    torch.testing.assert_close(model(x), expected)


def test_dropout_may_differ_by_stage_and_hidden_layer() -> None:
    model = CNN((1, 8, 8), (2, 2), 3, hidden=(4,), dropout=(0.1, 0.2, 0.5))
    assert (model.rates, model.head.rates) == ((0.1, 0.2), (0.5,))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 3) | st.lists(st.integers(1, 3), min_size=1, max_size=2), max_size=2),
    st.integers(4, 9),
    st.integers(4, 9),
)
def test_a_cnn_takes_any_sizes(filters: Sequence[int | list[int]], height: int, width: int) -> None:
    model = CNN((2, height, width), filters, 3)
    assert model(torch.randn(2, 2, height, width)).shape == (2, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"norm": "layer"}, "norm must be 'batch' or None, got 'layer'"),
        ({"kernel_size": 4}, "kernel_size must be odd, got 4"),
        ({"filters": (3, ())}, "filters must give every stage convolutions"),
        ({"filters": (0,)}, "`filters` must be"),
        ({"filters": (2, 2, 2, 2)}, "images of 8×8 are too small for 4 stages"),
        ({"dropout": 1.0}, "from 0 to below 1"),
        ({"dropout": (0.1, 0.1)}, "each of the 1 stages and 0 hidden layers"),
        ({"activation": "sine"}, "no activation 'sine'"),
    ],
)
def test_wrong_settings_of_a_cnn_are_refused_by_name(wrong: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CNN(**{"inputs": (1, 8, 8), "filters": (2,), "classes": 2, **wrong})


# VGG


@pytest.mark.parametrize(
    ("depth", "parameters"),
    [(11, 132_863_336), (13, 133_047_848), (16, 138_357_544), (19, 143_667_240)],
)
def test_vgg_has_the_published_number_of_parameters(depth: int, parameters: int) -> None:
    with torch.device("meta"):
        model = VGG(depth)
    assert counted(model) == parameters
    layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len(layers) == depth
    assert model.rates == (0.0,) * 5 and model.head.rates == (0.5, 0.5)


def test_vgg_is_pytorchs_sequence_of_the_same_layers() -> None:
    model, x = VGG(11, (3, 32, 32), 10, base_channels=2, hidden_size=8), torch.randn(2, 3, 32, 32)
    convolutions = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
    assert [m.out_channels for m in convolutions] == [2, 4, 8, 8, 16, 16, 16, 16]
    peer, pooled = nn.Sequential(), (0, 1, 3, 5, 7)
    for place, layer in enumerate(convolutions):
        peer.extend([layer, nn.ReLU(), *[nn.MaxPool2d(2)] * (place in pooled)])
    one, two, three = model.head.layers
    peer.extend([nn.Flatten(), one, nn.ReLU(), two, nn.ReLU(), three])
    torch.testing.assert_close(model.eval()(x), peer(x))


def test_vgg_refuses_other_depths() -> None:
    with pytest.raises(InputError, match="depth must be 11, 13, 16 or 19, got 12"):
        VGG(12)


def test_a_resnet_takes_images_of_any_size_and_vgg_does_not() -> None:
    """A 2.3.1 says that no CNN does."""
    resnet, vgg = ResNet.cifar(8, classes=3), VGG(11, (3, 32, 32), 3, 1, 4)
    for side in (9, 32, 40):
        assert resnet(torch.randn(2, 3, side, side)).shape == (2, 3)
    with pytest.raises(InputError, match="shapes cannot be multiplied"):
        vgg(torch.randn(2, 3, 64, 64))


# LeNet


def test_lenet_has_the_sizes_of_the_paper() -> None:
    model = LeNet()
    shapes = [tuple(layer.weight.shape) for layer in (model.conv1, model.conv2)]
    assert shapes == [(6, 1, 5, 5), (16, 6, 5, 5)]
    assert [layer.in_features for layer in model.head.layers] == [400, 120, 84]
    assert counted(model) == 61_706 == counted(LeNet((1, 32, 32)))


@pytest.mark.parametrize("side", [28, 32])
def test_lenet_is_pytorchs_sequence_of_the_same_layers(side: int) -> None:
    model = LeNet((1, side, side), activation="tanh", pooling="average")
    x, tanh, pool = torch.randn(2, 1, side, side), nn.Tanh(), nn.AvgPool2d(2)
    frame, (a, b, c) = nn.ZeroPad2d((32 - side) // 2), model.head.layers
    bare = nn.Conv2d(1, 6, 5)
    bare.load_state_dict(model.conv1.state_dict())
    peer = nn.Sequential(frame, bare, tanh, pool, model.conv2, tanh, pool, nn.Flatten())
    peer.extend([a, tanh, b, tanh, c])
    torch.testing.assert_close(model(x), peer(x))


def test_lenet_refuses_what_it_cannot_take() -> None:
    assert LeNet((2, 12, 12), 3)(torch.randn(2, 2, 12, 12)).shape == (2, 3)
    with pytest.raises(InputError, match=r"at least 12×12, .* got 12×11"):
        LeNet((1, 12, 11))
    with pytest.raises(InputError, match="pooling must be one of max, average, got 'sum'"):
        LeNet(pooling="sum")


# Residual networks


@pytest.mark.parametrize(
    ("depth", "millions"), [(20, 0.27), (32, 0.46), (44, 0.66), (56, 0.85), (110, 1.7)]
)
def test_the_cifar_family_has_the_papers_sizes(depth: int, millions: float) -> None:
    model = ResNet.cifar(depth, classes=10)
    assert round(counted(model) / 1e6, 1 if depth == 110 else 2) == millions
    layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len(layers) == depth


def test_the_stages_halve_the_image_and_double_the_channels() -> None:
    h = torch.randn(2, 1, 12, 12)
    model = ResNet.cifar(8, 3, channels=1)
    shapes = []
    for name in ("conv1", "layer1", "layer2", "layer3"):
        h = model.get_submodule(name)(h)
        shapes.append(tuple(h.shape[1:]))
    assert shapes == [(16, 12, 12), (16, 12, 12), (32, 6, 6), (64, 3, 3)]


@pytest.mark.parametrize(("block", "expansion"), [(BasicBlock, 1), (Bottleneck, 4)])
def test_a_block_adds_its_shortcut(block: type[BasicBlock | Bottleneck], expansion: int) -> None:
    width, h = 3, torch.randn(2, 3 * expansion, 6, 6)
    residual = block(3 * expansion, width, 1, nn.Identity())
    plain = block(3 * expansion, width, 1, None)
    plain.load_state_dict(residual.state_dict())
    last = list(residual.children())[-2]
    assert isinstance(last, nn.BatchNorm2d)
    before: list[Tensor] = []
    last.register_forward_hook(lambda part, inputs, output: before.append(output.clone()))
    torch.testing.assert_close(residual(h), (before[0] + h).relu())
    torch.testing.assert_close(plain(h), before[0].relu())
    nn.init.zeros_(last.weight)
    torch.testing.assert_close(residual(h.relu()), h.relu())


def test_the_shortcut_without_parameters_by_hand() -> None:
    h = torch.arange(2 * 2 * 3 * 4.0).reshape(2, 2, 3, 4)
    S = padded_shortcut(2, 5, stride=2)
    assert isinstance(S, Subsampled) and not list(S.parameters())
    assert torch.equal(S(h)[:, :2], h[:, :, [0, 2]][..., [0, 2]])
    assert S(h).shape == (2, 5, 2, 2) and not S(h)[:, 2:].any()
    assert isinstance(padded_shortcut(2, 2, stride=1), nn.Identity)


def test_the_plain_twin_has_the_same_parameters_and_no_shortcuts() -> None:
    residual, plain = ResNet.cifar(14, 10), PlainNetwork(14, 10)
    plain.load_state_dict(residual.state_dict())
    unlinked = ResNet.cifar(14, 10, shortcuts=False)
    unlinked.load_state_dict(residual.state_dict())
    x = torch.randn(2, 3, 8, 8)
    assert torch.equal(plain(x), unlinked(x))
    assert not torch.allclose(plain(x), residual(x))
    layers = [m for m in plain.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d)]
    h = x
    for convolution, norm in zip(layers[::2], layers[1::2], strict=True):
        h = norm(convolution(h)).relu()
    torch.testing.assert_close(plain(x), plain.fc(h.mean((2, 3))))


def test_depths_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match=r"6n \+ 2, such as 20, 32, 44, 56 or 110, got 18"):
        ResNet.cifar(18, 10)
    with pytest.raises(InputError, match=r"6n \+ 2"):
        PlainNetwork(2, 10)
    with pytest.raises(InputError, match="18, 34 or 50, got 20"):
        ResNet.imagenet(20)
    with pytest.raises(InputError, match=r"3n \+ 4"):
        DenseNet.cifar(20, 10)
    with pytest.raises(InputError, match=r"6n \+ 4"):
        DenseNet.cifar(43, 10, bc=True)


# DenseNet


def test_densenet_has_the_papers_sizes() -> None:
    """Huang et al. (2017), table 2: 1.0 and 0.8 million; 7.0 for k = 12 and 100 layers."""
    basic, wide, bc = (
        DenseNet.cifar(40, 10),
        DenseNet.cifar(100, 10),
        DenseNet.cifar(100, 10, bc=True),
    )
    assert [round(counted(m) / 1e6, 1) for m in (basic, wide, bc)] == [1.0, 7.0, 0.8]
    for model, depth in ((basic, 40), (wide, 100), (bc, 100)):
        layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
        assert len(layers) == depth


def test_every_dense_layer_passes_on_what_it_saw() -> None:
    model, x = DenseNet(2, (3,), classes=4, channels=1), torch.randn(2, 1, 5, 5)
    seen = model.stem(x)
    for layer in parts(model.stages[0]):
        new = layer.grow.conv(layer.grow.norm(seen).relu())
        assert new.shape[1] == 2
        seen = torch.cat([seen, new], dim=1)
    torch.testing.assert_close(model.stages[0](model.stem(x)), seen)
    torch.testing.assert_close(model(x), model.output(model.norm(seen).relu().mean((2, 3))))


def test_transitions_compress_and_halve() -> None:
    model = DenseNet(4, (2, 1), classes=3, bottleneck=4, compression=0.5)
    (transition, _), (first, _) = parts(model.stages[1]), parts(model.stages[0])
    assert transition(torch.randn(2, 16, 6, 7)).shape == (2, 8, 3, 3)
    assert first.narrow.conv.out_channels == 16
    with pytest.raises(InputError, match="compression must be above 0 and at most 1"):
        DenseNet(4, (1,), 3, compression=0.0)


# U-Net


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 3), st.integers(8, 19), st.integers(8, 19))
def test_a_unet_gives_every_pixel_its_scores(depth: int, height: int, width: int) -> None:
    model = UNet(2, classes=3, base_channels=2, depth=depth)
    assert model(torch.randn(2, 2, height, width)).shape == (2, 3, height, width)


def test_a_unet_of_one_scale_by_hand() -> None:
    model, x = UNet(1, classes=2, base_channels=3, depth=1).eval(), torch.randn(2, 1, 6, 7)
    top, bottom = model.down
    e = top(x)
    up = F.pad(model.up[0](bottom(F.max_pool2d(e, 2))), (0, 1))
    torch.testing.assert_close(model(x), model.output(model.join[0](torch.cat([e, up], 1))))
    a, norm_a, _, b, norm_b, _ = parts(top)
    h = norm_a(F.conv2d(x, a.weight, padding=1)).relu()
    torch.testing.assert_close(e, norm_b(F.conv2d(h, b.weight, padding=1)).relu())


def test_a_unet_sees_far_through_its_depth_and_sharply_through_its_shortcuts() -> None:
    """The reach of a pixel: ±2 at full size for depth 0, more with every scale."""
    reach = []
    for depth in (0, 1, 2):
        torch.manual_seed(0)
        model = UNet(1, 1, base_channels=4, depth=depth).eval()
        x = torch.randn(1, 1, 64, 64, requires_grad=True)
        (slope,) = torch.autograd.grad(model(x)[0, 0, 32, 32], x)
        rows = slope[0, 0].abs().sum(1).nonzero().flatten()
        reach.append(int(32 - rows.min()))
    assert reach[0] == 2 < reach[1] < reach[2]


def test_the_unet_of_the_paper_has_31_million_parameters() -> None:
    """Figure 1 of the paper: 23 convolutions."""
    with torch.device("meta"):
        model = UNet(1, 2)
    layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.ConvTranspose2d)]
    assert len(layers) == 23
    down = [(1, 64), (64, 128), (128, 256), (256, 512), (512, 1024)]
    three_by_three = sum(9 * (m * n + n * n) for m, n in down)
    three_by_three += sum(9 * (m * n + n * n) for n, m in down[1:])
    two_by_two = sum(4 * m * n for m, n in down[1:])
    weights = sum(layer.weight.numel() for layer in layers)
    assert weights == three_by_three + two_by_two + 64 * 2
    assert round(counted(model) / 1e6) == 31


def test_a_unet_refuses_images_that_vanish() -> None:
    with pytest.raises(
        InputError, match="images of 7×9 are too small to be halved 3 times; use at"
    ):
        UNet(1, 2, base_channels=2, depth=3)(torch.zeros(1, 1, 7, 9))
    with pytest.raises(InputError, match="`classes` must be a whole number of at least 1"):
        UNet(1, 0)


# All of them


def test_the_up_convolution_keeps_the_mean_square() -> None:
    torch.manual_seed(0)
    model, x = UNet(1, 2, base_channels=64, depth=1), torch.randn(4, 128, 16, 16)
    assert model.up[0](x).square().mean().item() == pytest.approx(1.0, abs=0.05)


@every_model
def test_one_layout_or_the_other_gives_the_same(entry: Entry) -> None:
    torch.manual_seed(0)
    model, x = entry.load().example()
    last = copy.deepcopy(model).to(memory_format=torch.channels_last).eval()
    y = last(x.to(memory_format=torch.channels_last))
    torch.testing.assert_close(y, model.eval()(x), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["cnn", "lenet", "unet"])
def test_models_can_be_exported(name: str) -> None:
    (entry,) = (entry for entry in CHAPTER if entry.name == name)
    model, x = entry.load().example()
    program = torch.export.export(model.eval(), (x,))
    torch.testing.assert_close(program.module()(x), model(x))


def small(kind: str) -> nn.Module:
    if kind == "cnn":
        return CNN((1, 6, 6), (2,), 2, hidden=(3,), dropout=0.3, norm="batch")
    return ResNet.cifar(8, 2, channels=1)


@pytest.mark.parametrize("kind", ["cnn", "resnet"])
def test_many_at_once_are_what_each_is_alone(kind: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(12, 1, 6, 6).double()
    y = (x.mean((1, 2, 3)) > 0).long()
    chosen = [Settings(epochs=2, batch_size=6, seed=seed, optimizer="sgd") for seed in (1, 2)]

    def built(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return small(kind).double()

    together = [built(s.seed) for s in chosen]
    fit_many(together, (x, y), None, chosen)
    for member, s in zip(together, chosen, strict=True):
        alone = built(s.seed)
        fit(alone, (x, y), settings=s)
        for name, t in alone.state_dict().items():
            torch.testing.assert_close(member.state_dict()[name], t, rtol=1e-6, atol=1e-8)


def test_signals_keep_their_size_through_the_layers_of_a_stage() -> None:
    """Kaiming's weights, away from the border: a factor of √2 at most over five layers."""
    torch.manual_seed(0)
    model, h, sizes = CNN((3, 16, 16), ((64,) * 6,), 4), torch.randn(4, 3, 16, 16), []
    for layer in parts(model.stages[0]):
        h = layer(h).relu()
        sizes.append(h[..., 6:-6, 6:-6].square().mean().item())
    assert 0.7 < sizes[-1] / sizes[0] < 1.4
