"""Object detection as the prediction of a set: matching, loss, and average precision.

    σ* = argmin_σ Σ_j -p_σ(j)(c_j) + 5 ‖b_j - b_σ(j)‖₁ - 2 GIoU(b_j, b_σ(j))         one-to-one
    L  = Σ_q w_q (-log p_q(c_q)) / Σ_q w_q + (1/m) Σ_j 5 ‖b_j - b_σ*(j)‖₁ + 2 (1 - GIoU)

A network answers a scene with a fixed number of queries q, each a distribution over the classes and
"no object", and a box b = (c_x, c_y, w, h) in units of the image. Each of the m true objects j is
matched to one query; the others should say "no object", with weight w = 0.1 in place of 1.

    GIoU = |A ∩ B| / |A ∪ B| - (|C| - |A ∪ B|) / |C|,     C the smallest box around A and B

Carion et al. (2020), DETR; Rezatofighi et al. (2019), GIoU; Kuhn (1955), the matching.
Notes: L "Transformer Impact, Extensions and Limitations" (DETR).
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from chainrule.arguments import checked

L1, GIOU, NO_OBJECT = 5.0, 2.0, 0.1
OVERLAP = 0.5  # intersection over union from which a box counts as found
Boxes = Float[Tensor, "*shape 4"]
Output = Float[Tensor, "batch queries outputs"]
Targets = Float[Tensor, "batch objects 5"]


class Matches(NamedTuple):
    """The query of each true object, and which of the padded rows are objects."""

    query: Int[Tensor, "batch objects"]
    present: Bool[Tensor, "batch objects"]


@checked
def detection_loss(output: Output, y: Targets) -> Float[Tensor, " batch"]:
    """The loss of each scene under its best matching; rows of y with a negative class are empty."""
    logits, boxes = output[..., :-4], output[..., -4:]
    matches = best_matching(output, y)
    classes = query_classes(matches, y, logits)
    weight = torch.where(classes == logits.shape[2] - 1, NO_OBJECT, 1.0)
    surprise = F.cross_entropy(logits.mT, classes, reduction="none") * weight
    found = boxes.gather(1, matches.query[..., None].expand(-1, -1, 4))
    apart = L1 * (found - y[..., 1:]).abs().sum(2)
    apart = apart + GIOU * (1 - generalized_iou(found, y[..., 1:]))
    number = matches.present.sum(1).clamp_min(1)
    return surprise.sum(1) / weight.sum(1) + (apart * matches.present).sum(1) / number


@torch.no_grad()
def best_matching(output: Output, y: Targets) -> Matches:
    """σ*, by the Hungarian algorithm."""
    p, boxes, present = output[..., :-4].softmax(2), output[..., -4:], y[..., 0] >= 0
    chosen = y[:, None, :, 0].clamp_min(0).long().expand(-1, p.shape[1], -1)
    truth, every = y[:, None, :, 1:], boxes[:, :, None]
    cost = L1 * (every - truth).abs().sum(3) - GIOU * generalized_iou(every, truth)
    cost = (cost - p.gather(2, chosen)).masked_fill(~present[:, None], 0.0)
    # SciPy solves one scene at a time. Empty rows cost nothing wherever they go.
    found = [linear_sum_assignment(scene)[1] for scene in cost.mT.cpu().double().numpy()]
    return Matches(torch.from_numpy(np.stack(found)).to(y.device), present)


def query_classes(matches: Matches, y: Tensor, logits: Tensor) -> Int[Tensor, "batch queries"]:
    """The class that each query should give; the last one is "no object"."""
    empty = logits.shape[2] - 1
    labels = torch.where(matches.present, y[..., 0].long(), empty)
    return torch.full(logits.shape[:2], empty, device=y.device).scatter(1, matches.query, labels)


@checked
def corners(boxes: Boxes) -> Boxes:
    """(c_x, c_y, w, h) → (left, top, right, bottom)."""
    center, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat([center - size / 2, center + size / 2], -1)


@checked
def iou(a: Boxes, b: Float[Tensor, "*other 4"]) -> Float[Tensor, "..."]:
    """|A ∩ B| / |A ∪ B|."""
    intersection, union, _ = areas(a, b)
    return intersection / union.clamp_min(1e-9)


@checked
def generalized_iou(a: Boxes, b: Float[Tensor, "*other 4"]) -> Float[Tensor, "..."]:
    """|A ∩ B| / |A ∪ B| - (|C| - |A ∪ B|) / |C|."""
    intersection, union, around = (t.clamp_min(1e-9) for t in areas(a, b))
    return intersection / union - (around - union) / around


def areas(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """|A ∩ B|, |A ∪ B| and |C|."""
    a, b = corners(a), corners(b)
    inner = torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])
    outer = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    own = [(t[..., 2:] - t[..., :2]).clamp_min(0).prod(-1) for t in (a, b)]
    intersection = inner.clamp_min(0).prod(-1)
    return intersection, own[0] + own[1] - intersection, outer.prod(-1)


@checked
def average_precision(output: Output, y: Targets) -> float:
    """Mean over the classes that occur of the area under precision by recall, at IoU ≥ 0.5."""
    p, boxes = output[..., :-4].softmax(2), output[..., -4:]
    labels = y[..., 0].long()
    found = [
        class_precision(p[..., k], boxes, y[..., 1:], labels == k)
        for k in range(p.shape[2] - 1)
        if bool((labels == k).any())
    ]
    return float(np.mean(found)) if found else float("nan")


def class_precision(
    score: Float[Tensor, "batch queries"],
    boxes: Float[Tensor, "batch queries 4"],
    truth: Float[Tensor, "batch objects 4"],
    present: Bool[Tensor, "batch objects"],
) -> float:
    """Σ over the objects found of the best precision at this recall or a larger one, / objects."""
    right = hits(score, boxes, truth, present)
    right = right.flatten()[score.flatten().argsort(dim=0, descending=True, stable=True)].double()
    precision = right.cumsum(0) / torch.arange(1, len(right) + 1, device=right.device)
    best = precision.flip(0).cummax(0).values.flip(0)
    return ((best * right).sum() / present.sum()).item()


def hits(
    score: Tensor, boxes: Tensor, truth: Tensor, present: Tensor
) -> Bool[Tensor, "batch queries"]:
    """Whether a query finds an object that no query with a higher score has found."""
    overlap = iou(boxes[:, :, None], truth[:, None]).masked_fill(~present[:, None], 0.0)
    order = score.argsort(dim=1, descending=True, stable=True)
    free, right = present.clone(), torch.zeros_like(score, dtype=torch.bool)
    scene = torch.arange(len(score), device=score.device)
    for q in order.T:  # all scenes at once, the surest query of each first
        best, j = (overlap[scene, q] * free).max(1)
        good = best >= OVERLAP
        right[scene, q] = good
        free[scene, j] &= ~good
    return right
