"""What the numbers of an exported model mean, for a program that knows nothing but model.json.

The input: names and range of its features, and the rule that makes them. The output: a sentence,
and the numbers that turn it into the answer of `chainrule predict`: shift and scale of a target,
threshold, radius of the interval, levels of the quantiles, margins of the band.
"""

from typing import TYPE_CHECKING, Any

from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.series.series_encoder import QUANTILES, SeriesEncoder
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.runs.bands import LEAST, RECENT, SHARE
from chainrule.runs.decisions import COVERAGE

if TYPE_CHECKING:
    from chainrule.runs.run import Run

Json = dict[str, Any]
ROW = (
    "the features of the columns, one column after another; a column of numbers gives (z - "
    "mean) / std with z = sgn(x) log(1 + |x| / log) where `log` is above 0 and z = x else, the "
    "median (of z) in place of a missing value, then, where `missing` is true, 1 for a missing "
    "value and 0 else; a column with `words` and no `kind` gives 1 at the place of its word and"
    " 0 else"
)
PIXELS = "the image as preprocessing says, its bytes divided by 255, channels first"
WINDOW = (
    "the last `context` steps of a series; of each step (value - mean) / std with the last "
    "value where there is none, 1 where there is none and 0 else, the covariates standardized "
    "by `covariate_scales`, then the sines and after them the cosines of 2π times: the part of "
    "the day that has passed (steps below a day), weekday / 7 from Monday, 0 (steps below a "
    "week), and the days of the year before / 365.25 (steps below a year); grids of numbers "
    "have none"
)
SCALES = (
    "mean and std are those of the series in preprocessing.scales, and of a new series those of "
    "its own values"
)
BAND = (
    "the lower end is moved down and the upper end up by a margin, but not across the median: "
    f"the ⌈(n + 1) {SHARE:g}⌉-th smallest error of that end in the last {RECENT} forecasts of "
    f"the series at that step whose outcome is known, or where there are fewer than {LEAST}, "
    "`margins`, one pair (lower, upper) for each step; all in standardized units"
)


def of_input(run: "Run", x: Tensor) -> Json:
    """What goes in, besides its shape and type."""
    encoder = run.summary.encoder
    if isinstance(encoder, TableEncoder):
        return {"meaning": ROW, "features": list(encoder.features)}
    if isinstance(encoder, SeriesEncoder):
        return {"meaning": WINDOW}
    if isinstance(encoder, ImageEncoder | PhotoEncoder):
        channels = ["red", "green", "blue"] if encoder.channels == 3 else ["gray"]
        return {"meaning": PIXELS, "range": [0.0, 1.0], "channels": channels}
    if run.summary.vocab_sizes and not x.is_floating_point():
        return {"meaning": "tokens by number", "range": [0, max(run.summary.vocab_sizes) - 1]}
    return {}


def of_output(run: "Run", y: Tensor) -> Json:
    """What comes out, and what turns it into an answer."""
    encoder, classes = run.summary.encoder, run.summary.classes
    if isinstance(encoder, SeriesEncoder):
        return of_forecast(run, encoder)
    if classes:
        return of_classes(run, classes, y)
    vocabulary = run.summary.vocab_sizes
    if vocabulary and y.shape[-1] == vocabulary[-1]:
        return {
            "meaning": "logit of every token as the next one, after each token of the input; the "
            "softmax over the last axis gives probabilities"
        }
    if isinstance(encoder, TableEncoder):
        return of_number(run, encoder)
    if y.is_floating_point() and run.summary.target_std != 1.0:
        return {"meaning": "predicted value, in units of the target"}
    return {"meaning": f"what the network of the recipe {run.name} computes"}


def of_classes(run: "Run", classes: tuple[str, ...], y: Tensor) -> Json:
    """Logits, and from which probability on the second of two classes is predicted."""
    threshold = run.result.get("decision", {}).get("threshold")
    found: Json = {}
    if threshold is not None and len(classes) == 2:
        found["threshold"] = threshold
        found["decision"] = f"{classes[1]} is predicted from this probability of it on"
    if y.ndim == 1:
        said = f"logit of the class {classes[1]}; its probability is the sigmoid of it"
    elif y.ndim == 2:
        said = "logit of each class; the softmax over axis 1 gives probabilities"
    elif y.shape[1] == len(classes):
        what = "pixel" if y.ndim == 4 else "point"
        said = f"logit of each class at every {what}; the softmax over axis 1 gives probabilities"
    else:
        said = "logit of each class at every place; the softmax over the last axis is probabilities"
    return {"meaning": said} | found


def of_number(run: "Run", encoder: TableEncoder) -> Json:
    """A predicted number, with the interval around it."""
    radius = run.result.get("decision", {}).get("radius")
    interval = {"interval": {"radius": radius, "coverage": COVERAGE}} if radius else {}
    return {
        "meaning": f"shift + scale * output, in float64, is the predicted value of {encoder.target}"
        + "; the interval is this value minus and plus its radius" * bool(radius),
        "target": encoder.target,
        "shift": encoder.shift,
        "scale": encoder.scale,
    } | interval


def of_forecast(run: "Run", encoder: SeriesEncoder) -> Json:
    """Standardized quantiles of the next steps."""
    margins = run.result.get("decision", {}).get("band")
    band = {"band": {"meaning": BAND, "margins": margins}} if margins else {}
    return {
        "meaning": f"mean + std * output is a quantile of {encoder.target}, by step ahead and "
        f"level; {SCALES}",
        "target": encoder.target,
        "axes": ["batch", "step", "quantile"],
        "quantiles": list(QUANTILES),
    } | band
