"""Figures of a trained classifier or regressor, chosen by the shape of its data."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Splits
from chainrule.nn.pixels import unit_range
from chainrule.plots.features import feature_maps, filters, saliency
from chainrule.plots.images import worst_mistakes
from chainrule.plots.predictions import confusion_matrix, predicted_against_true, roc_curves
from chainrule.plots.segmentation import MAX_IMAGES, segmentation_maps
from chainrule.runs.predictions import Predictions
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYERS = 4  # whose feature maps are shown
SALIENT = 6  # images whose saliency is shown


def pictures(predictions: Predictions) -> "dict[str, Figure]":
    """Figures of the test split."""
    model, data = predictions.model, predictions.data
    x, y = data.test
    output = predictions.outputs("test")
    if not data.classes:
        if isinstance(data.encoder, TableEncoder):
            y, output = data.encoder.restored(y), data.encoder.restored(output)
        return {"predictions": predicted_against_true(y.numpy(), output.flatten().numpy(), "test")}
    probability = output.softmax(1)
    predicted = probability.argmax(1)
    wrong = f"test: {int((predicted != y).sum())} of {len(y)} wrong"
    found = counts(y, predicted, len(data.classes))
    drawn = {"confusion": confusion_matrix(found, data.classes, wrong)}
    if x.ndim == 4:
        confidence = probability.max(1).values
        drawn["mistakes"] = worst_mistakes(
            images(x), y.numpy(), predicted.numpy(), confidence.numpy(), data.classes
        )
    if len(data.classes) == 2 and len(y.unique()) == 2:
        curves = {"test": (y.numpy(), probability[:, 1].numpy())}
        drawn["roc"] = roc_curves(curves, positive=data.classes[1])
    if x.shape[1:] == (2,):
        drawn |= plane(model, data, (predicted != y).numpy())
    if convolutions(model):
        drawn |= inside(model, x[:1]) | {"saliency": salient(model, data)}
    return drawn


def plane(model: nn.Module, data: Splits, mistakes: np.ndarray) -> "dict[str, Figure]":
    """Decision boundary and surface over two-dimensional data."""
    from chainrule.plots.boundaries import decision_boundary  # both need SciPy
    from chainrule.plots.surfaces import decision_surface

    x, y = data.test.x.numpy(), data.test.y.numpy()

    def predict(points: np.ndarray) -> np.ndarray:
        inputs = torch.as_tensor(points, dtype=torch.float32)
        return outputs(model, (inputs,)).softmax(1).numpy()

    return {
        "boundary": decision_boundary(predict, x, y, data.classes, mistakes, "test"),
        "surface": decision_surface(predict, x, y, data.classes),
    }


def segmentation_pictures(predictions: Predictions) -> "dict[str, Figure]":
    """Test scenes with their true and predicted classes, and the feature maps of one."""
    model, data = predictions.model, predictions.data
    x, y = data.test.x[:MAX_IMAGES], data.test.y[:MAX_IMAGES]
    predicted = predictions.outputs("test")[:MAX_IMAGES].argmax(1)
    scenes = segmentation_maps(images(unit_range(x)), y.numpy(), predicted.numpy(), data.classes)
    return {"segmentation": scenes} | inside(model, x[:1])


def convolutions(model: nn.Module) -> dict[str, nn.Conv2d]:
    """The convolutional layers by name, in the order of the model."""
    return {n: layer for n, layer in model.named_modules() if isinstance(layer, nn.Conv2d)}


def inside(model: nn.Module, x: Tensor) -> "dict[str, Figure]":
    """The first layer's kernels, and one image's feature maps in layers spread over the depth."""
    layers = convolutions(model)
    spread = torch.linspace(0, len(layers) - 1, min(LAYERS, len(layers))).round().int().tolist()
    names = [normed(model, list(layers)[place]) for place in spread]
    maps = {
        f"layer {place + 1}": m
        for place, m in zip(spread, outputs_of(model, names, x), strict=True)
    }
    kernels = next(iter(layers.values())).weight
    return {
        "filters": filters(kernels.numpy(force=True)),
        "features": feature_maps(images(unit_range(x))[0], maps),
    }


def normed(model: nn.Module, name: str) -> str:
    """The batch normalization that follows a convolution, if one does, else the convolution."""
    parts = dict(model.named_modules())
    after = list(parts)[list(parts).index(name) + 1 :][:1]
    fits = (getattr(parts[n], "num_features", 0) == parts[name].out_channels for n in after)
    return after[0] if any(fits) else name


def outputs_of(model: nn.Module, names: list[str], x: Tensor) -> list[np.ndarray]:
    """Outputs of these layers for one image, after a ReLU: (channels, h, w) each."""
    seen: dict[str, np.ndarray] = {}

    def watch(name: str, output: Tensor) -> None:
        seen[name] = output[0].relu().numpy(force=True)

    hooks = [
        model.get_submodule(name).register_forward_hook(
            lambda _, __, output, name=name: watch(name, output)
        )
        for name in names
    ]
    try:
        outputs(model, (x,))
    finally:
        for hook in hooks:
            hook.remove()
    return [seen[name] for name in names]


def salient(model: nn.Module, data: Splits) -> "Figure":
    """Gradient of the winning score by the pixels, for the first test image of some classes."""
    firsts = [(data.test.y == k).nonzero() for k in data.test.y.unique().tolist()]
    x = data.test.x[[int(rows[0]) for rows in firsts[:SALIENT]]]
    best, gradient = winning_gradient(model, x)
    names = [data.classes[k] for k in best]
    return saliency(images(unit_range(x)), images(gradient), names)


def winning_gradient(model: nn.Module, x: Tensor) -> tuple[list[int], Tensor]:
    """The likeliest class of each image, and ∂(its score) / ∂(pixel)."""
    was_training = model.training
    model.eval()
    try:
        with torch.enable_grad():
            pixels = unit_range(x).clone().requires_grad_()
            best, winners = model(pixels).max(1)
            (gradient,) = torch.autograd.grad(best.sum(), pixels)
    finally:
        model.train(was_training)
    return winners.tolist(), gradient


def counts(y: Tensor, predicted: Tensor, classes: int) -> np.ndarray:
    """Confusion matrix: rows are the truth."""
    pairs = torch.bincount(y * classes + predicted, minlength=classes**2)
    return pairs.reshape(classes, classes).numpy()


def images(x: Tensor) -> np.ndarray:
    """(n, h, w) for gray images, (n, h, w, 3) for colored ones."""
    return (x[:, 0] if x.shape[1] == 1 else x.permute(0, 2, 3, 1)).numpy()
