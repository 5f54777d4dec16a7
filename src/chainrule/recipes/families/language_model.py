"""Shared by the language models: metrics, samples, and the surprise at each character."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from chainrule.data.splits import Splits
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.runs.generate import LanguageModel, default_prompt, sample
from chainrule.runs.recipe import SPLITS, DataSummary, Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLE_LENGTH = 1500  # characters of each sample
TEMPERATURES = (0.5, 0.8, 1.0)
READ = 480  # characters of the test text whose surprise is drawn
BEFORE = 2000  # characters before them
ONE_TEXT = "its data is one text, not separate examples"
UNSUPPORTED: Mapping[str, str] = dict.fromkeys(
    ("members", "teacher", "tune", "class_weights", "label_smoothing", "accumulate", "sampling"),
    ONE_TEXT,
)


def summarize(data: Splits) -> DataSummary:
    """The vocabulary and the lengths of the texts."""
    examples = {name: len(getattr(data, name).x) for name in SPLITS}
    return DataSummary(
        vocab_sizes=(len(data.classes),),
        examples=examples,
        remarks=data.remarks,
        encoder=data.encoder,
    )


def losses(predictions: Predictions) -> Metrics:
    """Mean loss per character of every split."""
    recipe, model, data = predictions.recipe, predictions.model, predictions.data
    task = recipe.task(data)
    return {name: recipe.source(getattr(data, name)).evaluate(model, task) for name in SPLITS}


def with_last_tenth(metrics: Metrics) -> Metrics:
    """`last_tenth`: the loss on validation and test together, as others report it."""
    both = [metrics[name]["loss"] for name in ("validation", "test")]
    metrics["validation"]["last_tenth"] = sum(both) / 2
    return metrics


def samples(predictions: Predictions) -> dict[str, str]:
    """Samples at three temperatures."""
    model, encoder = predictions.model, predictions.data.encoder
    assert isinstance(encoder, Vocabulary) and isinstance(model, LanguageModel)
    prompt, seed = default_prompt(encoder), predictions.recipe.seed
    length = SAMPLE_LENGTH if encoder.unit == "character" else SAMPLE_LENGTH // 5
    found = [
        f"temperature {t:g}\n{'=' * 15}\n" + sample(model, encoder, prompt, length, t, seed=seed)
        for t in TEMPERATURES
    ]
    return {"samples": "\n\n".join(found)}


def surprise_figure(
    predictions: Predictions, nats: Callable[[Any, Tensor, Tensor], Tensor]
) -> "Figure":
    """-log₂ p of each character of a test text.

    Args:
        predictions: of a language model.
        nats: (model, x, y) ↦ -log p of the last characters of y, each after those of x before it.
    """
    from chainrule.plots.text import surprisal

    data, model = predictions.data, predictions.model
    x, y = (t[: BEFORE + READ] for t in data.test)
    with torch.no_grad():
        found = nats(model.eval(), x, y)[-READ:]
    assert isinstance(data.encoder, Vocabulary)
    pieces = data.encoder.pieces(y[-len(found) :].tolist())
    bits = (found / torch.tensor(2.0).log()).repeat_interleave(torch.tensor([*map(len, pieces)]))
    return surprisal("".join(pieces), bits.numpy())


def attention_text(data: Splits, size: int) -> tuple[Tensor, list[str]]:
    """Tokens from the start of a line of the test text, as numbers and as text."""
    assert isinstance(data.encoder, Vocabulary)
    text = data.encoder.pieces(data.test.x[: BEFORE + READ].tolist())
    size = min(size, len(text))
    ends = (place for place, piece in enumerate(text[:-size], 1) if piece.endswith("\n"))
    line = next(ends, 0)  # begin with a whole line, if there is one
    return data.test.x[line : line + size], text[line : line + size]


def positions_of(model: nn.Module) -> Any:
    """The learned positions of a transformer."""
    return model.positions.weight.numpy(force=True)  # type: ignore[union-attr, operator]
