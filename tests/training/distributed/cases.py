"""Runs that several processes must end in the weights of one.

python cases.py FILE PART…   where the weights and records of these parts go into the file:

all          all cases
begin=DIR    some of them, stopped after a few steps, with a checkpoint
end=DIR      and continued, or run without a stop
only=A,B     these cases
refused      what several processes refuse, and how
"""

import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import CLASSIFICATION, LANGUAGE_MODELING, REGRESSION, Task
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.gpt import GPT
from chainrule.models.attention.transformer import Transformer
from chainrule.models.attention.vit import ViT
from chainrule.models.convolution.cnn import CNN
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.dropout import dropout
from chainrule.nn.indexed_images import IndexedImages
from chainrule.nn.normalization import BatchNorm
from chainrule.nn.sequences import trim_padding
from chainrule.training import fit, iterate
from chainrule.training.distributed.group import current, joined
from chainrule.training.sources import (
    BlockShuffledRows,
    BucketedSequences,
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
        seed=3,
        **({"batch_size": 13, "epochs": 2} | settings),
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


class Depth(nn.Module):
    """Stochastic depth, a part for evaluation only, and an output that no loss sees."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(5, 8), nn.Linear(8, 3)
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.later = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x)
        for block in self.blocks:
            if not self.training or torch.rand(()) < 0.7:
                h = h + block(h).relu()
        return self.last(h) if self.training else self.last(h) + self.later(h)


class Experts(nn.Module):
    """The rows choose which parameters are used; some processes use others than the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(5, 3) for _ in range(9))

    def forward(self, x: Tensor) -> Tensor:
        chosen = (4 * x[:, 0]).long().abs().clamp(max=8)
        found = [expert(x) * (chosen == k)[:, None] for k, expert in self.used(chosen)]
        return torch.stack(found).sum(0)

    def used(self, chosen: Tensor) -> Any:
        return [(k, self.experts[k]) for k in chosen.unique().tolist()]


def sets(model: nn.Module, **settings: Any) -> Any:
    """Sets of 0 to 6 elements, given by their places in a table."""
    generator = torch.Generator().manual_seed(5)
    table = torch.randint(256, (40, 1, 5), generator=generator).byte()
    places = torch.randint(40, (ROWS, 6), generator=generator)
    sizes = torch.randint(7, (ROWS, 1), generator=generator)
    sizes[:6] = torch.arange(6)[:, None]
    places = places.where(torch.arange(6) < sizes, -1)
    y = torch.randn(ROWS, 1, generator=generator, dtype=torch.float64)
    network = IndexedImages(model, table)
    history = trained(
        network,
        (places, y),
        (places, y),
        task=REGRESSION,
        optimizer="momentum",  # a bias before batch normalization has no gradient but rounding
        epochs=2,
        batch_size=12,
        **settings,
    )
    return model, history


def set_network(dropout: float) -> nn.Module:
    layers = [nn.Flatten(), nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Tanh(), BatchNorm(8)]
    return nn.Sequential(*layers, MLP(8, [6], 4, dropout=dropout))


def translated(model: nn.Module, **settings: Any) -> Any:
    """Sentences of different length: source, previous tokens, next tokens."""
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(3, 9, (ROWS, 2, 8), generator=generator)
    lengths = torch.randint(2, 9, (ROWS, 2, 1), generator=generator)
    source, target = tokens.where(torch.arange(8) < lengths, 0).unbind(1)
    data = (source, target[:, :-1], target[:, 1:])
    task = Task("translation", row_cross_entropy, inputs=2)
    settings = {"optimizer": "momentum", "epochs": 2, "batch_size": 13} | settings
    history = trained(model, data, data, task=task, **settings)
    return model, history


def row_cross_entropy(output: Tensor, y: Tensor) -> Tensor:
    """One value per sentence."""
    return nn.functional.cross_entropy(output.transpose(1, 2), y, reduction="none").sum(1)


class Translator(nn.Module):
    """The columns that are padding in every row of the batch are dropped."""

    def __init__(self, dropout: float = 0.2) -> None:
        super().__init__()
        self.model = Transformer(9, 9, 8, 2, 2, 16, dropout)

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        return self.model.output(self.model.hidden(source, previous))


def padded(model: nn.Module, **settings: Any) -> Any:
    """Texts of different length, in batches of similar length."""
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(1, 9, (ROWS, 8), generator=generator)
    lengths = torch.randint(1, 9, (ROWS,), generator=generator)
    tokens = tokens.where(torch.arange(8) < lengths[:, None], 0)
    y = torch.randint(3, (ROWS,), generator=generator)
    source = BucketedSequences((tokens, y), lengths=lengths)
    history = trained(
        model, source, (tokens, y), task=CLASSIFICATION, epochs=2, batch_size=13, **settings
    )
    return model, history


class Pooled(nn.Module):
    """The mean output of a recurrent network over the valid steps."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(9, 6), nn.GRU(6, 6, batch_first=True)
        self.output = nn.Linear(6, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = trim_padding(tokens)
        h = dropout(self.layer(self.embedding(tokens))[0], 0.3, self.training)
        valid = (tokens != 0)[..., None]
        return self.output((h * valid).sum(1) / valid.sum(1))


class Fixed(nn.Module):
    """BERT with embeddings of which some entries are fixed by a hook on their gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.bert, self.output = BERT(9, 8, 8, 2, 2, dropout=0.2), nn.Linear(8, 3)
        vectors = torch.randn(9, 4, generator=torch.Generator().manual_seed(4))
        vectors[::2] = 0
        self.bert.fix_embeddings(vectors)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.bert(tokens)[:, 0])


class Layered(Language):
    """The same with its parts in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.more = nn.ModuleList([nn.Linear(6, 6)])

    def decode_step(self, tokens: Tensor, state: Any) -> Any:
        logits, after = super().decode_step(tokens, state)
        return logits + self.output(self.more[0](after[0]))[:, None], after


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
    "fixed weights": lambda: classifier(MLP(5, [8], 3), learning_rate=1e-200),
    "stops early": lambda: classifier(
        MLP(5, [8], 3), optimizer="sgd", learning_rate=5.0, patience=1, epochs=9
    ),
    "sharded stops early": lambda: classifier(
        MLP(5, [8], 3), optimizer="sgd", learning_rate=5.0, patience=1, epochs=9
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
    "stochastic depth": lambda: classifier(Depth(), weight_decay=0.1),
    "stochastic depth in parts": lambda: classifier(Depth(), accumulate=3),
    "experts": lambda: classifier(Experts(), weight_decay=0.1),
    "sets": lambda: sets(DeepSets(set_network(0.0), nn.Linear(4, 1), "mean")),
    "sets with dropout": lambda: sets(DeepSets(set_network(0.4), nn.Linear(4, 1), "max")),
    "padded": lambda: padded(Pooled()),
    "translation": lambda: translated(Translator()),
    "sharded translation": lambda: translated(Translator()),
    "sharded hook": lambda: padded(Fixed()),
    "sharded convolutions": lambda: classifier(
        CNN((1, 8, 8), ((4, 4), 8), 3, hidden=(16,), dropout=0.1, norm="batch"),
        (1, 8, 8),
        batch_size=12,
        optimizer="nesterov",
    ),
    "sharded streams": lambda: text(lambda t: TruncatedBPTT(t, 6), Layered(), optimizer="adagrad"),
    "sharded depth": lambda: classifier(Depth(), optimizer="sgd"),
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


def rank() -> int:
    group = current()
    return 0 if group is None else group.rank


class Wrong(nn.Module):
    """A mistake of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            raise RuntimeError("my own mistake")
        return self.layer(x)


class Packed(nn.Module):
    """Dropout of elements that the model has packed itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.dropout = nn.Linear(5, 3), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        elements = torch.cat([x, x[:1], x[:1] * 2])  # two more than there are rows
        return self.dropout(self.layer(elements))[: len(x)]


REFUSED: dict[str, Any] = {
    "other rows": lambda: classifier(
        MLP(5, [8], 3), source=lambda arrays: (arrays[0] + rank(), arrays[1])
    ),
    "fewer rows": lambda: classifier(
        MLP(5, [8], 3), source=lambda arrays: tuple(t[rank() :] for t in arrays)
    ),
    "other settings": lambda: classifier(MLP(5, [8], 3), epochs=2 + rank()),
    "another model": lambda: classifier(MLP(5, [8 + rank()], 3)),
    "a mistake": lambda: classifier(Wrong()),
    "packed": lambda: classifier(Packed(), batch_size=14),
}


def sentence(case: Any) -> str:
    """What a case raises."""
    try:
        case()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def results(part: str) -> dict[str, Any]:
    """Those of all cases of a part."""
    kind, _, folder = part.partition("=")
    if kind == "refused":
        return {name: sentence(case) for name, case in REFUSED.items()}
    if kind == "only":  # while a case is mended
        return {name: result(name, CASES[name]) for name in folder.split(",")}
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
