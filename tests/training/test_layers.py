"""Rates by depth and layers that learn later: which layers there are, and how each one moves."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.attention import BERT, BertClassifier
from chainrule.models.convolution import ResNet
from chainrule.training import Settings, fit, fit_many, iterate
from chainrule.training.layers import layers_of

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


class Net(nn.Module):
    """Its head is defined first and used last."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.head = nn.Linear(4, 2)
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.embedding = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embedding(x).tanh()
        for block in self.blocks:
            x = block(x).tanh()
        return self.head(x)


def names(model: nn.Module, x: Tensor) -> list[set[str]]:
    """The layers by the modules of their parameters."""
    found = {p: name.rpartition(".")[0] for name, p in model.named_parameters()}
    return [{found[p] for p in layer} for layer in layers_of(model, lambda: model(x))]


def moved(model: nn.Module) -> dict[str, float]:
    """How far each layer is from where it began, at most."""
    start = dict(Net().named_parameters())
    far = {name: (p - start[name]).abs().max().item() for name, p in model.named_parameters()}
    return {part: far[f"{part}.weight"] for part in ("embedding", "blocks.0", "blocks.1", "head")}


def test_layers_are_found_in_the_order_of_use() -> None:
    assert names(Net(), X) == [{"embedding", "blocks.0"}, {"blocks.1"}, {"head"}]
    bert = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2)
    found = names(BertClassifier(bert, 3), torch.ones(2, 6).long())
    assert found[0] >= {"bert.embedding", "bert.segments", "bert.norm"}
    assert found[-1] == {"pooler", "output"} and len(found) == 3
    resnet = names(ResNet.cifar(8, 2), torch.zeros(2, 3, 8, 8))
    assert [sorted(layer)[-1].split(".")[0] for layer in resnet] == ["layer1"] * 1 + [
        "layer2",
        "layer3",
        "fc",
    ]
    plain = names(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), X)
    assert plain == [{"0"}, {"2"}]


def test_each_layer_moves_at_its_own_rate() -> None:
    """The first step of Adam is the rate itself, for every weight with a gradient."""
    model = Net()
    fit(model, (X, Y), epochs=1, batch_size=60, learning_rate=0.01, layer_decay=0.5)
    far = moved(model)
    for part, rate in (("head", 0.01), ("blocks.1", 0.005), ("blocks.0", 0.0025)):
        assert far[part] == pytest.approx(rate, rel=1e-3)
    assert far["embedding"] == pytest.approx(0.0025, rel=1e-3)


def test_layers_begin_to_learn_one_after_another() -> None:
    seen = []
    model = Net()
    for now in iterate(model, (X, Y), epochs=5, batch_size=60, unfreeze_every=2):
        if now.record:
            seen.append({part for part, far in moved(model).items() if far})
    two, three = {"head", "blocks.1"}, {"head", "blocks.1", "blocks.0", "embedding"}
    assert seen == [{"head"}, {"head"}, two, two, three]
    assert all(p.requires_grad for p in model.parameters())


def test_what_was_frozen_stays_frozen_and_a_stop_leaves_nothing_frozen() -> None:
    model = Net()
    model.embedding.requires_grad_(False)
    steps = iterate(model, (X, Y), epochs=9, batch_size=60, unfreeze_every=1)
    while not (now := next(steps)).record:
        pass
    steps.close()
    assert now.epoch == 1
    free = {name for name, p in model.named_parameters() if p.requires_grad}
    assert free == {n for n, _ in model.named_parameters() if not n.startswith("embedding")}


def test_a_resumed_run_repeats_the_uninterrupted_one(tmp_path: Path) -> None:
    options = {"epochs": 4, "batch_size": 20, "layer_decay": 0.7, "unfreeze_every": 1}
    whole, broken = Net(), Net()
    fit(whole, (X, Y), **options)
    steps = iterate(broken, (X, Y), folder=tmp_path, tick=0.0, **options)
    for now in steps:
        if now.epoch == 2 and now.step == 2:
            break
    steps.close()
    again = Net()
    fit(again, (X, Y), folder=tmp_path, **options)
    for ours, theirs in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layer_decay": 0.0}, "above 0 and at most 1, got 0"),
        ({"layer_decay": 1.5}, "above 0 and at most 1, got 1.5"),
        ({"unfreeze_every": -1}, "must be at least 0"),
        ({"layer_decay": 0.5, "lasso": 0.1}, "leave out `lasso` or `layer_decay`"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit(Net(), (X, Y), epochs=1, **options)


def test_one_layer_and_many_networks_are_refused() -> None:
    with pytest.raises(InputError, match="two layers or more"):
        fit(nn.Linear(3, 2), (X, Y), epochs=1, layer_decay=0.5)
    with pytest.raises(InputError, match="`layer_decay` is not for networks trained together"):
        fit_many([Net(), Net()], (X, Y), settings=[Settings(layer_decay=0.5)] * 2)
