"""What happens inside a network that looks at one image: maps of its layers, and their causes."""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.models.attention.vit import ViT, rollout
from chainrule.models.convolution.cnn import CNN
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.pointnet import PointNet
from chainrule.nn.attention import attention_maps
from chainrule.nn.profile import evaluating
from chainrule.studio.activity import Json, raster, rounded

Image = Float[Tensor, "1 channels height width"]


def insides(model: nn.Module, x: Tensor, wanted: int | None) -> Json:
    """Probabilities, layers, and which pixels, patches or points they depend on.

    Args:
        model: an MLP, CNN, ViT or PointNet.
        x: one image, or one cloud of points.
        wanted: the class whose score is explained, by default the likeliest.
    """
    with evaluating(model), torch.no_grad():
        seen: list[Json] = []
        with watched(model, seen):
            probabilities = model(x).softmax(1)[0]
        target = int(probabilities.argmax()) if wanted is None else wanted
        found: Json = {"probabilities": rounded(probabilities), "target": target, "layers": seen}
        if isinstance(model, PointNet):
            critical = model.critical_points(x)[0]
            alone = model(x[:, critical]).softmax(1)[0]
            return found | {
                "points": rounded(x[0]),
                "critical": critical.int().tolist(),
                "difference": rounded((alone - probabilities).abs().max()),
            }
        found["saliency"] = signed(saliency(model, x, target)[0, 0])
        if isinstance(model, MLP):
            weights = model.layers[0].get_parameter("weight").view(-1, *x.shape[2:])
            seen.insert(
                0, {"name": "What each unit of layer 1 looks for", "weights": signed(weights)}
            )
        if isinstance(model, ViT):
            found |= attention(model, x)
    return found


def saliency(model: nn.Module, x: Image, target: int) -> Image:
    """∂ score of the target / ∂ pixel."""
    with torch.enable_grad():
        pixels = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(model(pixels)[:, target].sum(), pixels)
    return gradient


def attention(model: ViT, x: Image) -> Json:
    """Attention rollout, and where [CLS] looks in every layer and head."""
    maps = list(attention_maps(model, x).values())
    flow = rollout(maps)[0, 0, 1:].unflatten(0, model.grid)
    heads = torch.stack([A[0, :, 0, 1:].unflatten(1, model.grid) for A in maps])
    return {
        "rollout": raster(flow, 0.0, flow.max().item()),
        "heads": [raster(layer, 0.0, layer.max().item()) for layer in heads],
    }


@contextmanager
def watched(model: nn.Module, seen: list[Json]) -> Any:
    """Record the layers of a forward pass, as the model's own activation leaves them."""
    hooks = [part.register_forward_hook(recorder(model, name, seen)) for name, part in parts(model)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def parts(model: nn.Module) -> Sequence[tuple[str, nn.Module]]:
    """The layers that are shown, by name."""
    if isinstance(model, CNN):
        return [
            (f"Convolution {k}", list(stage.children())[-1])
            for k, stage in enumerate(model.stages, 1)
        ]
    if isinstance(model, MLP):
        return [(f"Hidden layer {k}", layer) for k, layer in enumerate(model.layers[:-1], 1)]
    if isinstance(model, PointNet):
        return [("Global features: maxima over the points", model.features.pooled)]
    return []


def recorder(model: nn.Module, name: str, seen: list[Json]) -> Any:
    """Adds the maps of a layer, (units, h, w); for a convolution the pooled ones too."""

    def record(_: nn.Module, __: Any, output: Tensor) -> None:
        shown = model.activation(output) if isinstance(model, CNN | MLP) else output
        maps = shown[0] if shown.ndim == 4 else shown[0][:, None, None]
        seen.append({"name": name, "maps": unsigned(maps)})
        if isinstance(model, CNN):
            seen.append({"name": "Max pooling", "maps": unsigned(F.max_pool2d(shown, 2)[0])})

    return record


def unsigned(values: Tensor) -> Json:
    return raster(values, 0.0, max(values.max().item(), 1e-6))


def signed(values: Tensor) -> Json:
    bound = max(values.abs().max().item(), 1e-9)
    return raster(values, -bound, bound)
