"""The switches that training sets and takes back."""

import resource
import sys

import pytest
import torch

from chainrule.training import devices


def pages_fetched(size: int = 16 * 2**20) -> int:
    """Fresh pages the system hands out while a large tensor is made and freed twenty times."""
    torch.ones(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(size)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_freed_memory_is_kept_while_training_and_given_back_afterwards() -> None:
    with devices.prepared(torch.device("cpu"), 1):
        assert pages_fetched() < 40_000
    assert pages_fetched() > 200_000


def test_all_switches_are_taken_back() -> None:
    before = torch.get_num_threads()
    with devices.prepared(torch.device("cpu"), before + 1):
        assert torch.get_num_threads() == before + 1
        assert (torch.tensor(1e-39) * 1).item() == 0
    assert torch.get_num_threads() == before
    assert (torch.tensor(1e-39) * 1).item() != 0
