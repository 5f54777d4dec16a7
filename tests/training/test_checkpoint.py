"""Checkpoints: whole or absent, and refused when damaged."""

from pathlib import Path

import pytest
import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer
from chainrule.training import checkpoint
from chainrule.training.state import State


def test_tensors_and_state_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.safetensors"
    tensors = {"x": torch.randn(3, 2), "n": torch.tensor(4)}
    checkpoint.save(path, tensors, {"epoch": 3, "loss": 0.1})
    found, state = checkpoint.load(path)
    assert state == {"epoch": 3, "loss": 0.1}
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)


def test_shared_tensors_are_saved_apart(tmp_path: Path) -> None:
    shared = torch.randn(4)
    checkpoint.save(tmp_path / "a.safetensors", {"a": shared, "b": shared, "c": shared[1:3]})
    found, _ = checkpoint.load(tmp_path / "a.safetensors")
    assert torch.equal(found["a"], found["b"])
    assert torch.equal(found["c"], shared[1:3])


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.safetensors"
    checkpoint.save(path, {"x": torch.zeros(2)})
    old = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        checkpoint.save(path, {"x": torch.ones(2)})
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_a_truncated_file_is_refused_by_name(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.safetensors"
    checkpoint.save(path, {"x": torch.randn(10)}, {"epoch": 1})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"a\.safetensors is damaged"):
        checkpoint.load(path)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    def state(model: nn.Module) -> State:
        return State(model, optimizer("adam", model.parameters(), 0.1))

    state(nn.Linear(3, 2)).save(tmp_path)
    with pytest.raises(InputError, match="belongs to another model"):
        state(nn.Linear(4, 2)).restore(tmp_path)
