"""What a finished run adds to its outputs: a threshold for two classes, an interval for a number.

    predict class 1  ⇔  p_1(x) ≥ t          t maximizes F1 or balanced accuracy
    [f(x) - q, f(x) + q]                    q: the ⌈(n + 1) 0.9⌉-th smallest |y_i - f(x_i)|

Both are chosen on the n validation examples. The interval covers a new y with probability 0.9 or
more if validation examples and new ones are exchangeable (split conformal prediction; Lei et al.
(2018), JASA 113(523)). Early stopping has looked at the validation split too, so that coverage can
be slightly smaller.
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.state import fields, number, optional
from chainrule.runs.predictions import Predictions

Json = dict[str, Any]
COVERAGE = 0.9
CRITERIA = ("f1", "balanced")


def decision(predictions: Predictions, criterion: str) -> Json:
    """The threshold or the interval's radius, to be kept in result.json.

    predictions: of the trained model.
    criterion: "f1" or "balanced"; another word keeps the most probable class.
    """
    data = predictions.data
    output, y = predictions.outputs("validation"), data.validation.y
    if data.classes:
        if len(data.classes) != 2 or criterion not in CRITERIA:
            return {}
        p = output.softmax(1)[:, 1]
        return {"threshold": best_threshold(p, y, criterion)}
    radius = interval_radius((output.flatten().double() - y.double()).abs())
    return {"radius": radius * getattr(data.encoder, "scale", 1.0)} if radius else {}


def interval_radius(residuals: Float[Tensor, " n"]) -> float | None:
    """The ⌈(n + 1) 0.9⌉-th smallest residual; None where there are fewer."""
    rank = math.ceil((len(residuals) + 1) * COVERAGE)
    return float(residuals.sort().values[rank - 1]) if rank <= len(residuals) else None


def best_threshold(p: Float[Tensor, " n"], y: Int[Tensor, " n"], criterion: str) -> float:
    """The threshold in the middle between two probabilities that maximizes the criterion.

    p: probability of class 1.
    y: 0 or 1.
    criterion: "f1" or "balanced".
    """
    values = np.unique(p.double().numpy())
    cuts = torch.from_numpy(np.concatenate([values[:1], (values[1:] + values[:-1]) / 2]))
    order = p.double().argsort()
    below = torch.searchsorted(p.double()[order], cuts)
    ones = torch.cat([torch.zeros(1), y[order].cumsum(0).double()])
    hits, positives = ones[-1] - ones[below], ones[-1]
    claimed = len(y) - below
    if criterion == "f1":
        score = 2 * hits / (claimed + positives).clamp_min(1)
    else:
        negatives = (len(y) - positives).clamp_min(1)
        score = hits / positives.clamp_min(1) + 1 - (claimed - hits) / negatives
    best = (score >= score.max() - 1e-12).nonzero().flatten()
    return float(cuts[best[(cuts[best] - 0.5).abs().argmin()]])  # of equals, the nearest to a half


def decided(answers: list[Json], found: Any, classes: tuple[str, ...]) -> list[Json]:
    """The answers with the decision of the run.

    answers: one for each example.
    found: what result.json holds.
    classes: the names of the classes.
    """
    limits = {"threshold": optional(number(0.0, 1.0)), "radius": optional(number(0.0, math.inf))}
    values = fields(found, "the decision", **limits)
    if "threshold" in values and len(classes) == 2:
        return [_by_threshold(answer, values["threshold"], classes) for answer in answers]
    if "radius" in values and not classes:
        q = values["radius"]
        return [
            answer | {"lower": answer["prediction"] - q, "upper": answer["prediction"] + q}
            for answer in answers
        ]
    return answers


def _by_threshold(answer: Json, threshold: float, classes: tuple[str, ...]) -> Json:
    chosen = classes[int(answer["probabilities"][classes[1]] >= threshold)]
    return answer | {"prediction": chosen, "probability": answer["probabilities"][chosen]}
