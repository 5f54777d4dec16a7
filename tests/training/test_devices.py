"""The switches that training sets and takes back."""

import subprocess
import sys

import pytest
import torch

from chainrule.training import devices

COUNTED = """
import resource, torch
from chainrule.training import devices

def pages_fetched():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(16 * 2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(pages_fetched())
with devices.prepared(torch.device("cpu"), 1):
    print(pages_fetched())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_freed_memory_is_kept_while_training() -> None:
    """A few blocks are still fetched, as many as the layout of the process makes of it."""
    run = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True
    )
    without, during = map(int, run.stdout.split())
    assert during < without / 2


def test_freed_memory_is_given_back_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(devices, "keep_freed_memory", asked.append)
    with devices.prepared(torch.device("cpu"), 1):
        assert asked == [devices.KEPT_BYTES]
    assert asked == [devices.KEPT_BYTES, devices.GLIBC_MOST]


def test_all_switches_are_taken_back() -> None:
    before = torch.get_num_threads()
    with devices.prepared(torch.device("cpu"), before + 1):
        assert torch.get_num_threads() == before + 1
        assert (torch.tensor(1e-39) * 1).item() == 0
    assert torch.get_num_threads() == before
    assert (torch.tensor(1e-39) * 1).item() != 0


def test_kernels_of_one_channel_are_laid_out_like_all_others() -> None:
    """Their strides pass for both layouts; left alone, they put a whole layer in the slow one."""
    layer = torch.nn.Conv2d(1, 8, 3, padding=1)
    devices.place(layer, torch.device("cpu"))
    assert layer(torch.ones(2, 1, 6, 6)).stride() == (8 * 36, 1, 8 * 6, 8)


def test_trainings_may_end_in_any_order() -> None:
    before = torch.get_num_threads(), (torch.tensor(1e-39) * 1).item()
    first, second = (devices.prepared(torch.device("cpu"), number) for number in (3, 4))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.get_num_threads() == 4
    second.__exit__(None, None, None)
    assert (torch.get_num_threads(), (torch.tensor(1e-39) * 1).item()) == before
