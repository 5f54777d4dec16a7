"""Rows on the disk: every row once, deterministic, resumable, shared among processes."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import chainrule as cr
from chainrule.data.readers.blocks import ArrayBlocks
from chainrule.errors import InputError
from chainrule.learning.tasks import REGRESSION
from chainrule.training import Settings, fit, iterate
from chainrule.training.sources import BlockShuffledRows, as_source


def numbered(rows: int, block_rows: int, window: int = 64) -> BlockShuffledRows:
    """Rows that hold their own number, 8 bytes each."""
    y = torch.arange(rows, dtype=torch.float32)
    source = BlockShuffledRows(ArrayBlocks(((y[:, None], y),), block_rows), window_bytes=window)
    return source.prepared(REGRESSION, torch.device("cpu"), training=True)  # type: ignore


def batches(source: BlockShuffledRows, size: int, epoch: int = 0, seed: int = 0) -> list[Tensor]:
    chosen = Settings(batch_size=size, seed=seed)
    batch = source.epoch(chosen, epoch)
    return [batch(step).inputs[0].flatten() for step in range(source.steps(chosen))]


def test_windows_take_the_memory_of_those_before_them() -> None:
    source, chosen = numbered(64, 4), Settings(batch_size=8, epochs=3)
    places, kept = set(), []
    for epoch in range(3):
        batch = source.epoch(chosen, epoch)
        for step in range(8):
            kept.append(batch(step).inputs[0])
            assert source.now is not None
            for read in source.now.reading.values():
                places.add(read.result().arrays[0].data_ptr())
        assert sorted(torch.cat(kept[-8:]).flatten().tolist()) == list(range(64))
    assert len(places) == 2  # of 24 windows
    for epoch in range(3):  # batches are copies
        assert sorted(torch.cat(kept[8 * epoch : 8 * epoch + 8]).flatten().tolist()) == [*range(64)]


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 70),
    block_rows=st.integers(1, 20),
    window=st.integers(1, 200),
    size=st.integers(1, 30),
    ranks=st.integers(1, 4),
)
def test_every_row_comes_once_and_shares_add_up(
    rows: int, block_rows: int, window: int, size: int, ranks: int
) -> None:
    source = numbered(rows, block_rows, window)
    whole = batches(source, size)
    assert sorted(torch.cat(whole).tolist()) == list(range(rows))
    assert [len(batch) for batch in whole[:-1]] == [size] * (math.ceil(rows / size) - 1)
    shares = []
    for rank in range(ranks):
        own = source.share(rank, ranks)
        assert own is not None
        own.task = REGRESSION
        shares.append(batches(own, size))
    for step, batch in enumerate(whole):
        lengths = [(r + 1) * len(batch) // ranks - r * len(batch) // ranks for r in range(ranks)]
        parts = [share[step] for share in shares]
        assert [len(part) for part in parts] == [max(1, n) for n in lengths]  # one stands in
        own_rows = [part[:n] for part, n in zip(parts, lengths, strict=True)]
        assert torch.equal(torch.cat(own_rows), batch)


def test_a_batch_is_a_function_of_seed_epoch_and_step() -> None:
    source = numbered(500, 16, window=512)
    whole = batches(source, 32, epoch=3)
    alone = source.epoch(Settings(batch_size=32), 3)
    for step in (9, 2, 15):  # in any order, as a resumed run would ask
        assert torch.equal(alone(step).inputs[0].flatten(), whole[step])
    others = (batches(source, 32, epoch=4), batches(source, 32, epoch=3, seed=1))
    assert not any(torch.equal(torch.cat(other), torch.cat(whole)) for other in others)


def test_rows_of_distant_blocks_share_a_batch() -> None:
    found = batches(numbered(1000, 10, window=8 * 200), 50)
    blocks = [len(Counter((batch // 10).tolist())) for batch in found]
    assert min(blocks) > 10  # a window has 20 blocks


def test_only_two_windows_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    source, read = numbered(400, 10, window=8 * 50), []

    def counted(blocks: ArrayBlocks, block: int, rows: np.ndarray | None = None) -> object:
        if blocks is source.blocks:  # a thread of an earlier test may still read ahead
            read.append(block)
        return original(blocks, block, rows)

    original = ArrayBlocks.read
    monkeypatch.setattr(ArrayBlocks, "read", counted)
    batch = source.epoch(Settings(batch_size=25), 0)
    batch(8)  # in the fifth of eight windows
    batch(9)
    assert len(read) <= 10


def rings(rows: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    y = np.arange(rows) % 2
    angle, radius = draw.uniform(0, 2 * np.pi, rows), 0.5 + y + 0.1 * draw.normal(size=rows)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32), y


@pytest.fixture
def files(tmp_path: Path) -> ArrayBlocks:
    x, y = rings(600)
    for k, part in enumerate(np.split(np.arange(600), 3)):
        np.save(tmp_path / f"x{k}.npy", x[part])
        np.save(tmp_path / f"y{k}.npy", y[part])
    paths = ([tmp_path / f"{name}{k}.npy" for k in range(3)] for name in "xy")
    return cr.data.array_blocks(*paths, block_rows=16)


def test_a_network_learns_from_files_and_is_evaluated_on_them(files: ArrayBlocks) -> None:
    torch.manual_seed(0)
    model = cr.models.MLP(2, [16], 2)
    history = cr.fit(model, files, files, epochs=30, learning_rate=0.02, progress=False)
    assert history[-1]["validation_accuracy"] > 0.95
    x, y = rings(600)
    both = torch.from_numpy(x), torch.from_numpy(y)
    found, expected = cr.evaluate(model, files), cr.evaluate(model, both)
    assert found["loss"] == pytest.approx(expected["loss"], abs=1e-6)


def test_a_run_resumes_in_the_middle_of_an_epoch(files: ArrayBlocks, tmp_path: Path) -> None:
    def network() -> cr.models.MLP:
        torch.manual_seed(0)
        return cr.models.MLP(2, [8], 2, dropout=0.2)

    chosen = Settings(epochs=3, batch_size=50)
    source = BlockShuffledRows(files, window_bytes=2_000)
    straight, broken = network(), network()
    fit(straight, source, settings=chosen)
    steps = iterate(broken, source, settings=chosen, folder=tmp_path / "run", tick=0.0)
    for number, _ in enumerate(steps, 1):
        if number == 17:  # in the second epoch
            steps.close()
    fit(broken, source, settings=chosen, folder=tmp_path / "run")
    for a, b in zip(straight.parameters(), broken.parameters(), strict=True):
        assert torch.equal(a, b)
    other = BlockShuffledRows(files, window_bytes=1_000)
    with pytest.raises(InputError, match="differs in window_bytes"):
        fit(network(), other, settings=chosen, folder=tmp_path / "run")


def test_images_of_bytes_become_numbers_and_are_augmented() -> None:
    images = torch.full((10, 1, 2, 2), 255, dtype=torch.uint8)
    blocks = ArrayBlocks(((images, torch.zeros(10)),), 4)
    source = as_source(blocks, Settings(), 1, augment=lambda x: x + 1)
    ready = source.prepared(REGRESSION, torch.device("cpu"), training=True)
    assert ready.epoch(Settings(batch_size=3), 0)(0).inputs[0].unique().tolist() == [2.0]


def test_what_cannot_work_is_refused(tmp_path: Path, files: ArrayBlocks) -> None:
    np.save(tmp_path / "x.npy", np.zeros((3, 2), np.float32))
    np.save(tmp_path / "y.npy", np.zeros(4))
    with pytest.raises(InputError, match="equally many rows"):
        cr.data.array_blocks(tmp_path / "x.npy", tmp_path / "y.npy")
    with pytest.raises(InputError, match="equally many shards"):
        cr.data.array_blocks([tmp_path / "x.npy"], [])
    with pytest.raises(InputError, match="inputs and a file of targets"):
        cr.data.array_blocks(tmp_path / "x.npy")
    model = cr.models.MLP(2, [4], 2)
    with pytest.raises(InputError, match="`class_weights` cannot be used here: the labels are not"):
        cr.fit(model, files, class_weights="balanced", progress=False)
    with pytest.raises(InputError, match="`window_bytes` must be at least 1"):
        BlockShuffledRows(files, window_bytes=0)
