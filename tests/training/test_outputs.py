"""Outputs of a whole split: how it is cut, and that cutting changes nothing."""

import pytest
import torch
from torch import nn

from chainrule.models.convolution.cnn import CNN
from chainrule.nn.kernels import float_products
from chainrule.training import devices, outputs, predict
from chainrule.training.evaluation import AT_ONCE, at_once


@pytest.mark.parametrize(
    ("x", "examples"),
    [
        (torch.zeros(1, 784), 1337),
        (torch.zeros(1, 3, 32, 32), 341),
        (torch.zeros(1, 3, 32, 32, dtype=torch.uint8), 341),
        (torch.zeros(1, 3, 2000, 2000), 1),
        (torch.zeros(1, 20), AT_ONCE),
        (torch.zeros(1, 128, dtype=torch.long), AT_ONCE),
    ],
)
def test_a_part_has_as_many_examples_as_the_cache_bears(x, examples):
    assert at_once(x) == examples


def test_images_in_many_parts_have_the_outputs_of_one(monkeypatch):
    torch.manual_seed(0)
    model, x = CNN((3, 8, 8), [(4, 4)], 5, norm="batch"), torch.randn(30, 3, 8, 8)
    whole = outputs(model, (x,))
    with torch.no_grad():
        torch.testing.assert_close(whole, model.eval()(x))
    torch.testing.assert_close(outputs(model, (x,), batch_size=7), whole)


def test_labels_of_pixels_keep_their_axes():
    model, x = nn.Conv2d(3, 2, 3, padding=1), torch.randn(5, 3, 6, 4)
    assert predict(model, x, batch_size=2).shape == (5, 2, 6, 4)


def test_settings_of_the_process_are_as_before(monkeypatch):
    kept: list[int] = []
    monkeypatch.setattr(devices, "keep_freed_memory", kept.append)
    before = torch.get_float32_matmul_precision()
    outputs(nn.Linear(512, 512), (torch.randn(64, 512),), batch_size=16)
    assert torch.get_float32_matmul_precision() == before
    assert kept == [devices.KEPT_BYTES, devices.GLIBC_MOST]
    outputs(nn.Linear(512, 512), (torch.randn(8, 512),))  # one part: nothing to keep
    assert len(kept) == 2


def test_large_products_are_those_of_the_quicker_library(monkeypatch):
    taken: list[str] = []

    class Watched(nn.Linear):
        def forward(self, x):
            taken.append(torch.get_float32_matmul_precision())
            return super().forward(x)

    monkeypatch.setattr(float_products, "onednn_is_faster", lambda: True)
    for rows in (64, 4):
        outputs(Watched(512, 512), (torch.randn(rows, 512),))
    assert taken == ["medium", "highest"]
