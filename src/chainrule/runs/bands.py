"""The band of a forecast, moved to hold what it promised in the recent past.

    e_i = q̂_low(x_i) - y_i      y_i - q̂_high(x_i)      how far y_i lies outside either end
    margin = the ⌈(n + 1) 0.9⌉-th smallest e_i, by step ahead and by end

The n forecasts are the last hundred of the series whose outcome is known at the origin of the
forecast, or, where there are fewer than thirty, all of the validation period. Conformalized
quantile regression (Romano, Patterson and Candès (2019), NeurIPS) on a rolling window: the promise
holds as far as the future resembles these forecasts, which overlap and are not independent.
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.state import LIST, is_number
from chainrule.errors import InputError

SHARE = 0.9  # of the true values that lie inside one end
RECENT = 100  # forecasts by which a band is moved
LEAST = 30  # below which those of the validation period are taken
CHUNK = 20_000  # windows at a time


def band_margins(
    output: Float[Tensor, "n horizon quantiles"], y: Float[Tensor, "n horizon 2"]
) -> Float[Tensor, "horizon 2"]:
    """How far to move the lower end down and the upper end up; 0 where a step has no values."""
    value, seen = y.double().unbind(2)
    low, high = output[:, :, 0].double() - value, value - output[:, :, -1].double()
    margins = torch.zeros(output.shape[1], 2, dtype=torch.float64)
    for step in range(output.shape[1]):
        rows = seen[:, step] > 0
        rank = math.ceil((int(rows.sum()) + 1) * SHARE)
        if rank <= int(rows.sum()):
            for end, missed in enumerate((low, high)):
                margins[step, end] = missed[rows, step].sort().values[rank - 1]
    return margins


def widened(
    output: Float[Tensor, "n horizon quantiles"], margins: Float[Tensor, "*n horizon 2"]
) -> Float[Tensor, "n horizon quantiles"]:
    """The output with moved ends, which never cross the middle."""
    low, middle, high = output.double().unbind(2)
    low = torch.minimum(low - margins[..., 0], middle)
    high = torch.maximum(high + margins[..., 1], middle)
    return torch.stack([low, middle, high], 2).to(output.dtype)


def rolling_margins(
    output: Float[Tensor, "n horizon quantiles"],
    y: Float[Tensor, "n horizon 2"],
    origins: Int[Tensor, "n 2"],
    usual: Float[Tensor, "horizon 2"],
) -> Float[Tensor, "n horizon 2"]:
    """The margins of every window, by the forecasts of its series that were known at its origin.

    output, y: of windows in any order.
    origins: of each, the number of its series and the first step that it forecasts.
    usual: margins where too few are known.
    """
    value, seen = y.double().numpy()[..., 0], y.numpy()[..., 1] > 0
    raw = output.double().numpy()
    missed = np.stack([raw[:, :, 0] - value, value - raw[:, :, -1]], 2)
    margins = usual.double().numpy()[None].repeat(len(raw), 0)
    numbers, starts = origins.numpy().T
    for number in np.unique(numbers):
        rows = np.flatnonzero(numbers == number)
        rows = rows[np.argsort(starts[rows], kind="stable")]
        for step in range(raw.shape[1]):
            known = rows[seen[rows, step]]
            # The outcome of a forecast from o, o + step, must lie before the origin.
            count = np.searchsorted(starts[known], starts[rows] - step)
            for end in (0, 1):
                found = trailing_ranks(missed[known, step, end], count)
                enough = ~np.isnan(found)
                margins[rows[enough], step, end] = found[enough]
    return torch.from_numpy(margins)


def trailing_ranks(errors: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The ⌈(n + 1) 0.9⌉-th smallest of the last n ≤ 100 of the first `count`; NaN for few."""
    found = np.full(len(count), np.nan)
    full = np.flatnonzero(count >= RECENT)
    if len(full):
        rank = math.ceil((RECENT + 1) * SHARE) - 1
        for part in np.array_split(full, -(-len(full) // CHUNK)):
            ends = np.lib.stride_tricks.sliding_window_view(errors, RECENT)[count[part] - RECENT]
            found[part] = np.partition(ends, rank, axis=1)[:, rank]
    for row in np.flatnonzero((count >= LEAST) & (count < RECENT)):
        n = count[row]
        found[row] = np.sort(errors[:n])[math.ceil((n + 1) * SHARE) - 1]
    return found


def checked_band(band: Any, horizon: int) -> Float[Tensor, "horizon 2"]:
    """The margins as result.json holds them."""
    whole = LIST.holds(band) and len(band) == horizon
    if not whole or not all(
        LIST.holds(row) and len(row) == 2 and all(map(is_number, row)) for row in band
    ):
        raise InputError(f"expected two numbers for each of {horizon} steps as the band")
    return torch.tensor(band, dtype=torch.float64)
