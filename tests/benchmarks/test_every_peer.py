"""The contender of every peer that is installed runs at the tiny size, in a process as in a race.

`test_every_row` has plain PyTorch; here are the libraries that take seconds to import, each in a
row that builds it in its own way.
"""

import math

import pytest

from benchmarks.suite import machine, rows
from benchmarks.suite.contract import Race, sizes_of
from benchmarks.suite.process import ROOT, Process

PEERS = [
    ("mlp", "torch.compile"),
    ("mlp", "Lightning"),
    ("mlp", "skorch"),
    ("mlp", "fastai"),
    ("mlp", "Keras on JAX"),
    ("mlp", "scikit-learn"),
    *((row, "Keras on torch") for row in ("mlp", "lenet", "cnn", "resnet20")),
    ("search", "scikit-learn"),
    ("gpt", "transformers' Trainer"),
    ("generation", "transformers"),
    ("evaluation", "ONNX Runtime"),
    ("dqn", "stable-baselines3"),
    ("graphs", "PyG, hand-tuned loop"),
]


@pytest.mark.parametrize(("name", "who"), PEERS)
def test_a_peer_that_is_installed_does_a_unit_and_has_its_quality(name, who):
    row = rows.load(name)
    assert isinstance(row, Race)
    contender = row.contenders[who]
    if absent := machine.missing(contender.needs):
        pytest.skip(f"{who} does not take part: {' and '.join(absent)} not installed")
    process = Process(
        *(name, "tiny", who), threads=1, environment=contender.environment, source=ROOT / "src"
    )
    try:
        parameters = process.answer()["parameters"]
        assert parameters is None or parameters > 0
        assert process.told("unit")["seconds"] >= 0
        if row.quality:
            assert math.isfinite(process.told("quality 0")["quality"])
    finally:
        process.kill()


def test_every_library_that_a_row_needs_is_among_these_peers():
    covered = {need for name, who in PEERS for need in rows.load(name).contenders[who].needs}
    for entry in rows.entries():
        row = rows.load(entry.name)
        if isinstance(row, Race) and not row.starts_processes:
            needed = {need for each in row.contenders.values() for need in each.needs}
            assert needed <= covered | {"gymnasium"}, entry.name
            assert sizes_of(row, "tiny")
