"""Many networks at once: K members of one architecture, trained in one batched program.

    θ_k ← optimizer(θ_k, ∇ ℓ_k(θ_k; batch_k), η_k)        for k = 1 … K in the same operations

Each member has its own start, its own seed (so its own order of examples and its own masks), rate,
decay, dropout, label smoothing and, for cross-validation, its own rows. Member k ends where `fit`
with the same seed and settings ends, to rounding. The gain: small matrix products of K networks
become large ones, and one call of an operation serves all. Notes: L "Tuning and model selection".
"""

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.learning.metrics import accuracy, error, wrong
from chainrule.learning.optimizers import optimizer as make_optimizer
from chainrule.learning.tasks import CLASSES, Objective
from chainrule.training import devices
from chainrule.training.batched.run import Crowd, CrowdState, Together, gather
from chainrule.training.batched.stack import Stack
from chainrule.training.batched.step import give_up, update
from chainrule.training.checks import Arrays
from chainrule.training.loop import TICK, saving
from chainrule.training.randomness import permutation
from chainrule.training.settings import Settings
from chainrule.training.spec import origin
from chainrule.training.state import LAST

AT_ONCE = 2**22  # numbers of a cross-validation's held-out rows that are put through together


def fit_many(
    models: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None = None,
    settings: Sequence[Settings] = (),
    objective: Objective = CLASSES,
    folds: Sequence[tuple[Tensor, Tensor]] | None = None,
    folder: Path | None = None,
) -> Generator[Together]:
    """Train the models in place, in one program on the CPU; yields progress like `fit`.

    settings: one for each model; they may differ in seed, learning rate, weight decay and label
        smoothing, and the models in their dropout. Without them, seeds 0, 1, 2, …
    folds: for each model the rows of `train` it learns from and those it is validated on.

    A member whose loss is no longer finite is given up; its figures are infinite from then on.
    """
    crowd = gather(models, train, validation, settings, objective, folds)
    common = crowd.common
    state = CrowdState(crowd.stack, make_optimizer(common.optimizer, crowd.moved, 1.0))
    state.origin = {"members": [origin(s, train) for s in crowd.settings]}
    if folder is not None and (folder / LAST).exists():
        state.restore(folder)
    outer_randomness = torch.get_rng_state()
    with devices.prepared(torch.device("cpu"), common.threads or torch.get_num_threads()):
        try:
            yield from saving(epochs(state, crowd), state, folder, common.checkpoint_seconds)
        finally:
            torch.set_rng_state(outer_randomness)
    crowd.stack.unstack([models[k] for k in crowd.places], state.best_weights or None)


def epochs(state: CrowdState, crowd: Crowd) -> Iterator[Together]:
    """Past records, then epoch after epoch until there is a reason to stop."""
    common, steps = crowd.common, crowd.steps
    for number, past in enumerate(state.history, 1):
        yield together(number, crowd, past, "")
    while not state.stopped:
        began = time.perf_counter()
        for _ in batches(state, crowd):
            mean = sum(state.totals) / sum(map(len, crowd.rows)) * steps / state.step
            yield Together(state.epoch + 1, common.epochs, state.step, steps, mean)
        members = validate(state, crowd)
        keep_best(state, crowd, members)
        state.stopped = reason_to_stop(state, common)
        seconds = time.perf_counter() - began
        state.history.append({"members": members, "seconds": seconds})
        done = together(state.epoch + 1, crowd, state.history[-1], state.stopped)
        state.next_epoch()
        state.totals = []
        yield done


def together(epoch: int, crowd: Crowd, past: dict[str, Any], stopped: str) -> Together:
    """Means over the members that are still learning, and every member's own figures."""
    members, steps = past["members"], crowd.steps
    means = {
        name: fmean(values) if (values := finite(m[name] for m in members)) else math.inf
        for name in members[0]
    }
    record = {"epoch": epoch, **means, "seconds": past["seconds"]}
    loss = means["train_loss"]
    given = tuple(members[crowd.places.index(k)] for k in range(crowd.members))
    return Together(epoch, crowd.common.epochs, steps, steps, loss, record, stopped, given)


def finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def batches(state: CrowdState, crowd: Crowd) -> Iterator[None]:
    """The rest of the current epoch; yields about every tenth of a second."""
    order = orders(crowd, state.epoch)
    totals = torch.tensor(state.totals or [0.0] * crowd.members, dtype=torch.float64)
    crowd.stack.train()
    ticked = time.perf_counter()
    for rows in order.split(crowd.common.batch_size, dim=1)[state.step :]:
        totals += update(state, crowd, rows)
        if not math.isfinite(totals.sum().item()):
            for k in (~totals.isfinite()).nonzero().flatten().tolist():
                give_up(state, crowd, k)
                totals[k] = 0
        state.step += 1
        if time.perf_counter() - ticked >= TICK or state.step == crowd.steps:
            ticked = time.perf_counter()
            state.totals = totals.tolist()
            yield


def orders(crowd: Crowd, epoch: int) -> Tensor:
    """(G, rows): each group's own order of its own rows, filled up with -1."""
    firsts = slice(None, None, crowd.members // crowd.groups)
    parts = [
        rows[permutation(len(rows), own.seed, epoch)]
        for rows, own in zip(crowd.rows[firsts], crowd.settings[firsts], strict=True)
    ]
    return nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=-1)


def validate(state: CrowdState, crowd: Crowd) -> list[dict[str, float]]:
    """Each member's training loss, and its figures on the validation split or its fold."""
    sizes = map(len, crowd.rows)
    members = [
        {"train_loss": total / size} for total, size in zip(state.totals, sizes, strict=True)
    ]
    if crowd.held is not None:
        outputs, targets = zip(*answers(crowd), strict=True)
        each = [torch.cat(parts) for parts in zip(*targets, strict=True)]
        losses = crowd.objective.loss(torch.cat(outputs), *each).double()  # of all in one call
        examples = [len(output) for output in outputs]
        mistakes = None  # likewise: one call for each member costs more than small networks
        if error in crowd.objective.metrics.values():
            mistakes = wrong(torch.cat(outputs), *each).double().split(examples)
        for k, part in enumerate(losses.split(examples)):
            found = dict.fromkeys(["loss", *crowd.objective.metrics], math.inf)
            if math.isfinite(mean := part.mean().item()):
                found["loss"] = mean
                share = None if mistakes is None else mistakes[k].mean().item()
                for name, metric in crowd.objective.metrics.items():
                    if share is not None and metric in (error, accuracy):
                        found[name] = share if metric is error else 1 - share
                    else:
                        found[name] = metric(outputs[k], *targets[k])
            else:
                give_up(state, crowd, k)
            members[k] |= {f"validation_{name}": value for name, value in found.items()}
    for k in state.lost:
        members[k] = dict.fromkeys(members[k], math.inf)
    return members


def answers(crowd: Crowd) -> Iterator[tuple[Tensor, Arrays]]:
    """Outputs and targets of every member, computed together."""
    crowd.stack.eval()
    if isinstance(crowd.held, tuple):
        outputs = outputs_many(crowd.stack, crowd.held[0])
        for output in outputs:
            yield output, crowd.held[1:]
    elif crowd.held is not None:
        x = crowd.held_inputs
        most = AT_ONCE if x.ndim == 3 else AT_ONCE // 4
        parts = -(-x.numel() * crowd.members // (crowd.groups * most))
        with torch.inference_mode():
            found = [crowd.stack(part, []) for part in x.tensor_split(parts, 1)]
        outputs = torch.cat(found, 1).float().contiguous()
        for output, split in zip(outputs, crowd.held, strict=True):
            yield output[: len(split[0])], split[1:]


def outputs_many(stack: Stack, x: Tensor, batch_size: int = 1024) -> Tensor:
    """(K, examples, outputs): what every member answers in evaluation mode."""
    stack.eval()
    with torch.inference_mode():
        return torch.cat([stack(part[None], []) for part in x.split(batch_size)], 1).float()


def keep_best(state: CrowdState, crowd: Crowd, members: list[dict[str, float]]) -> None:
    """Remember the weights of every member that is better than ever and has not run out."""
    common = crowd.common
    if not common.patience:
        return
    name = f"validation_{common.monitor}"
    values = [crowd.objective.cost(common.monitor, member[name]) for member in members]
    state.bests = state.bests or [math.inf] * crowd.members
    state.best_epochs = state.best_epochs or [0] * crowd.members
    now = {name: t.clone() for name, t in crowd.stack.state_dict().items()}
    state.best_weights = state.best_weights or now
    for k, value in enumerate(values):
        waiting = state.epoch - state.best_epochs[k] < common.patience
        if value < state.bests[k] and waiting and k not in state.lost:
            state.bests[k], state.best_epochs[k] = value, state.epoch + 1
            for name, t in now.items():
                state.best_weights[name][k] = t[k]


def reason_to_stop(state: CrowdState, common: Settings) -> str:
    """Why this epoch was the last, or nothing."""
    if common.patience and all(
        state.epoch + 1 - best >= common.patience for best in state.best_epochs
    ):
        return f"no better validation {common.monitor} for {common.patience} epochs in any member"
    return "all epochs done" if state.epoch + 1 >= common.epochs else ""
