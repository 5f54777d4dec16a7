"""`precision` auto: bfloat16 products where the processor has them and the network gains by them.

    products, convolutions and what lies between them     bfloat16
    weights, losses, norms' statistics, optimizer, sums   float32

The choice follows from the network, the shape of its batches and the device, by limits measured
once; it is not timed, so that two runs of one machine cannot choose differently. The checkpoint
records it, and a run that is resumed elsewhere keeps it.
"""

import torch
from torch import nn

from chainrule.nn.kernels.float_products import mean_operations

FULL, MIXED, AUTO = "full", "mixed", "auto"
WORTH_CASTING = 50e6  # operations of a product, above which casting paid on networks of all kinds
MOSTLY = 0.9  # of a network's weights that must lie in layers whose products can be bfloat16

MATRICES = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
OTHERS = (nn.Embedding, nn.LayerNorm, nn.BatchNorm1d, nn.BatchNorm2d, nn.GroupNorm)


def chosen_precision(wanted: str, model: nn.Module, rows: int, device: torch.device) -> str:
    """`full` or `mixed`; rows: of a step's products."""
    if wanted != AUTO:
        return wanted
    if device.type == "cuda":
        return MIXED if torch.cuda.is_bf16_supported() else FULL
    fits = device.type == "cpu" and has_bfloat16() and suitable(model)
    return MIXED if fits and mean_operations(model, rows) >= WORTH_CASTING else FULL


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 numbers itself."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def suitable(model: nn.Module) -> bool:
    """Whether nearly all weights multiply densely, and nothing but layers known to bear rounding.

    Recurrent cells repeat their rounding at every step, and sparse products have no bfloat16.
    """
    if any(isinstance(part, nn.RNNBase) for part in model.modules()):
        return False
    if any(b.layout != torch.strided for b in model.buffers()):
        return False
    total = sum(p.numel() for p in model.parameters())
    dense = weights(model, MATRICES)
    return dense > 0 and dense + weights(model, OTHERS) >= MOSTLY * total


def weights(model: nn.Module, kinds: tuple[type[nn.Module], ...]) -> int:
    """Parameters of all layers of these kinds; shared ones count once."""
    own = {p for part in model.modules() if isinstance(part, kinds) for p in part.parameters()}
    return sum(p.numel() for p in own if p.is_floating_point())
