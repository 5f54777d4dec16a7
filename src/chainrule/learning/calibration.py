"""Calibration: whether predictions of 80 % probability are right in 80 % of the cases.

    ECE   = Σ_b n_b/N |acc_b - conf_b|          b: equal-width bins of the largest probability
    Brier = 1/N Σ_i ‖p_i - e_{y_i}‖²            e_y: the y-th unit vector

Guo et al. (2017), ICML; Brier (1950), Monthly Weather Review 78(1). Notes: L "Tuning and model
selection".
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.errors import InputError

BINS = 15


class Reliability(NamedTuple):
    """Mean confidence, accuracy and number of examples of each bin; NaN for empty bins."""

    confidence: Float[Tensor, " bins"]
    accuracy: Float[Tensor, " bins"]
    number: Float[Tensor, " bins"]


@checked
def reliability(
    p: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"], bins: Count = BINS
) -> Reliability:
    """The examples in bins (j/B, (j+1)/B] of their largest probability."""
    if not len(y):
        raise InputError("expected at least one example, got none")
    confidence, predicted = p.double().max(1)
    place = (confidence * bins).ceil().long().sub(1).clamp(0, bins - 1)

    def total(values: Tensor) -> Tensor:
        return torch.zeros(bins, dtype=torch.float64).index_add(0, place, values)

    number = total(torch.ones_like(confidence))
    right = (predicted == y).double()
    return Reliability(total(confidence) / number, total(right) / number, number)


@checked
def calibration_error(
    p: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"], bins: Count = BINS
) -> float:
    """Σ_b n_b/N |acc_b - conf_b|."""
    confidence, accuracy, number = reliability(p, y, bins)
    gaps = (accuracy - confidence).abs().nan_to_num(0.0)
    return ((number * gaps).sum() / number.sum()).item()


@checked
def brier_score(p: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"]) -> float:
    """1/N Σ_i ‖p_i - e_{y_i}‖²."""
    return (p.double() - F.one_hot(y, p.shape[1])).square().sum(1).mean().item()
