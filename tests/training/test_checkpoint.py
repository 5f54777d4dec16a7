"""Checkpoints: whole or absent, and refused when damaged."""

import errno
import json
import math
import os
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer
from chainrule.training import Settings, checkpoint, fit_many
from chainrule.training.files import WriteError
from chainrule.training.state import LAST, State


def test_tensors_and_state_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    tensors = {"x": torch.randn(3, 2), "n": torch.tensor(4), "none": torch.zeros(0, 3)}
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
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(WriteError, match=r"cannot write .*a\.safetensors: no space left on device"):
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


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "a.safetensors"
    checkpoint.save(path, {"x": torch.arange(6.0), "y": torch.ones(2, 2)}, {"epoch": 1})
    return path


@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_a_weight_without_a_word(
    written: Path, place: int, bit: int
) -> None:
    tensors, _ = checkpoint.load(written)
    content = bytearray(written.read_bytes())
    content[place % len(content)] ^= 1 << bit
    flipped = written.with_name("flipped.safetensors")
    flipped.write_bytes(content)
    try:
        found, _ = checkpoint.load(flipped)
    except InputError as error:
        assert str(flipped) in str(error)
    else:  # a blank that pads the header, or the name of the checksum itself
        assert found.keys() == tensors.keys()
        assert all(torch.equal(found[name], tensors[name]) for name in tensors)


def test_files_without_a_checksum_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.safetensors"
    save_file({"x": torch.ones(2)}, path, {"state": json.dumps({"epoch": 2})})
    assert checkpoint.load(path)[1] == {"epoch": 2}
    save_file({"x": torch.ones(2)}, path)
    tensors, state = checkpoint.load(path)
    assert state == {} and torch.equal(tensors["x"], torch.ones(2))


@pytest.mark.parametrize("state", ["[1]", "{", "[" * 100_000, '{"epoch": ' + "9" * 5000 + "}"])
def test_a_header_that_holds_no_state_is_refused(state: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    save_file({"x": torch.ones(2)}, path, {"state": state})
    with pytest.raises(InputError, match=r"odd\.safetensors is"):
        checkpoint.load(path)


def test_a_file_that_may_not_be_read_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(InputError, match=r"^cannot read .*a\.safetensors: permission denied$"):
        checkpoint.load(tmp_path / "a.safetensors")


def test_files_are_flushed_before_they_are_renamed_and_their_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    rename = Path.replace

    def fsync(handle: int) -> None:
        done.append("folder" if os.path.samestat(os.fstat(handle), tmp_path.stat()) else "file")

    def renamed(path: Path, target: Path) -> Path:
        done.append("rename")
        return rename(path, target)

    monkeypatch.setattr("os.fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    checkpoint.save(tmp_path / "a.safetensors", {"x": torch.zeros(2)})
    assert done == ["file", "rename", "folder"]


def state_of(model: nn.Module) -> State:
    return State(model, optimizer("adam", model.parameters(), 0.1))


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    state_of(nn.Linear(3, 2)).save(tmp_path)
    with pytest.raises(InputError, match="belongs to another model"):
        state_of(nn.Linear(4, 2)).restore(tmp_path)


def test_a_folder_that_was_taken_away_does_not_come_back(tmp_path: Path) -> None:
    state = state_of(nn.Linear(3, 2))
    state.save(tmp_path / "new" / "checkpoints")
    shutil.rmtree(tmp_path / "new")
    with pytest.raises(WriteError, match=r"cannot write .*last\.safetensors: no such file"):
        state.save(tmp_path / "new" / "checkpoints")
    assert not (tmp_path / "new").exists()


def test_infinite_masks_are_kept_and_infinite_weights_refused_by_name(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    model.register_buffer("mask", torch.tensor([0.0, -torch.inf]))
    state_of(model).save(tmp_path)
    state_of(model).restore(tmp_path)
    tensors, numbers = checkpoint.load(tmp_path / LAST)
    tensors["model.weight"][0, 0] = torch.inf
    checkpoint.save(tmp_path / LAST, tensors, numbers)
    with pytest.raises(InputError, match=r"last\.safetensors .* its weights weight are not finite"):
        state_of(model).restore(tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"epoch": -1}, '"epoch", got -1'),
        ({"epoch": True}, 'expected a whole number as "epoch", got true'),
        ({"history": [{"loss": 1.0}]}, '"history.0.epoch" is missing'),
        ({"history": [{"epoch": math.inf}]}, 'a whole number as "history.0.epoch", got Infinity'),
        ({"history": [{"epoch": 1}]}, '"history.0.train_loss" is missing'),
        ({"history": [{"epoch": 1, "loss": []}]}, 'expected a number as "history.0.loss", got []'),
        ({"origin": {"num_threads": 1.5}}, 'a whole number as "origin.num_threads", got 1.5'),
        ({"origin": {"num_threads": 0}}, '"origin.num_threads", got 0'),
        ({"total_loss": 10**400}, 'expected a number as "total_loss", got 1000000000'),
        ({"history": [1]}, 'expected an object as "history.0", got 1'),
        ({"stopping": {"patience": 0, "best": 1.0}}, '"stopping.best_epoch" is missing'),
        ({"origin": []}, 'expected an object as "origin"'),
    ],
)
def test_a_header_of_another_form_is_refused_by_its_key(
    change: dict[str, object], told: str, tmp_path: Path
) -> None:
    state_of(nn.Linear(3, 2)).save(tmp_path)
    edit(tmp_path / LAST, change)
    with pytest.raises(InputError, match=r"last\.safetensors is damaged") as caught:
        state_of(nn.Linear(3, 2)).restore(tmp_path, "train_loss")
    assert told in str(caught.value)


def edit(path: Path, change: dict[str, object]) -> None:
    """Another state by hand, without a checksum."""
    tensors, state = checkpoint.load(path)
    save_file(tensors, path, {"state": json.dumps(state | change)})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rules": [{"patience": 1, "best": 1.0, "best_epoch": 1}]}, '2 objects as "rules", got 1'),
        ({"rules": [{"patience": 1, "best": [], "best_epoch": 1}]}, '"rules.0.best", got []'),
        ({"totals": [1.0]}, 'expected 2 numbers as "totals", got 1'),
        ({"totals": 1.0}, 'expected a list as "totals", got 1.0'),
        ({"diverged": [2]}, 'expected numbers below 2 as "diverged", got 2'),
        ({"diverged": ""}, 'expected a list as "diverged"'),
        ({"history": [{"epoch": 1, "train_loss": 1.0}]}, '"history.0.members" is missing'),
        ({"history": [{"epoch": 1, "members": [{"loss": ""}]}]}, '"history.0.members.0.loss", got'),
    ],
)
def test_a_header_of_many_networks_is_refused_by_its_key(
    change: dict[str, object], told: str, tmp_path: Path
) -> None:
    data = torch.randn(8, 3), torch.arange(8) % 2
    settings = [Settings(epochs=2, batch_size=4)] * 2

    def trained() -> None:
        fit_many([nn.Linear(3, 2), nn.Linear(3, 2)], data, settings=settings, folder=tmp_path)

    trained()
    edit(tmp_path / LAST, change)
    with pytest.raises(InputError, match=r"last\.safetensors is damaged") as caught:
        trained()
    assert told in str(caught.value)


def test_a_header_whose_metadata_are_null_has_no_state(tmp_path: Path) -> None:
    header = b'{"__metadata__":null,"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    path = tmp_path / "null.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    tensors, state = checkpoint.load(path)
    assert tensors["w"].tolist() == [0.0] and state == {}
