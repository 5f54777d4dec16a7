"""Claim: an epoch takes ⌈N/B⌉ updates and uses every example once (L, A 1.3.3).

    updates per epoch = ⌈N/B⌉,     the last batch has N - (⌈N/B⌉ - 1) B examples

Measured: batches of the library's epochs for N = 1 … `examples` and all B ≤ N + 1: wrong numbers of
batches, wrong sizes, and examples seen more or less than once; the sum.
Bound: exactly 0; these are counts.
L's N/B is exact only if B divides N, as A recommends. With replacement, an epoch leaves out
(1 - 1/N)ᴺ ≈ 37 % of the examples on average.
"""

import math
from collections.abc import Callable

import torch

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.training import Settings
from chainrule.training.sources.rows import Rows, RowsWithReplacement


def check(examples: int = 24, seed: int = 0) -> Verdict:
    """Rounded up.

    Args:
        examples: Largest number of examples N.
    """
    return verdict(examples, seed, lambda N, B: math.ceil(N / B))


def broken() -> Verdict:
    """One update per example, whatever the batch."""
    return verdict(12, 0, lambda N, B: N)


def near() -> Near:
    """Rounded down or to the nearest number, or an example more."""
    return {
        "⌊N/B⌋, the rest left out": lambda: verdict(12, 0, lambda N, B: N // B),
        "N/B rounded": lambda: verdict(12, 0, lambda N, B: round(N / B)),
        "⌈(N + 1)/B⌉": lambda: verdict(12, 0, lambda N, B: math.ceil((N + 1) / B)),
        "drawn with replacement": lambda: verdict(
            12, 0, lambda N, B: math.ceil(N / B), replacement=True
        ),
    }


def verdict(
    examples: int, seed: int, formula: Callable[[int, int], int], replacement: bool = False
) -> Verdict:
    """Batches of one epoch for every N and B."""
    wrong = 0
    for N in range(1, examples + 1):
        for B in range(1, N + 2):
            sizes, seen = epoch(N, B, seed, replacement)
            last = N - (len(sizes) - 1) * B
            wrong += len(sizes) != formula(N, B)
            wrong += sizes != [B] * (len(sizes) - 1) + [last]
            wrong += int((seen.bincount(minlength=N) != 1).sum())
    shown = list(range(1, examples + 2))
    x = list(map(float, shown))
    return Verdict(
        quantity="wrong numbers of batches, sizes and examples",
        measured=float(wrong),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="An epoch takes ⌈N/B⌉ updates",
            x_label=f"batch size B, of N = {examples}",
            y_label="updates per epoch",
            curves={"⌈N/B⌉": (x, [float(formula(examples, B)) for B in shown])},
            points={
                "library": (
                    x,
                    [float(len(epoch(examples, B, seed, replacement)[0])) for B in shown],
                )
            },
            bounds={"N/B": (x, [examples / B for B in shown])},
            log="y",
        ),
    )


def epoch(N: int, B: int, seed: int, replacement: bool) -> tuple[list[int], torch.Tensor]:
    """Sizes of the batches of one epoch, and the examples in them."""
    kind = RowsWithReplacement if replacement else Rows
    source = kind((torch.arange(N)[:, None].float(), torch.arange(N)))
    settings = Settings(seed=seed, batch_size=B)
    batch = source.epoch(settings, 0)
    seen = [batch(step).targets[0] for step in range(source.steps(settings))]
    return [len(rows) for rows in seen], torch.cat(seen)
