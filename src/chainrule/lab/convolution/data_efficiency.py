"""Claim: convolution needs fewer images, because it knows which pixels are neighbors (J 4, A 2.1).

    f(x; W_1) = f(Px; W_1 Pᵀ)     dense: any permutation P of the pixels, the same for all images

A convolutional network and a dense one with about as many parameters learn the same few digits of
8 × 8, each at a random place of 12 × 12 pixels.
The convolution errs less; on permuted pixels, where neighbors are no longer neighbors, it errs
more than before. A dense network does not know the order.
Measured: over paired networks, the smaller of two gains in test error, in standard errors:
dense minus convolutional, and convolutional on permuted minus on true pixels.
Bound: Student's quantile that equal networks exceed once in 10⁴ times.
And: the outputs of the dense network with permuted columns differ by rounding only.
LeCun et al. (1989).
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from scipy.stats import t
from torch import Tensor, nn

from chainrule.data.datasets import digits
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.metrics import error
from chainrule.models.convolution.cnn import CNN
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many, outputs

LEVEL = 1e-4
IMAGES = (120, 240)
UPDATES, BATCH = 120, 40
SIDE = 12
PIXELS = SIDE**2
ROUNDING = 1e-4  # of logits of size 10 in single precision


def check(networks: int = 8, seed: int = 0) -> Verdict:
    """A random permutation of all pixels.

    Args:
        networks: Networks of each kind and number of images.
    """
    if networks < 2:
        raise InputError(f"`networks` must be at least 2 for a standard error, got {networks}")
    return verdict(networks, seed, IMAGES, moved=PIXELS)


def broken() -> Verdict:
    """Nothing is permuted."""
    return verdict(4, 0, (240,), moved=0)


def near() -> Near:
    """Hardly anything is permuted, or the dense network sees other pixels than its weights."""
    return {
        "two of 144 pixels exchanged": lambda: verdict(4, 0, (240,), moved=2),
        "columns of W_1 not permuted": lambda: verdict(4, 0, (240,), moved=PIXELS, turned=False),
    }


def verdict(
    networks: int, seed: int, sizes: tuple[int, ...], moved: int, turned: bool = True
) -> Verdict:
    """Test errors by the number of images, for true and permuted pixels."""
    data = scattered(seed)
    order = permutation(moved, seed)
    spatial = {n: errors(data, n, convolutional(networks, seed), seed) for n in sizes}
    dense = {n: errors(data, n, fully_connected(networks, seed), seed) for n in sizes}
    mixed = {n: errors(data, n, convolutional(networks, seed), seed, order) for n in sizes}
    gains = [dense[n] - spatial[n] for n in sizes] + [mixed[n] - spatial[n] for n in sizes]
    root = networks**0.5
    least = min((g.mean() / g.std().clamp_min(1e-9) * root).item() for g in gains)
    lines = {"dense": dense, "convolutional": spatial, "convolutional, pixels permuted": mixed}
    counts = [float(n) for n in sizes]
    return Verdict(
        quantity="smallest gain in test error, standard errors",
        measured=least,
        relation="≥",
        bound=float(t.isf(LEVEL, networks - 1)),
        picture=Picture(
            title="Convolution needs fewer images, if neighbors are neighbors",
            x_label="training images",
            y_label="test error",
            curves={
                name: (counts, [found[n].mean().item() for n in sizes])
                for name, found in lines.items()
            },
            points={
                f"{name}, each": (
                    [float(n) for n in sizes for _ in range(networks)],
                    torch.cat([found[n] for n in sizes]).tolist(),
                )
                for name, found in lines.items()
            },
        ),
        conditions={
            "a dense network does not know the order": unordered(data.test.x, order, turned)
        },
        details={f"{name}, {n} images": v[n].mean().item() for name, v in lines.items() for n in v},
    )


def permutation(moved: int, seed: int) -> Tensor:
    """An order of the pixels in which `moved` of them change places."""
    order = torch.arange(PIXELS)
    chosen = torch.randperm(PIXELS, generator=torch.Generator().manual_seed(seed))[:moved]
    order[chosen] = chosen.roll(1)
    return order


def scattered(seed: int) -> Splits:
    """The small digits, each at a random place of a larger image."""
    data = digits.load(seed=seed)
    generator = torch.Generator().manual_seed(seed)

    def placed(split: Split) -> Split:
        row, column = torch.randint(SIDE - 7, (2, len(split.x), 1, 1), generator=generator)
        i, j = row + torch.arange(8)[:, None], column + torch.arange(8)
        canvas = split.x.new_zeros(len(split.x), SIDE, SIDE)
        canvas[torch.arange(len(canvas))[:, None, None], i, j] = split.x[:, 0]
        return Split(canvas[:, None], split.y)

    return replace(data, train=placed(data.train), test=placed(data.test))


def permuted(x: Tensor, order: Tensor) -> Tensor:
    return x.flatten(1)[:, order].view(x.shape)


def convolutional(number: int, seed: int) -> list[CNN]:
    """Two convolutions with pooling, 10 logits."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return [CNN((1, SIDE, SIDE), [16, 32], 10) for _ in range(number)]


def fully_connected(number: int, seed: int) -> list[MLP]:
    """One hidden layer, and about as many parameters."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return [MLP(PIXELS, [48], 10) for _ in range(number)]


def errors(
    data: Splits,
    images: int,
    models: Sequence[nn.Module],
    seed: int,
    order: Tensor | None = None,
) -> Tensor:
    """The test error of each network after the same number of updates."""
    (x, y), (x_test, y_test) = data.train, data.test
    if order is not None:
        x, x_test = permuted(x, order), permuted(x_test, order)
    each = [
        Settings(
            seed=seed + k,
            epochs=UPDATES * BATCH // images,
            batch_size=BATCH,
            learning_rate=5e-3,
            threads=1,
        )
        for k in range(len(models))
    ]
    fit_many(models, (x[:images], y[:images]), None, each)
    return torch.tensor([error(outputs(model, (x_test,)), y_test) for model in models])


def unordered(x: Tensor, order: Tensor, turned: bool) -> bool:
    """f(x; W_1) = f(Px; W_1 Pᵀ)."""
    model = fully_connected(1, 0)[0]
    before = outputs(model, (x,))
    if turned:
        first = next(p for p in model.parameters() if p.shape[-1] == PIXELS)
        with torch.no_grad():
            first.copy_(first[:, order].clone())
    difference = (outputs(model, (permuted(x, order),)) - before).abs().max().item()
    return difference <= ROUNDING
