"""One step of a whole crowd of networks: its batch, its gradients, its move."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from chainrule.learning.losses import cross_entropy, cross_entropy_of_many, uniform_cross_entropy
from chainrule.learning.schedules import schedule
from chainrule.training.batched.run import Crowd, CrowdState, per_member
from chainrule.training.batched.stack import Masks
from chainrule.training.randomness import mix

DECOUPLED = {"adamw", "lion"}


def update(state: CrowdState, crowd: Crowd, rows: Tensor) -> Tensor:
    """One step of all on (G, batch) rows; returns each member's sum of losses before it."""
    K, b = crowd.members, rows.shape[1]
    x, targets, masks = batch_of(state, crowd, rows if crowd.alike else rows.clamp_min(0))
    for p in crowd.stack.weights:
        p.grad = None
    output = crowd.stack(x, masks)
    if crowd.objective.minimized is cross_entropy:
        losses = cross_entropy_of_many(output, targets[0].view(K, b))
    else:
        losses = crowd.objective.minimized(output.flatten(0, 1), *targets).view(K, b)
    if crowd.smoothing is not None:
        each, uniform = crowd.smoothing[:, None], uniform_cross_entropy(output.flatten(0, 1))
        losses = (1 - each) * losses + each * uniform.view(K, b)
    weights = weights_of(crowd, rows, targets[0])
    if weights is None:
        mean = losses.mean(1)
    else:
        mean = (weights * losses).sum(1) / weights.sum(1).clamp_min(1e-12)
    mean.sum().backward()
    move(state, crowd)
    return mean.detach().double() * (b if crowd.alike else each_member(crowd, rows >= 0).sum(1))


def weights_of(crowd: Crowd, rows: Tensor, labels: Tensor) -> Tensor | None:
    """(K, batch): zero where a member has no row, the weight of its class elsewhere."""
    if crowd.alike and crowd.class_weights is None:
        return None
    present = each_member(crowd, rows >= 0).to(crowd.stack.weights[0].dtype)
    if crowd.class_weights is None:
        return present
    return present * crowd.class_weights.gather(1, labels.view(present.shape))


def batch_of(
    state: CrowdState, crowd: Crowd, rows: Tensor
) -> tuple[Tensor, list[Tensor], list[Masks]]:
    """Inputs (G, batch, …), targets (K · batch, …) and masks, each member's by its own seed."""
    b = rows.shape[1]
    t = state.epoch * crowd.steps + state.step
    x, *targets = (
        t.index_select(0, rows.flatten()).view(*rows.shape, *t.shape[1:]) for t in crowd.train
    )
    targets = [each_member(crowd, t).flatten(0, 1) for t in targets]
    augment, dropouts, drawn = crowd.objective.augment, crowd.dropouts, []
    if augment is None and not dropouts.active:
        return x, targets, []
    for k, settings in enumerate(crowd.settings):
        torch.default_generator.manual_seed(mix(settings.seed, t))
        if augment is not None:
            x[k] = augment(x[k])
        drawn.append(dropouts.draw(k, b))
    return x, targets, dropouts.masks(drawn) if dropouts.active else []


def each_member(crowd: Crowd, t: Tensor) -> Tensor:
    """(G, …) → (K, …)."""
    return t if len(t) == crowd.members else t.repeat_interleave(crowd.members // len(t), 0)


@torch.no_grad()
def move(state: CrowdState, crowd: Crowd) -> None:
    """Clip, decay and step, each member at its own rate."""
    common, weights = crowd.common, crowd.stack.weights
    t = state.epoch * crowd.steps + state.step
    share = schedule(common.schedule)(t / (common.epochs * crowd.steps))
    if common.clip:
        clip(weights, common.clip)
    if crowd.decays is not None:
        shrink(crowd, share)
    if crowd.in_step:
        for group in state.optimizer.param_groups:
            group["lr"] = common.learning_rate * share
        state.optimizer.step()
    else:
        for p, step in zip(weights, crowd.moved, strict=True):
            step.grad = p.grad
        state.optimizer.step()
        torch._foreach_addcmul_(weights, crowd.moved, crowd.rates, share)
        torch._foreach_zero_(crowd.moved)


def shrink(crowd: Crowd, share: float) -> None:
    """Weight decay of the weights: in the gradient, or decoupled from it."""
    stack, decoupled = crowd.stack, crowd.common.optimizer in DECOUPLED
    each = zip(stack.weights, crowd.rates, crowd.decays or (), stack.penalized, strict=True)
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
        p.grad.mul_(per_member(factor, p))  # type: ignore[union-attr]


@torch.no_grad()
def give_up(state: CrowdState, crowd: Crowd, k: int) -> None:
    """Set a member that has diverged to zero, so that its numbers cannot disturb the others."""
    state.lost = sorted({*state.lost, k})
    slots = (t for slot in state.optimizer.state.values() for t in slot.values())
    for t in (*crowd.stack.weights, *slots):
        if isinstance(t, Tensor) and t.ndim:
            t[k] = 0
