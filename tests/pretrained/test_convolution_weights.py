"""Published ResNet weights fit by name and shape; mismatches are named and nothing is loaded.

The names and shapes are written down here from the paper's table of architectures and torchvision's
naming, independently of the model.
"""

from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from torch import Tensor

from chainrule import pretrained
from chainrule.errors import InputError
from chainrule.models.convolution import ResNet
from chainrule.pretrained import resnet

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
PARAMETERS = {18: 11_689_512, 34: 21_797_672, 50: 25_557_032}
STATISTICS = ("running_mean", "running_var")


def norm(name: str, channels: int) -> dict[str, tuple[int, ...]]:
    entries = {f"{name}.{part}": (channels,) for part in ("weight", "bias", *STATISTICS)}
    return {**entries, f"{name}.num_batches_tracked": ()}


def published(depth: int) -> dict[str, tuple[int, ...]]:
    """Every entry of torchvision's state dict with its shape."""
    shapes = {"conv1.weight": (64, 3, 7, 7), **norm("bn1", 64)}
    channels = 64
    for stage, (blocks, width) in enumerate(zip(BLOCKS[depth], (64, 128, 256, 512), strict=True)):
        for number in range(blocks):
            block = f"layer{stage + 1}.{number}"
            kernels = [(channels, width, 3), (width, width, 3)]
            if depth == 50:
                kernels = [(channels, width, 1), (width, width, 3), (width, 4 * width, 1)]
            for place, (m, n, k) in enumerate(kernels, 1):
                shapes[f"{block}.conv{place}.weight"] = (n, m, k, k)
                shapes |= norm(f"{block}.bn{place}", n)
            out = kernels[-1][1]
            if number == 0 and (stage > 0 or channels != out):
                shapes[f"{block}.downsample.0.weight"] = (out, channels, 1, 1)
                shapes |= norm(f"{block}.downsample.1", out)
            channels = out
    return {**shapes, "fc.weight": (1000, channels), "fc.bias": (1000,)}


def random_state(depth: int) -> dict[str, Tensor]:
    torch.manual_seed(depth)
    return {
        name: torch.tensor(7) if name.endswith("tracked") else 0.1 * torch.rand(shape)
        for name, shape in published(depth).items()
    }


@pytest.fixture(scope="module")
def eighteen() -> dict[str, Tensor]:
    return random_state(18)


@pytest.mark.parametrize("depth", [18, 34, 50])
def test_the_published_names_and_shapes_are_the_models(depth: int) -> None:
    with torch.device("meta"):
        model = ResNet.imagenet(depth)
    assert {name: tuple(t.shape) for name, t in model.state_dict().items()} == published(depth)
    learned = [s for n, s in published(depth).items() if not n.endswith((*STATISTICS, "tracked"))]
    assert sum(torch.Size(shape).numel() for shape in learned) == PARAMETERS[depth]
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[depth]


def test_a_file_of_published_weights_is_read(tmp_path: Path, eighteen: dict[str, Tensor]) -> None:
    save_file(eighteen, tmp_path / "resnet18.safetensors")
    model = ResNet.imagenet(18)
    pretrained.load(model, tmp_path / "resnet18.safetensors")
    assert all(torch.equal(t, eighteen[name]) for name, t in model.state_dict().items())


def test_the_loaded_network_computes_what_torchs_operations_compute(
    eighteen: dict[str, Tensor],
) -> None:
    """Figure 3 and table 1 of the paper, by functions and names alone."""
    state, F = eighteen, torch.nn.functional
    model, x = ResNet.imagenet(18).eval(), torch.randn(1, 3, 40, 40)
    pretrained.load(model, state)

    def normed(h: Tensor, name: str) -> Tensor:
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        return F.batch_norm(h, mean, variance, state[f"{name}.weight"], state[f"{name}.bias"])

    h = normed(F.conv2d(x, state["conv1.weight"], stride=2, padding=3), "bn1").relu()
    h = F.max_pool2d(h, 3, 2, 1)
    for stage in (1, 2, 3, 4):
        for number in (0, 1):
            name, stride = f"layer{stage}.{number}", 2 if stage > 1 and number == 0 else 1
            f = F.conv2d(h, state[f"{name}.conv1.weight"], stride=stride, padding=1)
            f = F.conv2d(normed(f, f"{name}.bn1").relu(), state[f"{name}.conv2.weight"], padding=1)
            if f"{name}.downsample.0.weight" in state:
                h = F.conv2d(h, state[f"{name}.downsample.0.weight"], stride=stride)
                h = normed(h, f"{name}.downsample.1")
            h = (normed(f, f"{name}.bn2") + h).relu()
    expected = F.linear(h.mean((2, 3)), state["fc.weight"], state["fc.bias"])
    torch.testing.assert_close(model(x), expected)


@pytest.mark.parametrize("depth", [18, 50])
def test_the_names_of_the_hub_are_those_of_torchvision(depth: int) -> None:
    with torch.device("meta"):
        model = ResNet.imagenet(depth)
    state = {hub_name(name): t for name, t in model.state_dict().items()}
    for given in (state, {name.removeprefix("resnet."): t for name, t in state.items()}):
        assert {n: t.shape for n, t in resnet.convert(model, given, True).items()} == {
            name: t.shape for name, t in model.state_dict().items()
        }


@pytest.mark.parametrize("depth", [34, 50])
def test_deeper_networks_compute_what_transformers_computes(depth: int) -> None:
    state = random_state(depth)
    config = transformers.ResNetConfig(
        depths=BLOCKS[depth],
        hidden_sizes=[256, 512, 1024, 2048] if depth == 50 else [64, 128, 256, 512],
        layer_type="bottleneck" if depth == 50 else "basic",
        num_labels=1000,
    )
    theirs, model = transformers.ResNetForImageClassification(config), ResNet.imagenet(depth)
    named = {hub_name(name): t for name, t in state.items()}
    theirs.load_state_dict(named)
    pretrained.load(model, theirs.state_dict())
    x = torch.randn(1, 3, 40, 40)
    with torch.no_grad():
        wanted = theirs.eval()(x).logits
        torch.testing.assert_close(model.eval()(x), wanted, rtol=1e-3, atol=1e-4)


def hub_name(name: str) -> str:
    """torchvision's name → that of the hub."""
    parts = name.split(".")
    if parts[0] in ("conv1", "bn1"):
        kind = "convolution" if parts[0] == "conv1" else "normalization"
        return f"resnet.embedder.embedder.{kind}.{parts[1]}"
    if parts[0] == "fc":
        return f"classifier.1.{parts[1]}"
    start = f"resnet.encoder.stages.{int(parts[0][5:]) - 1}.layers.{parts[1]}"
    if parts[2] == "downsample":
        kind = "convolution" if parts[3] == "0" else "normalization"
        return f"{start}.shortcut.{kind}.{parts[4]}"
    kind = "convolution" if parts[2].startswith("conv") else "normalization"
    return f"{start}.layer.{int(parts[2][-1]) - 1}.{kind}.{parts[3]}"


def test_the_head_is_left_out_on_request(eighteen: dict[str, Tensor]) -> None:
    model = ResNet.imagenet(18, classes=10)
    W = model.fc.weight.clone()
    with pytest.raises(InputError, match=r"2 of another shape \(fc.weight \(1000, 512\) instead"):
        pretrained.load(model, eighteen)
    pretrained.load(model, eighteen, head=False)
    assert torch.equal(model.fc.weight, W)
    name = "layer4.1.conv2.weight"
    assert torch.equal(model.get_parameter(name), eighteen[name])
    pretrained.load(
        model, {n: t for n, t in eighteen.items() if not n.startswith("fc")}, head=False
    )


def test_all_mismatches_are_reported_and_nothing_is_loaded(eighteen: dict[str, Tensor]) -> None:
    model = ResNet.imagenet(18)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    wrong = {**eighteen, "head.weight": torch.zeros(3), "bn1.weight": torch.zeros(3)}
    for name in [name for name in wrong if name.startswith("layer1")]:
        del wrong[name]
    with pytest.raises(InputError) as caught:
        pretrained.load(model, wrong)
    message = str(caught.value)
    assert "20 missing (layer1.0.conv1.weight, layer1.0.bn1.weight, " in message
    assert "running_mean, …); 1 unexpected (head.weight); " in message
    assert "1 of another shape (bn1.weight (3,) instead of (64,))" in message
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


def test_batch_counters_may_be_missing(eighteen: dict[str, Tensor]) -> None:
    model = ResNet.imagenet(18)
    pretrained.load(model, {n: t for n, t in eighteen.items() if not n.endswith("tracked")})
    assert torch.equal(model.get_buffer("bn1.running_var"), eighteen["bn1.running_var"])


def test_other_files_are_rejected(tmp_path: Path) -> None:
    model = ResNet.cifar(8, 2)
    with pytest.raises(InputError, match=r"cannot read .*No such file"):
        pretrained.load(model, tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(InputError, match="is not a safetensors file"):
        pretrained.load(model, tmp_path / "bad.safetensors")
