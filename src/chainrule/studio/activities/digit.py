"""A network learns handwritten digits in a few seconds, and says what it sees in a drawing."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.data import cache
from chainrule.data.datasets import digits, mnist
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.images.idx import FILES
from chainrule.data.readers.points.point_encoders import ink_points
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.models.attention.vit import ViT
from chainrule.models.convolution.cnn import CNN
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.pointnet import PointNet
from chainrule.studio.activity import Activity, Json, Range, View, raster, read, rounded
from chainrule.studio.insides import insides
from chainrule.studio.pixels import drawing
from chainrule.training import Progress, evaluate, iterate

TRAINED, HELD_OUT, TESTED = 8_000, 500, 1_000  # digits of MNIST that are used
POINTS = 64  # of a cloud
FINE = 24  # pixels on each side of the image whose ink becomes points, at least


@dataclass(frozen=True)
class Question:
    """What the page asks about.

    Args:
        ink: the drawing, as base64.
        center: whether it is centered and scaled as the data are.
        target: the digit whose score is explained; -1 for the likeliest.
    """

    ink: Annotated[str, Range(0, 8000)] = ""
    center: bool = True
    target: Annotated[int, Range(-1, 9)] = -1


@dataclass(frozen=True)
class Settings(Question):
    """The network and its data, besides the first question.

    Args:
        network: which model.
        data: scikit-learn's digits of 8 × 8, or MNIST's of 28 × 28 where they are on this machine.
        seed: of the weights and the order of the examples.
    """

    network: Literal["mlp", "cnn", "vit", "pointnet"] = "cnn"
    data: Literal["digits", "mnist"] = "digits"
    seed: Annotated[int, Range(0, 10**6)] = 0


class Kind(NamedTuple):
    """How a network is made for images of a size, and trained."""

    make: Callable[[int], nn.Module]
    epochs: dict[str, int]
    batch_size: int
    learning_rate: float


KINDS = {
    "mlp": Kind(
        lambda size: MLP(size**2, [64, 32], 10, dropout=0.1), {"digits": 25, "mnist": 10}, 64, 3e-3
    ),
    "cnn": Kind(
        lambda size: CNN((1, size, size), (8, 16), 10, norm="batch", dropout=0.1),
        {"digits": 12, "mnist": 3},
        64,
        1e-2,
    ),
    "vit": Kind(
        lambda size: ViT((size, size), size // 4, 1, 10, hidden_size=32, num_layers=2, num_heads=4),
        {"digits": 20, "mnist": 6},
        32,
        4e-3,
    ),
    "pointnet": Kind(
        lambda size: PointNet(2, 10, features=32, hidden=(64,)),
        {"digits": 8, "mnist": 2},
        32,
        3e-3,
    ),
}


def run(settings: Json) -> Activity:
    """Train once, answering questions meanwhile, then wait for more of them."""
    chosen = read(Settings, settings)
    kind, images = KINDS[chosen.network], load(chosen.data, chosen.seed)
    size = images.train.x.shape[-1]
    data = as_clouds(images) if chosen.network == "pointnet" else images
    torch.manual_seed(chosen.seed)
    model = kind.make(size)
    question = Question(*(getattr(chosen, field.name) for field in fields(Question)))
    training = iterate(
        model,
        data,
        seed=chosen.seed,
        epochs=kind.epochs[chosen.data],
        batch_size=kind.batch_size,
        learning_rate=kind.learning_rate,
        schedule="one-cycle",
        tick=0.0,
    )
    facts: Json = {
        "size": size,
        "examples": len(data.train.x),
        "parameters": sum(p.numel() for p in model.parameters()),
        "encoder": images.encoder,
    }
    for now in training:
        message = yield shown(model, question, facts | progress(now))
        while message is not None:
            question = asked(question, message)
            message = yield shown(model, question, facts | progress(now))
    facts |= {"fraction": 1.0, "accuracy": rounded(evaluate(model, data.test)["accuracy"])}
    while True:
        message = yield shown(model, question, facts, waiting=True)
        if message is not None:
            question = asked(question, message)


def progress(now: Progress) -> Json:
    return {"fraction": rounded(now.fraction, 3), "loss": rounded(now.loss), "accuracy": None}


def asked(question: Question, message: Json) -> Question:
    """The question after a message, which holds what has changed."""
    return read(Question, {f.name: getattr(question, f.name) for f in fields(Question)} | message)


def shown(model: nn.Module, question: Question, facts: Json, waiting: bool = False) -> View:
    """The answer of the network as it is now."""
    plain = {name: value for name, value in facts.items() if name != "encoder"}

    def draw() -> Json:
        image = encoded(question, facts["encoder"])
        if image is None:
            return plain | {"input": None}
        x = cloud(image) if isinstance(model, PointNet) else image
        wanted = None if question.target < 0 else question.target
        return plain | {"input": raster(image[0, 0], 0.0, 1.0)} | insides(model, x, wanted)

    return View(draw, waiting)


def encoded(question: Question, encoder: ImageEncoder) -> Tensor | None:
    """The drawing as the data are, or None where nothing is drawn."""
    pixels = drawing(question.ink) if question.ink else None
    if pixels is None or not pixels.any():
        return None
    kept = encoder if question.center else ImageEncoder(encoder.size, invert_bright=False)
    return kept.encode_pixels(pixels)


def load(name: str, seed: int) -> Splits:
    """The small digits, or a part of MNIST, which is never downloaded from here."""
    if name == "digits":
        return digits.load(seed=seed)
    if not all((cache.folder() / "mnist" / file).is_file() for file in FILES):
        raise InputError(
            "MNIST is not on this machine: `chainrule train mnist-cnn` fetches it, or set "
            "$CHAINRULE_DATA; the small digits are always here"
        )
    data = mnist.load(seed=seed)
    return replace(
        data,
        train=first(data.train, TRAINED),
        validation=first(data.validation, HELD_OUT),
        test=first(data.test, TESTED),
    )


def first(split: Split, number: int) -> Split:
    return Split(split.x[:number], split.y[:number])


def as_clouds(data: Splits) -> Splits:
    """Every image as the points of its ink."""

    def points(split: Split) -> Split:
        return Split(torch.cat([cloud(image[None]) for image in split.x]), split.y)

    train, validation, test = map(points, (data.train, data.validation, data.test))
    return replace(data, train=train, validation=validation, test=test, encoder=None)


def cloud(image: Tensor) -> Tensor:
    """One image (1, 1, h, w) as one cloud (1, points, 2); small ones are interpolated before."""
    side = max(FINE, image.shape[-1])
    fine = F.interpolate(image, (side, side), mode="bilinear")
    points = ink_points(fine[0, 0].numpy(), POINTS, np.random.default_rng(0))
    return torch.from_numpy(points)[None]
