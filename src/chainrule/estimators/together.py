"""Many estimators fitted at once: the networks of a grid search in one batched program.

Estimator k ends where its own `fit` would, up to rounding: its weights are set aside in the epoch
in which its training loss is flat, or are the best on its own validation rows.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import DivergenceError, NotBatchableError, StopTraining
from chainrule.estimators.members import Arrays, FlatLoss, Records, until_patience_ends
from chainrule.estimators.network import NetworkEstimator, Problem, objective, split
from chainrule.estimators.sparse import is_sparse
from chainrule.learning.tasks import Task
from chainrule.training import Settings
from chainrule.training.batched.loop import BatchedTrainer
from chainrule.training.batched.run import stack_up
from chainrule.training.loop import run

OWN = {"learning_rate_init", "weight_decay", "random_state", "dropout"}
"""Parameters in which networks of one program may differ."""
Fold = tuple[Tensor, Tensor]


def fit_together(estimators: Sequence[NetworkEstimator], data: Sequence[tuple[Any, Any]]) -> None:
    """Fit estimator k on data k, those that are alike in one program."""
    groups: dict[str, list[tuple[NetworkEstimator, Problem]]] = {}
    kept: dict[tuple[int, str], Problem] = {}
    for own, (X, y) in zip(estimators, data, strict=True):
        if own._members > 1 or own.warm_start or own.device not in ("auto", "cpu"):
            raise NotBatchableError("expected estimators of one new network each, on the CPU")
        problem = own._problem(X, y)
        if is_sparse(problem.arrays[0]):
            raise NotBatchableError("expected dense rows, which one program can hold")
        alike = repr({k: v for k, v in own.get_params().items() if k not in OWN})
        alike += f" {problem.outputs} {problem.arrays[0].dtype}"
        problem = kept.setdefault((id(X), alike), problem)  # one copy of the data of a fold
        groups.setdefault(alike, []).append((own, problem))
    for members in groups.values():
        fit_group(*map(list, zip(*members, strict=True)))


def fit_group(estimators: list[NetworkEstimator], problems: list[Problem]) -> None:
    """Train networks of one architecture, each on rows of its own."""
    first, seeds = estimators[0], [own._seeds()[0] for own in estimators]
    largest = max(len(problem.arrays[0]) for problem in problems)
    settings = [own._settings(largest, s) for own, s in zip(estimators, seeds, strict=True)]
    networks = [
        own._network(seed, problem.arrays[0], problem.outputs)
        for own, problem, seed in zip(estimators, problems, seeds, strict=True)
    ]
    arrays, folds = stacked_rows(estimators, problems, seeds)
    arrays, task = objective(arrays, problems[0].loss)
    flat = None if first.early_stopping else (first.tol, first.n_iter_no_change)
    histories = train(networks, arrays, settings, task, folds, flat)
    for own, network, history in zip(estimators, networks, histories, strict=True):
        own.modules_, own.histories_, own.n_iter_ = [network], [history], len(history)
        own._run_states = []


def stacked_rows(
    estimators: Sequence[NetworkEstimator], problems: Sequence[Problem], seeds: Sequence[int]
) -> tuple[Arrays, list[Fold]]:
    """The rows of all problems below each other, and which of them each network trains on."""
    blocks: list[Arrays] = []
    places: dict[tuple[int, int | None], Fold] = {}
    folds, end = [], 0
    for own, problem, seed in zip(estimators, problems, seeds, strict=True):
        key = id(problem), seed if own.early_stopping else None
        if key not in places:
            nothing = tuple(t[:0] for t in problem.arrays)
            parts = (problem.arrays, nothing)
            if own.early_stopping:
                parts = split(problem.arrays, own.validation_fraction, seed)
            middle, start = end + len(parts[0][0]), end
            end = middle + len(parts[1][0])
            places[key] = torch.arange(start, middle), torch.arange(middle, end)
            blocks.extend(parts)
        folds.append(places[key])
    return tuple(map(torch.cat, zip(*blocks, strict=True))), folds


def train(
    networks: Sequence[nn.Module],
    arrays: Arrays,
    settings: Sequence[Settings],
    task: Task,
    folds: Sequence[Fold],
    flat: tuple[float, int] | None,
) -> list[Records]:
    """Train every network in place; returns their records by epoch, up to where each one ends."""
    trainer = BatchedTrainer(
        networks, stack_up(networks, arrays, None, settings, task, folds, None)
    )
    histories: list[Records] = [[] for _ in networks]
    rules = [FlatLoss(*flat) for _ in networks] if flat else []
    training = set(range(len(networks)))
    steps = run(trainer, None)
    for now in steps:
        for k in sorted(training) if now.record else ():
            histories[k].append({"epoch": now.epoch, **now.members[k]})  # type: ignore[attr-defined]
            if rules and (rules[k].update(histories[k][-1]["train_loss"]) or now.stopped):
                set_aside(trainer, k)
                training.remove(k)
        if not training:
            with suppress(StopIteration):
                steps.throw(StopTraining("every training loss is flat"))
    if trainer.state.diverged:
        raise DivergenceError("the training loss of a network is no longer finite")
    if flat:
        return histories
    return [until_patience_ends(h, own) for h, own in zip(histories, settings, strict=True)]


def set_aside(trainer: BatchedTrainer, k: int) -> None:
    """Keep the present weights of network k as those it ends with."""
    state, place = trainer.state, trainer.batched.order.index(k)
    now = trainer.batched.stack.state_dict()
    state.best_weights = state.best_weights or {name: t.clone() for name, t in now.items()}
    for name, t in now.items():
        state.best_weights[name][place] = t[place]
