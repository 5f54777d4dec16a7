"""Every row of the suite runs at its tiny size, our contender and plain PyTorch's beside it.

Trainers that take seconds to import are left to `chainrule bench ROW --cases tiny`.
"""

import math

import pytest
import torch

from benchmarks.suite import machine, rows
from benchmarks.suite.contract import Growth, Race, ours

SLOW = ("compile", "Lightning", "Keras", "skorch", "Trainer", "fastai", "scikit", "transformers")
SLOW += ("ONNX", "stable-baselines")
every_row = pytest.mark.parametrize("name", [entry.name for entry in rows.entries()])


@pytest.fixture(autouse=True)
def restored():
    """Contenders tune their process as a whole."""
    threads = torch.get_num_threads()
    yield
    torch.set_float32_matmul_precision("highest")
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


@every_row
def test_a_row_keeps_the_contract(name):
    row = rows.load(name)
    assert isinstance(row, Race | Growth)
    if isinstance(row, Growth):
        assert len(row.tiny) == 2
        assert all(list(line.sizes) == sorted(line.sizes) for line in row.lines.values())
        return
    assert "chainrule" in ours(row)
    assert all(set(sizes) == set(row.tiny) for sizes in row.cases.values())
    for contender in row.contenders.values():
        assert set(contender.cases) <= {*row.cases, "tiny"}
    assert set(row.contenders[ours(row)].cases) in (set(), {*row.cases, "tiny"})


@every_row
@pytest.mark.filterwarnings("ignore")
def test_a_row_runs_at_its_tiny_size(name):
    row = rows.load(name)
    if isinstance(row, Growth):
        for line in row.lines.values():
            if not machine.missing(line.needs):
                line.build(row.tiny[0])()
        return
    figures, parameters = {}, set()
    for who, contender in row.contenders.items():
        absent = machine.missing(contender.needs)
        takes_part = not contender.cases or "tiny" in contender.cases
        if not takes_part or absent or any(word in who for word in SLOW):
            continue
        ready = contender.build(**row.tiny)
        ready.unit()
        parameters |= {ready.parameters} - {None}
        if ready.quality:
            figures[who] = ready.quality(0)
    assert len(parameters) <= 1
    assert all(map(math.isfinite, figures.values()))
    if row.work:
        assert row.work(**row.tiny).flops >= 0
