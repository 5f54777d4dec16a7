"""Runs that several processes must end in the weights of one.

python cases.py FILE PART…   where the weights and records of these parts go into the file:

all          all cases
begin=DIR    some of them, stopped after a few steps, with a checkpoint
end=DIR      and continued, or run without a stop
"""

import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import LANGUAGE_MODELING, Task
from chainrule.models.attention.gpt import GPT
from chainrule.models.attention.vit import ViT
from chainrule.models.convolution.cnn import CNN
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.normalization import BatchNorm
from chainrule.training import fit, iterate
from chainrule.training.distributed.group import current, joined
from chainrule.training.sources import (
    BlockShuffledRows,
    RandomWindows,
    Rows,
    TokenShards,
    TruncatedBPTT,
)

STEPS = 7  # after which a run is stopped
ROWS = 53  # a batch of one row remains in batches of 13, of five in batches of 12


def rows(classes: int = 3, shape: tuple[int, ...] = (5,)) -> tuple[tuple[Tensor, Tensor], ...]:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(ROWS + 20, *shape, generator=generator)
    y = torch.randint(classes, (len(x),), generator=generator)
    return (x[:ROWS], y[:ROWS]), (x[ROWS:], y[ROWS:])


class Parts(nn.Module):
    """Two outputs by name."""

    def __init__(self) -> None:
        super().__init__()
        self.network = MLP(5, [8], 3)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        logits = self.network(x)
        return {"logits": logits, "squares": logits.square()}


def coupled(output: dict[str, Tensor], y: Tensor) -> Tensor:
    """A loss whose rows depend on each other, one value for the batch."""
    variance = output["squares"].mean(0) - output["logits"].mean(0).square()
    return nn.functional.cross_entropy(output["logits"], y) + variance.sum()


def classifier(model: nn.Module, shape: tuple[int, ...] = (5,), **settings: Any) -> Any:
    train, validation = rows(3, shape)
    source = settings.pop("source", None)
    history = trained(
        model,
        train if source is None else source(train),
        validation,
        epochs=2,
        seed=3,
        **({"batch_size": 13} | settings),
    )
    return model, history


def trained(model: nn.Module, *data: Any, stop: bool = False, **settings: Any) -> Any:
    """The history; of a run that is to be stopped, what it had reported."""
    if stop:
        steps = iterate(model, *data, tick=0, **settings)
        number = 5 if settings["folder"].name == "dropout" else STEPS  # 5: just before a record
        found = [next(steps) for _ in range(number)]
        steps.close()
        return [now.record for now in found if now.record]
    return fit(model, *data, **settings)


class Noisy(nn.Module):
    """torch's own dropout, of attention too, noise of the inputs and noise of the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(5, 8), nn.Linear(8, 3)
        self.attention = nn.MultiheadAttention(8, 2, dropout=0.3, batch_first=True)
        self.dropout = nn.Dropout(0.4)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            x = x + 0.1 * torch.randn_like(x) + 0.1 * torch.rand(len(x), 1)
        h = self.dropout(self.first(x).relu())[:, None].expand(-1, 4, -1)
        h, _ = self.attention(h, h, h, need_weights=False)
        if self.training:
            noise = 0.1 * torch.randn_like(self.last.weight)
            return nn.functional.linear(h.mean(1), self.last.weight + noise, self.last.bias)
        return self.last(h.mean(1))


class Language(nn.Module):
    """A recurrent network that is trained through `decode_step`."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(7, 4), nn.GRUCell(4, 6)
        self.output = nn.Linear(6, 7)

    def decode_step(self, tokens: Tensor, state: Any) -> Any:
        z = tokens.new_zeros((len(tokens), 6), dtype=torch.float64) if state is None else state[0]
        found = []
        for t in range(tokens.shape[1]):
            z = self.layer(self.embedding(tokens[:, t]), z)
            found.append(self.output(z))
        return torch.stack(found, 1), (z,)


def text(source: Any, model: nn.Module, **settings: Any) -> Any:
    tokens = torch.randint(7, (401,), generator=torch.Generator().manual_seed(1))
    train, held = (tokens[:300], tokens[1:301]), (tokens[300:-1], tokens[301:])
    task = LANGUAGE_MODELING
    history = trained(
        model, source(train), source(held), task=task, epochs=2, batch_size=5, **settings
    )
    return model, history


class Slices:
    """Rows in blocks of eleven, as a file has them."""

    def __init__(self, arrays: tuple[Tensor, ...]):
        self.arrays, self.sizes, self.row_bytes = arrays, [11] * 4 + [9], 48

    def read(self, block: int, rows: Any = None) -> tuple[Tensor, ...]:
        found = tuple(t[11 * block : 11 * block + 11] for t in self.arrays)
        return found if rows is None else tuple(t[torch.from_numpy(rows)] for t in found)


def blocks(arrays: tuple[Tensor, ...]) -> BlockShuffledRows:
    """Windows of two blocks."""
    return BlockShuffledRows(Slices(arrays), window_bytes=2 * 11 * 48)


def noise_of(x: Tensor) -> Tensor:
    return x + 0.1 * torch.randn_like(x)


CASES: dict[str, Any] = {
    "plain": lambda: classifier(MLP(5, [8], 3)),
    "dropout": lambda: classifier(MLP(5, [8, 8], 3, dropout=0.3), optimizer="momentum"),
    "many settings": lambda: classifier(
        MLP(5, [8], 3, dropout=0.2),
        accumulate=3,
        class_weights="balanced",
        label_smoothing=0.1,
        clip_norm=0.3,
        ema_decay=0.9,
        lasso=0.01,
        weight_decay=0.01,
        patience=1,
        monitor="error",
    ),
    "batch norm": lambda: classifier(
        nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), BatchNorm(8), nn.Linear(8, 3)),
        accumulate=2,
        batch_size=12,
    ),
    "images": lambda: classifier(
        CNN((1, 8, 8), ((4, 4), 8), 3, hidden=(16,), dropout=0.1, norm="batch"),
        (1, 8, 8),
        batch_size=12,
    ),
    "augmented": lambda: classifier(
        MLP(5, [8], 3), source=lambda arrays: Rows(arrays, augment=noise_of)
    ),
    "coupled loss": lambda: classifier(Parts(), task=Task("coupled", coupled)),
    "torch's dropout": lambda: classifier(Noisy()),
    "whole batch": lambda: classifier(MLP(5, [8], 3), optimizer="gd", learning_rate=0.1),
    "windows": lambda: text(
        lambda t: RandomWindows(t, 8, 5), GPT(7, 8, 8, 2, 2, dropout=0.2), clip_norm=1.0
    ),
    "streams": lambda: text(lambda t: TruncatedBPTT(t, 6), Language()),
    "layers": lambda: classifier(MLP(5, [8, 8], 3, dropout=0.2), layer_decay=0.5, unfreeze_every=1),
    "blocks": lambda: classifier(MLP(5, [8], 3, dropout=0.2), source=blocks),
    "bytes in shards": lambda: text(
        lambda t: TokenShards([t[0][:50], t[0][50:]], 8, 5), GPT(7, 8, 8, 2, 2), clip_norm=1.0
    ),
    "sharded": lambda: text(
        lambda t: RandomWindows(t, 8, 5),
        GPT(7, 8, 8, 2, 2, dropout=0.2),
        clip_norm=0.3,
        ema_decay=0.9,
        lasso=0.01,
        optimizer="adamw",
        weight_decay=0.1,
    ),
    "sharded images": lambda: classifier(
        ViT((8, 8), 4, 1, 3, 8, 2, 2, dropout=0.1),
        (1, 8, 8),
        accumulate=3,
        patience=1,
        class_weights="balanced",
    ),
}
STOPPED: dict[str, Any] = {
    "dropout": lambda **more: classifier(MLP(5, [8, 8], 3, dropout=0.3), **more),
    "streams": lambda **more: text(lambda t: TruncatedBPTT(t, 6), Language(), **more),
    "sharded": lambda **more: text(
        lambda t: RandomWindows(t, 8, 5),
        GPT(7, 8, 8, 2, 2, dropout=0.2),
        ema_decay=0.9,
        patience=2,
        **more,
    ),
}


def result(name: str, case: Any, **more: Any) -> dict[str, Any]:
    """Weights and records of a case."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    if (group := current()) is not None:
        group.sharded = name.startswith("sharded")
    model, history = case(**more)
    records = [{k: v for k, v in record.items() if k != "seconds"} for record in history]
    return {"weights": dict(model.state_dict()), "records": records}


def results(part: str) -> dict[str, Any]:
    """Those of all cases of a part."""
    kind, _, folder = part.partition("=")
    if kind == "all":
        return {name: result(name, case) for name, case in CASES.items()}
    return {
        name: result(name, case, folder=Path(folder, name), stop=kind == "begin")
        for name, case in STOPPED.items()
    }


def main() -> None:
    with joined() as group:
        found = {part.partition("=")[0]: results(part) for part in sys.argv[2:]}
        if group is None or group.first:
            torch.save(found, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
