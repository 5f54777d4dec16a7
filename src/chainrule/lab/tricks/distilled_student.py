"""Claim: a small network learns more from a teacher's logits than from labels (J 8.9).

    ℓ = -Σ_y p_y log q_y,    p = softmax(F/T), q = softmax(G/T), T = 4,    instead of -log q_y

A teacher 64-128-10 is trained on all 1,200 training digits; students 64-16-10 see some of them, in
the same order from the same initial weights, with its logits F or with labels. Hypothesis: images
are few. With 400 of them and as many updates the gain is only 1 or 2 %.
Measured: the paired difference of test errors, labels minus logits, in standard errors over the
students; the smallest over the numbers of images.
Bound: Student's quantile that equal networks exceed once in 10⁴ times.
Hinton, Vinyals and Dean (2015).
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from scipy.stats import t
from torch import Tensor
from torch.nn.functional import one_hot

from chainrule.data.datasets import digits
from chainrule.data.splits import Split
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.distillation import distillation_loss
from chainrule.learning.metrics import error
from chainrule.learning.tasks import CLASSIFICATION, Task
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit, fit_many, outputs

LEVEL = 1e-4
IMAGES = (50, 100, 200)
UPDATES = 120
BATCH = 50
TAUGHT = replace(CLASSIFICATION, training_loss=distillation_loss(temperature=4.0, alpha=1.0))


def check(students: int = 20, epochs: int = 15, seed: int = 0) -> Verdict:
    """A trained teacher.

    Args:
        students: Students for each number of images.
        epochs: Epochs of training the teacher.
    """
    if students < 2:
        raise InputError(f"`students` must be at least 2 for a standard error, got {students}")
    return verdict(students, epochs, seed)


def broken() -> Verdict:
    """An untrained teacher."""
    return verdict(4, 0, 0)


def near() -> Near:
    """Answers that hold no more than labels do, or those of a hardly trained teacher."""

    def decisions(F: Tensor) -> Tensor:
        return 100.0 * one_hot(F.argmax(1), F.shape[1])

    return {
        "decisions in place of logits": lambda: verdict(5, 15, 0, decisions),
        "a teacher after one epoch": lambda: verdict(5, 1, 0),
    }


def verdict(
    students: int, epochs: int, seed: int, told: Callable[[Tensor], Tensor] = lambda F: F
) -> Verdict:
    """Test errors by the number of images, with logits and with labels."""
    data = digits.load(seed=seed)
    x, y = data.train
    teacher = networks(1, 128, seed)[0]
    if epochs:
        settings = Settings(seed=seed, epochs=epochs, batch_size=64, learning_rate=5e-3, threads=1)
        fit(teacher, (x, y), settings=settings)
    answers = told(outputs(teacher, (x,)).float())

    def test_errors(*targets: Tensor, task: Task = CLASSIFICATION) -> list[Tensor]:
        found = [learned((x, *targets), n, task, students, seed) for n in IMAGES]
        return [torch.tensor([test_error(model, data.test) for model in each]) for each in found]

    alone, taught = test_errors(y), test_errors(y, answers, task=TAUGHT)
    gains = [a - b for a, b in zip(alone, taught, strict=True)]
    least = min((gain.mean() / gain.std() * students**0.5).item() for gain in gains)
    bound = float(t.isf(LEVEL, students - 1))
    sizes = [float(n) for n in IMAGES]
    return Verdict(
        quantity="smallest gain in test error, standard errors",
        measured=least,
        relation="≥",
        bound=bound,
        picture=Picture(
            title="A small network learns more from a teacher's logits than from labels",
            x_label="training images that the student sees",
            y_label="test error (%)",
            curves={
                "labels, mean": (sizes, [e.mean().item() for e in alone]),
                "logits, mean": (sizes, [e.mean().item() for e in taught]),
            },
            points={
                "labels": ([n for n in sizes for _ in range(students)], flat(alone)),
                "logits": ([n for n in sizes for _ in range(students)], flat(taught)),
            },
            bounds={"the teacher": ([sizes[0], sizes[-1]], [test_error(teacher, data.test)] * 2)},
        ),
        details={
            f"gain with {n} images, %": gain.mean().item()
            for n, gain in zip(IMAGES, gains, strict=True)
        },
    )


def networks(number: int, hidden: int, seed: int) -> list[MLP]:
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return [MLP(64, [hidden], 10) for _ in range(number)]


def learned(
    split: tuple[Tensor, ...], images: int, task: Task, students: int, seed: int
) -> list[MLP]:
    """The students after the same number of updates for any number of images."""
    models = networks(students, 16, seed)
    epochs = UPDATES * BATCH // images
    each = [
        Settings(seed=seed + k, epochs=epochs, batch_size=BATCH, learning_rate=1e-2, threads=1)
        for k in range(students)
    ]
    fit_many(models, tuple(part[:images] for part in split), None, each, task)
    return models


def flat(errors: list[Tensor]) -> list[float]:
    return torch.cat(errors).tolist()


def test_error(model: MLP, test: Split) -> float:
    """In percent."""
    return 100 * error(outputs(model, (test.x,)), test.y)
