"""Claim: inputs that only the teacher has labeled teach the student (J 8.9, a lot of such data).

    p = softmax(F(x')/T),  T = 4,    for new inputs x' without labels

The teacher 64-128-10 knows 1,200 digits. Students 64-16-10 get its logits for 30 of those images,
again and again, or also for a thousand other images, whose labels nobody uses. Both see as many
examples, from the same initial weights.
Measured: the paired difference of test errors, 30 images minus many, in standard errors over the
students.
Bound: Student's quantile that equal networks exceed once in 10⁴ times.
The inputs must come from where the test images come from: mixtures of the 30 images, or noise,
teach less than the 30 alone.
Buciluǎ, Caruana and Niculescu-Mizil (2006); Hinton, Vinyals and Dean (2015).
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.data.datasets import digits
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.distillation import distillation_loss
from chainrule.learning.metrics import error
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit, fit_many, outputs

LEVEL = 1e-4
IMAGES, EXAMPLES, BATCH = 30, 6_000, 60
TAUGHT = replace(CLASSIFICATION, training_loss=distillation_loss(temperature=4.0, alpha=1.0))
Generate = Callable[[Tensor, torch.Generator], Tensor]


def check(students: int = 30, seed: int = 0) -> Verdict:
    """New images of the same kind.

    Args:
        students: Students of each kind.
    """
    if students < 2:
        raise InputError(f"`students` must be at least 2 for a standard error, got {students}")
    return verdict(students, seed, many)


def broken() -> Verdict:
    """Inputs that resemble nothing."""
    return verdict(4, 0, white_noise)


def near() -> Near:
    """Inputs that are not new or of another kind, or a teacher that knows nothing."""
    return {
        "no new images": lambda: verdict(4, 0, repeated),
        "mixtures of two of the 30 images": lambda: verdict(4, 0, mixtures),
        "a teacher that has not learned": lambda: verdict(4, 0, many, epochs=0),
    }


def verdict(students: int, seed: int, generate: Generate, epochs: int = 15) -> Verdict:
    """Test errors of both kinds of students."""
    data = digits.load(seed=seed)
    x, y = data.train
    teacher = networks(1, 128, seed)[0]
    if epochs:
        settings = Settings(seed=seed, epochs=epochs, batch_size=64, learning_rate=5e-3, threads=1)
        fit(teacher, (x, y), settings=settings)
    generator = torch.Generator().manual_seed(seed)
    mixed = x[torch.randperm(len(x), generator=generator)]
    plain, made = (
        errors_after(students, seed, inputs(mixed, generator), teacher, data.test)
        for inputs in (repeated, generate)
    )
    gain = plain - made
    spread = gain.std().item() / students**0.5
    ratio = gain.mean().item() / max(spread, 1e-12)
    bound = float(t.ppf(1 - LEVEL, students - 1))
    known = error(outputs(teacher, (data.test.x,)), data.test.y)
    places = [float(k) for k in range(1, students + 1)]
    picture = Picture(
        "Inputs that only the teacher has labeled",
        "student",
        "test error",
        points={
            f"{IMAGES} images with the teacher's logits": (places, plain.tolist()),
            "many new inputs with the teacher's logits": (places, made.tolist()),
        },
        bounds={"the teacher": (places, [known] * students)},
    )
    return Verdict(
        "gain in test error by new inputs, in standard errors",
        ratio,
        "≥",
        bound,
        picture,
        details={"error, images": plain.mean().item(), "error, new inputs": made.mean().item()},
    )


def errors_after(
    students: int, seed: int, inputs: Tensor, teacher: MLP, test: tuple[Tensor, Tensor]
) -> Tensor:
    """The test error of each student after one pass over these inputs."""
    logits = outputs(teacher, (inputs,)).float()
    made = networks(students, 16, seed)
    each = [
        Settings(seed=seed + k, epochs=1, batch_size=BATCH, learning_rate=1e-2, threads=1)
        for k in range(students)
    ]
    fit_many(made, (inputs, logits.argmax(1), logits), None, each, TAUGHT)
    return torch.tensor([error(outputs(network, (test[0],)), test[1]) for network in made])


def networks(number: int, hidden: int, seed: int) -> list[MLP]:
    """Networks 64-hidden-10, each with initial weights of its own."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return [MLP(64, [hidden], 10) for _ in range(number)]


def repeated(x: Tensor, generator: torch.Generator) -> Tensor:
    """The first 30 images, again and again."""
    return x[torch.arange(EXAMPLES) % IMAGES]


def many(x: Tensor, generator: torch.Generator) -> Tensor:
    """All images, again and again."""
    return x[torch.arange(EXAMPLES) % len(x)]


def mixtures(x: Tensor, generator: torch.Generator) -> Tensor:
    """a x_i + (1 - a) x_j of the first 30 images."""
    i, j = torch.randint(IMAGES, (2, EXAMPLES), generator=generator)
    a = torch.rand(EXAMPLES, *[1] * (x.ndim - 1), generator=generator)
    return a * x[i] + (1 - a) * x[j]


def white_noise(x: Tensor, generator: torch.Generator) -> Tensor:
    """Independent pixels with the mean and variance of the images."""
    z = torch.randn(EXAMPLES, *x.shape[1:], generator=generator)
    return x.mean() + x.std() * z
