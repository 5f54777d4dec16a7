"""Sets of shards: published whole, one after another, and never written over."""

import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.checkpoint import CheckpointException

from chainrule.training.distributed import shards
from chainrule.training.distributed.lost import LostProcessError
from chainrule.training.files import WriteError

NUMBERS = {"epoch": 1, "step": 2}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path) -> Iterator[None]:
    """A group of one process."""
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def begun(folder: Path, value: float) -> "Future[Any]":
    return shards.save(folder, {"w": torch.full((3,), value)}, NUMBERS, None)


def test_a_set_of_the_same_step_leaves_the_published_one_alone_until_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards.settled(begun(tmp_path, 1.0))
    real = shards.dcp.async_save
    monkeypatch.setattr(shards.dcp, "async_save", lambda *_, **__: Future())  # killed meanwhile
    begun(tmp_path, 2.0)
    assert shards.whole(tmp_path)["w"].tolist() == [1.0] * 3
    monkeypatch.setattr(shards.dcp, "async_save", real)
    shards.settled(begun(tmp_path, 3.0))
    assert shards.whole(tmp_path)["w"].tolist() == [3.0] * 3
    assert len(list(tmp_path.glob("set-*"))) == 1


def test_a_set_is_settled_when_its_manifest_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shards.digest
    monkeypatch.setattr(shards, "digest", lambda path: time.sleep(0.3) or real(path))
    shards.settled(begun(tmp_path, 1.0))
    assert (tmp_path / shards.MANIFEST).is_file()


def test_a_set_that_cannot_be_written_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise WriteError(f"cannot write {path}: no space left on device")

    monkeypatch.setattr(shards, "replace", full)
    with pytest.raises(WriteError, match="no space left"):
        shards.settled(begun(tmp_path, 1.0))

    def broken(self: Any, *_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards.HuggingFaceStorageWriter, "write_data", broken)
    with pytest.raises(WriteError, match=r"cannot write the checkpoint: .*No space left on device"):
        shards.settled(begun(tmp_path, 1.0))


GLOO = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Connection closed by peer"


@pytest.mark.parametrize(
    "fault",
    [
        RuntimeError(GLOO),
        RuntimeError("Application timeout caused pair closure"),
        CheckpointException("", {1: (RuntimeError(GLOO), [])}),  # type: ignore[dict-item]
    ],
)
def test_a_process_lost_while_a_set_is_written_is_no_fault_of_the_disk(fault: Exception) -> None:
    pending: Future[Any] = Future()
    pending.set_exception(fault)
    with pytest.raises(LostProcessError, match="was lost, or did not answer"):
        shards.settled(pending)


def test_a_fault_of_the_writer_itself_stays_what_it_is() -> None:
    pending: Future[Any] = Future()
    pending.set_exception(RuntimeError("of another kind"))
    with pytest.raises(RuntimeError, match="of another kind"):
        shards.settled(pending)
