"""A lost process is told apart from a fault of the model, wherever either comes to light."""

import pytest
import torch
from torch import nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.training.distributed.lost import LostProcessError, answered, lost_by

GLOO = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Connection closed by peer"


@checked
class Faulty(nn.Module):
    """A model behind a checked door, which puts faults inside of it into a sentence."""

    def __init__(self, message: str):
        super().__init__()
        self.message = message

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError(self.message)


def test_a_process_lost_inside_of_a_checked_model_is_no_fault_of_its_input() -> None:
    with pytest.raises(LostProcessError, match="was lost"), answered(beside=True):
        Faulty(GLOO)(torch.ones(2))


def test_a_fault_of_a_model_stays_what_it_is() -> None:
    with pytest.raises(InputError, match="of its own") as found, answered(beside=True):
        Faulty("of its own")(torch.ones(2))
    assert lost_by(found.value) is None
    with pytest.raises(RuntimeError, match="size mismatch"), answered(beside=True):
        raise RuntimeError("size mismatch")


def test_among_collectives_every_runtime_error_is_a_lost_process() -> None:
    with pytest.raises(LostProcessError, match="was lost"), answered():
        raise RuntimeError("of any kind")
