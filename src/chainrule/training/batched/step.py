"""One step of many networks at once: batch, gradients, update."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from chainrule.learning.losses import cross_entropy, cross_entropy_of_many, uniform_cross_entropy
from chainrule.learning.schedules import rate_factor
from chainrule.training.batched.run import BatchedRun, per_member
from chainrule.training.batched.stack import Masks
from chainrule.training.batched.state import BatchedState
from chainrule.training.randomness import mix

DECOUPLED = {"adamw", "lion"}


def update(state: BatchedState, run: BatchedRun, rows: Tensor) -> Tensor:
    """One step of all on (G, batch) rows; returns each member's sum of losses before it."""
    K, b = run.members, rows.shape[1]
    x, targets, masks = batch_of(state, run, rows if run.equal_rows else rows.clamp_min(0))
    for p in run.stack.weights:
        p.grad = None
    output = run.stack(x, masks)
    if run.task.minimized is cross_entropy:
        losses = cross_entropy_of_many(output, targets[0].view(K, b))
    else:
        losses = run.task.minimized(output.flatten(0, 1), *targets).view(K, b)
    if run.smoothing is not None:
        each, uniform = run.smoothing[:, None], uniform_cross_entropy(output.flatten(0, 1))
        losses = (1 - each) * losses + each * uniform.view(K, b)
    weights = weights_of(run, rows, targets[0])
    if weights is None:
        mean = losses.mean(1)
    else:
        mean = (weights * losses).sum(1) / weights.sum(1).clamp_min(1e-12)
    mean.sum().backward()
    optimizer_step(state, run)
    return mean.detach().double() * (b if run.equal_rows else each_member(run, rows >= 0).sum(1))


def weights_of(run: BatchedRun, rows: Tensor, labels: Tensor) -> Tensor | None:
    """(K, batch): zero where a member has no row, the weight of its class elsewhere."""
    if run.equal_rows and run.class_weights is None:
        return None
    present = each_member(run, rows >= 0).to(run.stack.weights[0].dtype)
    if run.class_weights is None:
        return present
    return present * run.class_weights.gather(1, labels.view(present.shape))


def batch_of(
    state: BatchedState, run: BatchedRun, rows: Tensor
) -> tuple[Tensor, list[Tensor], list[Masks]]:
    """Inputs (G, batch, …), targets (K · batch, …) and masks, each member's by its own seed."""
    b = rows.shape[1]
    t = state.epoch * run.steps + state.step
    x, *targets = (
        t.index_select(0, rows.flatten()).view(*rows.shape, *t.shape[1:]) for t in run.train
    )
    targets = [each_member(run, t).flatten(0, 1) for t in targets]
    augment, dropouts, drawn, changed = run.augment, run.dropouts, [], []
    if augment is None and not dropouts.active:
        return x, targets, []
    for k, settings in enumerate(run.settings):
        torch.default_generator.manual_seed(mix(settings.seed, t))
        if augment is not None:
            changed.append(augment(x[k]))
        drawn.append(dropouts.draw(k, b))
    x = torch.stack(changed) if changed else x  # an augmentation may drop points
    return x, targets, dropouts.masks(drawn) if dropouts.active else []


def each_member(run: BatchedRun, t: Tensor) -> Tensor:
    """(G, …) → (K, …)."""
    return t if len(t) == run.members else t.repeat_interleave(run.members // len(t), 0)


@torch.no_grad()
def optimizer_step(state: BatchedState, run: BatchedRun) -> None:
    """Clip, decay and step, each member at its own rate."""
    common, weights = run.common, run.stack.weights
    t = state.epoch * run.steps + state.step
    share = rate_factor(common.schedule, t, common.epochs * run.steps)
    share = common.final_rate + (1 - common.final_rate) * share
    if common.clip_norm:
        clip(weights, common.clip_norm)
    if run.decays is not None:
        shrink(run, share)
    if run.one_rate:
        for group in state.optimizer.param_groups:
            group["lr"] = common.learning_rate * share
        state.optimizer.step()
    else:
        for p, step in zip(weights, run.optimized, strict=True):
            step.grad = p.grad
        state.optimizer.step()
        torch._foreach_addcmul_(weights, run.optimized, run.rates, share)
        torch._foreach_zero_(run.optimized)


def shrink(run: BatchedRun, share: float) -> None:
    """Weight decay of the weights: in the gradient, or decoupled from it."""
    stack, decoupled = run.stack, run.common.optimizer in DECOUPLED
    each = zip(stack.weights, run.rates, run.decays or (), stack.penalized, strict=True)
    for p, rate, decay, penalized in each:
        if penalized and decoupled:
            p.mul_(1 - share * rate * decay)
        elif penalized:
            p.grad.addcmul_(p, decay)


def clip(weights: Sequence[nn.Parameter], largest: float) -> None:
    """Shrink each member's gradient to the largest norm."""
    squares = [p.grad.flatten(1).square().sum(1) for p in weights if p.grad is not None]
    norm = torch.stack(squares).sum(0).sqrt()
    factor = (largest / (norm + 1e-6)).clamp_max(1)
    for p in weights:
        if p.grad is not None:
            p.grad.mul_(per_member(factor, p))


@torch.no_grad()
def zero_out(state: BatchedState, run: BatchedRun, k: int) -> None:
    """Set a diverged member to zero, so that its numbers cannot disturb the others."""
    state.diverged = sorted({*state.diverged, k})
    slots = (t for slot in state.optimizer.state.values() for t in slot.values())
    for t in (*run.stack.weights, *slots):
        if isinstance(t, Tensor) and t.ndim:
            t[k] = 0
