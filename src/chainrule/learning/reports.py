"""How well a classifier decides and how honest its probabilities are.

    precision_k   right / predicted to be k          recall_k   right / truly k
    F1_k          2 / (1/precision + 1/recall)
    average precision     mean precision over the recalls that are reached
    calibration error     Σ_b n_b/n |accuracy_b - confidence_b|

With two classes the numbers are those of the second; with more, the mean over the classes.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.learning.calibration import calibration_error

CALIBRATION = "calibration error"


def chosen_classes(p: Float[Tensor, "n k"], threshold: float = 0.5) -> Int[Tensor, " n"]:
    """The most probable class; with two, the second from the threshold on."""
    if p.shape[1] == 2 and threshold != 0.5:
        return (p[:, 1] >= threshold).long()
    return p.argmax(1)


def classification_metrics(
    p: Float[Tensor, "n k"], y: Int[Tensor, " n"], threshold: float = 0.5
) -> dict[str, float]:
    """Precision, recall, F1, average precision and calibration error of a split.

    p: probability of every class.
    y: the true classes.
    threshold: probability from which the second of two classes is predicted.
    """
    each = by_class(p, y, threshold)
    parts = each[1:] if p.shape[1] == 2 else each[each[:, 3] > 0]
    ranked = average_precision(p, y)
    shown = ranked[1:] if p.shape[1] == 2 else ranked[~np.isnan(ranked)]
    names = ("precision", "recall", "f1")
    found = {name: float(parts[:, k].mean()) for k, name in enumerate(names)}
    found["average_precision"] = float(shown.mean()) if len(shown) else float("nan")
    return found | {CALIBRATION: calibration_error(p, y)}


def by_class(p: Float[Tensor, "n k"], y: Int[Tensor, " n"], threshold: float = 0.5) -> np.ndarray:
    """(classes, 4): precision, recall, F1 and number of examples of every class."""
    from sklearn.metrics import precision_recall_fscore_support

    parts = precision_recall_fscore_support(
        y.numpy(),
        chosen_classes(p, threshold).numpy(),
        labels=range(p.shape[1]),
        zero_division=0.0,
    )
    return np.stack(parts, 1)


def average_precision(p: Float[Tensor, "n k"], y: Int[Tensor, " n"]) -> np.ndarray:
    """Of every class against the others; NaN where a class does not occur."""
    from sklearn.metrics import average_precision_score

    labels = y.numpy()
    return np.array(
        [
            average_precision_score(labels == k, p[:, k].numpy()) if (labels == k).any() else np.nan
            for k in range(p.shape[1])
        ]
    )


def report(
    p: Float[Tensor, "n k"], y: Int[Tensor, " n"], classes: tuple[str, ...], threshold: float = 0.5
) -> str:
    """A table with one line for each class."""
    width = max(10, *(len(name) for name in classes)) + 2
    rows, ranked = by_class(p, y, threshold), average_precision(p, y)
    heads = ("precision", "recall", "F1", "average precision", "examples")
    lines = [" " * width + "".join(f"{head:>{max(9, len(head)) + 2}}" for head in heads)]
    for name, (precision, recall, f1, number), area in zip(classes, rows, ranked, strict=True):
        cells = (*(f"{100 * v:.1f} %" for v in (precision, recall, f1, area)), f"{number:,.0f}")
        pairs = zip(heads, cells, strict=True)
        line = "".join(f"{cell:>{max(9, len(head)) + 2}}" for head, cell in pairs)
        lines.append(f"{name:<{width}}{line}")
    right = (chosen_classes(p, threshold) == y).double().mean().item()
    lines.append(
        f"accuracy {100 * right:.1f} %, calibration error {100 * calibration_error(p, y):.1f} %"
    )
    if threshold != 0.5 and len(classes) == 2:
        lines.append(f"{classes[1]!r} is predicted from a probability of {threshold:.3g} on")
    return "\n".join(lines)


def probabilities(output: Tensor) -> Float[Tensor, "n k"]:
    """Softmax of the logits, in double precision."""
    return torch.softmax(output.double(), 1)
