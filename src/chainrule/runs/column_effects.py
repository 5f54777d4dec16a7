"""What a trained network makes of the columns of a table.

    importance_j   mean over shuffles of loss(x with column j shuffled) - loss(x)
    effect_j(v)    mean over examples of f(x with column j set to v)

Both on test examples. Shuffling breaks the tie between a column and the target and leaves its
distribution; two columns that say the same share their importance. Breiman (2001), Machine
Learning 45; Friedman (2001), Annals of Statistics 29(5).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from chainrule.data.readers.tables.column_encodings import CategoricalColumn, Column, NumericColumn
from chainrule.data.readers.tables.date_column import DateColumn
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.readers.tables.word_columns import EmbeddedColumn, HashedColumn, TargetColumn
from chainrule.learning.metrics import format_metric
from chainrule.learning.tasks import Task
from chainrule.runs.predictions import Predictions
from chainrule.training import outputs

SHUFFLES = 5
MAX_WORK = 4_000_000  # rows that go through the network, over all columns and shuffles
MAX_ROWS = 500  # of which an effect is the mean
POINTS = 25  # values of a number or a date whose effect is computed
MAX_WORDS = 8  # whose effect is computed
SHOWN = 6  # columns with a drawn effect
MAX_CLASSES = 5  # whose probability is drawn


class Importance(NamedTuple):
    """Mean and standard deviation over the shuffles."""

    name: str
    mean: float
    std: float


class Effect(NamedTuple):
    """The mean output for each value of a column.

    name: the column.
    values: numbers, dates as numpy's, or words.
    output: (values, outputs): probabilities, or predictions in the units of the target.
    """

    name: str
    values: np.ndarray | list[str]
    output: np.ndarray


def encoder_of(predictions: Predictions) -> TableEncoder:
    assert isinstance(predictions.data.encoder, TableEncoder)
    return predictions.data.encoder


def blocks(encoder: TableEncoder) -> dict[str, slice]:
    """The features of each column."""
    found, start = {}, 0
    for column in encoder.columns:
        found[column.name] = slice(start, start + len(column.features))
        start += len(column.features)
    return found


def answers(predictions: Predictions, x: Tensor) -> Tensor:
    """The network's outputs for other inputs."""
    network = predictions.recipe.network(predictions.model, predictions.data)
    return outputs(network, (x,)).float()


def importances(predictions: Predictions) -> list[Importance]:
    """The rise of the loss by shuffling each column, the largest first; rmse for numbers."""
    encoder, task = encoder_of(predictions), predictions.recipe.task(predictions.data)
    x, y = predictions.data.test
    rows = max(2, min(len(x), MAX_WORK // (SHUFFLES * len(encoder.columns))))
    x, y = x[:rows], y[:rows]
    classes = bool(predictions.data.classes)
    usual = cost(answers(predictions, x), y, task, classes)
    generator = torch.Generator().manual_seed(0)
    found = []
    for name, block in blocks(encoder).items():
        rises = []
        for _ in range(SHUFFLES):
            shuffled = x.clone()
            shuffled[:, block] = x[torch.randperm(len(x), generator=generator)][:, block]
            rises.append(cost(answers(predictions, shuffled), y, task, classes) - usual)
        found.append(Importance(name, float(np.mean(rises)), float(np.std(rises))))
    return sorted(found, key=lambda one: -one.mean)


def cost(output: Tensor, y: Tensor, task: Task, classes: bool) -> float:
    """The mean loss, or the root mean squared error in the units of the target."""
    if classes:
        return task.loss(output, y).mean().item()
    return task.metric("rmse")(output, task.target(y))


def effects(predictions: Predictions, names: list[str]) -> list[Effect]:
    """The effects of these columns, but for those that are hashed."""
    encoder, x = encoder_of(predictions), predictions.data.test.x
    places = blocks(encoder)
    rows = x[torch.linspace(0, len(x) - 1, min(MAX_ROWS, len(x))).long()]
    found = []
    for column in encoder.columns:
        if column.name not in names or isinstance(column, HashedColumn):
            continue
        values, encoded = grid(column, x[:, places[column.name]].numpy())
        changed = rows.repeat(len(values), 1)
        changed[:, places[column.name]] = torch.from_numpy(encoded).repeat_interleave(len(rows), 0)
        output = answers(predictions, changed)
        output = output.softmax(1) if predictions.data.classes else encoder.restored(output)
        mean = output.double().reshape(len(values), len(rows), -1).mean(1).numpy()
        found.append(Effect(column.name, values, mean))
    return sorted(found, key=lambda effect: names.index(effect.name))


def grid(column: Column, block: np.ndarray) -> tuple[np.ndarray | list[str], np.ndarray]:
    """(values, features) between the second and the 98th hundredth, or the usual words."""
    if isinstance(column, NumericColumn):
        z = np.unique(np.quantile(block[:, 0], np.linspace(0.02, 0.98, POINTS)))
        rows = np.zeros((len(z), block.shape[1]), np.float32)
        rows[:, 0] = z
        return column.restored(z), rows
    if isinstance(column, DateColumn):
        t = np.linspace(0, 1 - 1e-6, POINTS)
        if not column.time_of_day:
            t = np.quantile(block[:, 0], np.linspace(0.02, 0.98, POINTS)) * column.std + column.mean
        cells = [column.written(when) for when in t]
        stamps = t * 24 if column.time_of_day else (t * 86_400).astype("datetime64[s]")
        return stamps, column.encode(cells).astype(np.float32)
    words = usual_words(column, block)
    return words, column.encode(words).astype(np.float32)


def usual_words(column: Column, block: np.ndarray) -> list[str]:
    """The most frequent words, or those spread over the means of the target."""
    if isinstance(column, CategoricalColumn):
        order = np.argsort(-block.sum(0), kind="stable")
        return [column.words[k] for k in order[:MAX_WORDS]]
    assert isinstance(column, TargetColumn | EmbeddedColumn)
    if isinstance(column, EmbeddedColumn):
        counts = np.bincount(block[:, 0].astype(int), minlength=len(column.words) + 1)[1:]
        return [column.words[k] for k in np.argsort(-counts, kind="stable")[:MAX_WORDS]]
    order = np.argsort([row[0] for row in column.values], kind="stable")
    spread = np.linspace(0, len(order) - 1, min(MAX_WORDS, len(order))).astype(int)
    return [column.words[k] for k in order[spread]]


def importance_text(found: list[Importance], what: str) -> str:
    """A line for each column."""
    width = max(len("column"), *(len(one.name) for one in found)) + 2
    lines = [f"{'column':<{width}}{what} by shuffling it, mean and deviation of {SHUFFLES}"]
    lines += [
        f"{one.name:<{width}}{format_metric('', one.mean)} ± {format_metric('', one.std)}"
        for one in found
    ]
    return "\n".join(lines)
