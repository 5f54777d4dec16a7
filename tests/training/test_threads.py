"""Threads of the machine and of Python: bounded, restored, and without effect on each other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit, fit_many, iterate
from chainrule.training.devices import MOST_THREADS

X, Y = torch.randn(200, 6), torch.arange(200) % 3


def network(seed: int, foreign: bool = False) -> nn.Module:
    torch.manual_seed(seed)
    if foreign:
        return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
    return MLP(6, [32], 3, dropout=0.5)


def trained(model: nn.Module, seed: int) -> list[Tensor]:
    fit(model, (X, Y), epochs=6, batch_size=10, seed=seed)
    return [p.detach() for p in model.parameters()]


@pytest.mark.parametrize("foreign", [False, True])
def test_fits_in_two_python_threads_end_like_one_after_the_other(foreign: bool) -> None:
    seeds = range(4)
    alone = [trained(network(seed, foreign), seed) for seed in seeds]
    models = [network(seed, foreign) for seed in seeds]
    before = torch.get_num_threads(), (torch.tensor(1e-39) * 1).item()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(trained, models, seeds))
    for one, other in zip(alone, together, strict=True):
        assert all(map(torch.equal, one, other))
    assert (torch.get_num_threads(), (torch.tensor(1e-39) * 1).item()) == before


@pytest.mark.parametrize("threads", [MOST_THREADS + 1, 100_000])
def test_more_threads_than_a_process_can_start_are_refused(threads: int) -> None:
    with pytest.raises(InputError, match=f"`threads` must be at most {MOST_THREADS}"):
        iterate(network(0), (X, Y), threads=threads)
    with pytest.raises(InputError, match="`threads` must be at most"):
        fit_many([network(0), network(1)], (X, Y), settings=[Settings(threads=threads)] * 2)


def test_a_refused_fit_leaves_the_next_one_alone() -> None:
    before, expected = torch.get_num_threads(), trained(network(0), 0)
    for wrong in (100_000, 1.5, "two"):
        with pytest.raises(InputError):
            fit(network(0), (X, Y), threads=wrong)
    assert torch.get_num_threads() == before
    assert all(map(torch.equal, trained(network(0), 0), expected))


def interrupted(folder: Path, **options: Any) -> None:
    """A run that is stopped in its first epoch."""
    steps = iterate(network(0), (X, Y), epochs=3, batch_size=10, folder=folder, **options)
    next(now for now in steps if now.record)
    steps.close()


def test_a_resumed_run_has_the_threads_it_began_with(tmp_path: Path) -> None:
    """Its steps are so small that the library would now choose one."""
    used = []
    interrupted(tmp_path, threads=2)
    steps = iterate(network(0), (X, Y), epochs=3, batch_size=10, folder=tmp_path, threads=2)
    for _ in steps:
        used.append(torch.get_num_threads())
    assert set(used) == {2}


def test_a_resumed_run_refuses_another_number_of_threads(tmp_path: Path) -> None:
    interrupted(tmp_path, threads=1)
    with pytest.raises(InputError, match="it differs in threads"):
        fit(network(0), (X, Y), epochs=3, batch_size=10, folder=tmp_path, threads=2)


def test_the_number_the_library_chose_is_kept_where_it_would_choose_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path)
    monkeypatch.setattr("chainrule.training.devices.threads_for", lambda *_: 2)
    steps = iterate(network(0), (X, Y), epochs=3, batch_size=10, folder=tmp_path)
    assert {torch.get_num_threads() for _ in steps} == {1}


def test_a_machine_with_too_few_threads_says_that_bits_may_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.devices.threads_for", lambda *_: 2)
    interrupted(tmp_path)
    monkeypatch.setattr("chainrule.training.devices.MOST_THREADS", 1)
    with pytest.warns(UserWarning, match="may differ in their last bits"):
        fit(network(0), (X, Y), epochs=3, batch_size=10, folder=tmp_path)
