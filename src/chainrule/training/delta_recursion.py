"""Backpropagation written out: the gradients of a network of affine maps without autograd.

    δ_L = ∂ℓ/∂f,     δ_{l-1} = φ'(z_{l-1}) ⊙ m_{l-1} ⊙ W_lᵀ δ_l,     z_l = W_l h_{l-1} + b_l
    ∂ℓ/∂W_l = Σ δ_l h_{l-1}ᵀ,     ∂ℓ/∂b_l = Σ δ_l                    sums over the batch

The cross-entropy and its softmax have the gradient p - e_y; memory is taken once and used in every
step. In mixed precision h, W and δ are bfloat16, weights, losses and gradients float32. The
gradients are computed by autograd's operations in its order, so their bits are its bits, which the
tests compare. Rumelhart, Hinton and Williams (1986). Notes: J 3.1.
"""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.learning import losses
from chainrule.learning.tasks import Task
from chainrule.nn.dropout import MASKS, mask
from chainrule.nn.kernels.dense_stack import DERIVATIVES, DenseLayer, dense_layers
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Batch

MEAN, IGNORED = 1, -100  # torch's number of the reduction, and a label that no example has
NLL, NLL_BACKWARD = (
    torch.ops.aten.nll_loss_forward.default,
    torch.ops.aten.nll_loss_backward.default,
)
SOFTMAX_BACKWARD = torch.ops.aten._log_softmax_backward_data.default


class DeltaRecursion:
    """The mean loss of a batch, and its gradient in every weight's `grad`."""

    def __init__(self, layers: list[DenseLayer], by_classes: bool, low: bool = False):
        self.layers, self.by_classes, self.low = layers, by_classes, low
        self.weights = [(layer.linear.weight, layer.linear.bias) for layer in layers]
        self.gradients = [
            (torch.empty_like(W), b is not None and torch.empty_like(b)) for W, b in self.weights
        ]

    def takes(self, batch: Batch) -> bool:
        """Whether the batch has the form that is written out here; autograd takes all others."""
        if len(batch.inputs) != 1 or len(batch.targets) != 1:
            return False
        if MASKS.get() is not None or torch.is_autocast_enabled("cpu"):
            return False
        (x,), (y,), W = batch.inputs, batch.targets, self.weights[-1][0]
        rows, outputs, inputs = x.shape[0], W.shape[0], self.weights[0][0].shape[1]
        if x.dtype != W.dtype or x.ndim < 2 or x.numel() != rows * inputs:
            return False
        if self.by_classes:
            return y.ndim == 1 and y.dtype == torch.long and outputs > 1
        return y.dtype == W.dtype and y.numel() == rows * outputs

    def factor(self, t: Tensor) -> Tensor:
        """As it enters a product."""
        return t.bfloat16() if self.low else t

    def __call__(self, batch: Batch) -> Tensor:
        with torch.no_grad():
            return self.loss(batch)

    def loss(self, batch: Batch) -> Tensor:
        """The loss; the gradients are set on the way back."""
        h = self.factor(batch.inputs[0].flatten(1))
        weights = [(self.factor(W), b if b is None else self.factor(b)) for W, b in self.weights]
        inputs, outputs, masks = [], [], []
        for (_, activation, rate), (W, b) in zip(self.layers, weights, strict=True):
            inputs.append(h)
            h = F.linear(h, W, b)
            h = h if activation is None else activation(h)
            outputs.append(h)
            masks.append(mask(h, rate) if rate else None)
            h = h if masks[-1] is None else h * masks[-1]
        f = h.float() if self.low else h
        loss, delta = (class_loss if self.by_classes else squared_loss)(f, batch.targets[0])
        self.backward(self.factor(delta), [W for W, _ in weights], inputs, outputs, masks)
        return loss

    def backward(
        self,
        delta: Tensor,
        weights: list[Tensor],
        inputs: list[Tensor],
        outputs: list[Tensor],
        masks: list[Tensor | None],
    ) -> None:
        """Every weight's gradient, from ∂ℓ/∂f down."""
        for place in reversed(range(len(self.layers))):
            (W, b), (dW, db) = self.weights[place], self.gradients[place]
            if (m := masks[place]) is not None:
                delta = delta * m
            if (activation := self.layers[place].activation) is not None:
                delta = DERIVATIVES[activation](delta, outputs[place])
            if self.low:
                dW.copy_(delta.T @ inputs[place])
            else:
                torch.mm(delta.T, inputs[place], out=dW)
            W.grad = dW
            if b is not None:
                b.grad = db.copy_(delta.sum(0)) if self.low else torch.sum(delta, 0, out=db)
            if place:
                delta = delta @ weights[place]


def class_loss(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of -log softmax(f)_y, and its gradient (p - e_y) / N."""
    log_p = f.log_softmax(1)
    loss, number = NLL(log_p, y, None, MEAN, IGNORED)
    delta = NLL_BACKWARD(one(f.dtype), log_p, y, None, MEAN, IGNORED, number)
    return loss, SOFTMAX_BACKWARD(delta, log_p, 1, f.dtype)


@cache
def one(dtype: torch.dtype) -> Tensor:
    """The derivative of the mean loss by itself."""
    return torch.ones((), dtype=dtype)


def squared_loss(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of ½ ‖y - f‖², and its gradient (f - y) / N."""
    error = f - y.reshape(f.shape)
    return (0.5 * error.square().sum(1)).mean(), error * (1 / len(f))


def delta_recursion(
    model: nn.Module, task: Task, settings: Settings, device: torch.device, low: bool = False
) -> DeltaRecursion | None:
    """The written-out gradients of a model, if model, loss and settings allow them.

    low: whether the factors of products are rounded to bfloat16.
    """
    known = losses.cross_entropy, losses.squared
    by_identity = [task.minimized is loss for loss in known]  # a user's may have no hash
    usual = settings.label_smoothing == 0 and settings.class_weights == "none"
    once = settings.accumulate == 1 and not settings.compile and not settings.unfreeze_every
    if not (usual and once and device.type == "cpu"):
        return None
    layers = dense_layers(model) if any(by_identity) else None
    if layers is None or any(a and a not in DERIVATIVES for _, a, _ in layers):
        return None
    return DeltaRecursion(layers, by_identity[0], low)
