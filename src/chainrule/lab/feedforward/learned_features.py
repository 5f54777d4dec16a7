"""Claim: hidden units that are learned beat the same number of fixed random ones (L 10).

    learned:  f = Σ_j β_j (w_jᵀx + b_j)₊,  all of β, w, b free       fixed:  w, b drawn once, β free

Target: y = |x₁ + x₂| / √2 in ℝᵈ, which two learned units compute exactly; fixed units must hit the
direction by chance. Hypothesis: few directions matter, and d is not small.
Measured: the test error of a learned network divided by that of the best fit on as many random
features, both trained on the same examples; the largest ratio over widths.
Bound: ½; learned networks stay below a fifth, while random directions leave most of the error.
Barron (1993), section X.
"""

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Picture, Verdict
from chainrule.learning import losses
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.theory.random_features import RandomFeatures

BOUND = 0.5
WIDTHS = (8, 16, 32, 64)


def check(inputs: int = 10, examples: int = 1000, steps: int = 200, seed: int = 0) -> Verdict:
    """All weights are learned.

    Args:
        inputs: Input dimension d, at least 2.
        examples: Training examples.
        steps: Steps of Adam.
    """
    if inputs < 2:
        raise InputError(
            f"`inputs` must be at least 2 because the target depends on two, got {inputs}"
        )
    return verdict(inputs, examples, steps, seed, hidden=True)


def broken() -> Verdict:
    """Only the outgoing weights are learned, so the units of both are fixed."""
    return verdict(10, 1000, 150, 0, hidden=False)


def verdict(inputs: int, examples: int, steps: int, seed: int, hidden: bool) -> Verdict:
    """Test errors of both by width."""
    generator = torch.Generator().manual_seed(seed)
    train, test = data(examples, inputs, generator), data(1000, inputs, generator)
    learned, fixed = [], []
    for width in WIDTHS:
        model = RandomFeatures(inputs, width, seed)
        model.fit(*train)
        fixed.append((model(test[0]) - test[1]).square().mean().item())
        network = drawn(inputs, width, seed, hidden)
        learned.append(trained(network, train, test, steps))
    ratio = max(a / b for a, b in zip(learned, fixed, strict=True))
    widths = [float(width) for width in WIDTHS]
    return Verdict(
        quantity="largest test error, learned / fixed",
        measured=ratio,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Learned units need not be many",
            x_label="hidden units M",
            y_label="mean squared test error",
            points={"learned units": (widths, learned), "fixed random units": (widths, fixed)},
            log="xy",
        ),
        details={"examples": float(examples)},
    )


def data(examples: int, inputs: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    x = torch.randn(examples, inputs, generator=generator, dtype=torch.float64)
    return x, (x[:, 0] + x[:, 1]).abs() / 2**0.5


def drawn(inputs: int, width: int, seed: int, hidden: bool) -> MLP:
    """A network with the library's initial weights, whose hidden layer is trained or not."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(inputs, [width], 1).double()
    model.layers[0].requires_grad_(hidden)
    return model


def trained(
    model: MLP, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], steps: int
) -> float:
    """Test error after full-batch steps of Adam."""
    descent = optimizer("adam", model.parameters(), learning_rate=0.03)
    for _ in range(steps):
        descent.zero_grad()
        losses.squared(model(train[0])[:, 0], train[1]).mean().backward()
        descent.step()
    with torch.no_grad():
        return (model(test[0])[:, 0] - test[1]).square().mean().item()
