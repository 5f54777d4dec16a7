"""Transfer on Fashion-MNIST: learn five classes, then the other five from few labels.

    python benchmarks/transfer.py --data FOLDER

A convolutional network is trained on all images of the first five classes (T-shirt, trouser,
pullover, dress, coat). Networks for the other five (sandal, shirt, sneaker, bag, boot) then see 10,
100 or 1,000 labels per class: from scratch, with all layers starting from the first network, with
its convolutions frozen, with half the rate from each layer to the one before it, and with layers
that begin to learn one after another. The test error is on the 5,000 test images of those classes;
each number is the mean over three draws of the labels and initial weights.
"""

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Tensor

import chainrule as cr
from chainrule.models.convolution import CNN
from chainrule.runs.transfer import freeze, transfer
from chainrule.training import Settings, evaluate, fit

RESULT = Path(__file__).parent / "transfer.json"
EPOCHS = {10: 60, 100: 25, 1000: 8}
SEEDS = (0, 1, 2)
WAYS: dict[str, dict[str, Any]] = {
    "from scratch": {},
    "fine-tuned": {},
    "frozen convolutions": {},
    "rates by depth": {"layer_decay": 0.5},
    "gradual unfreezing": {"unfreeze_every": 2},
}
SETTINGS = Settings(
    epochs=3, batch_size=64, optimizer="adamw", schedule="one-cycle", learning_rate=3e-3
)


def network(seed: int) -> CNN:
    torch.manual_seed(seed)
    return CNN((1, 28, 28), ((12, 12), (24, 24)), 5, norm="batch")


def half(split: tuple[Tensor, Tensor], first: int) -> tuple[Tensor, Tensor]:
    """The images of five classes, which become 0 to 4."""
    x, y = split
    rows = (y >= first) & (y < first + 5)
    return x[rows], y[rows] - first


def few(split: tuple[Tensor, Tensor], labels: int, seed: int) -> tuple[Tensor, Tensor]:
    """So many images of each class."""
    x, y = split
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    rows = torch.cat([order[y[order] == k][:labels] for k in range(5)])
    return x[rows], y[rows]


def trained(way: str, source: CNN, data: tuple[Tensor, Tensor], labels: int, seed: int) -> CNN:
    """A network for the second half of the classes."""
    model = network(seed)
    if way != "from scratch":
        head = [name for name in model.state_dict() if name.startswith("head.")]
        transfer(model, source.state_dict(), "the first half", head)
    if way == "frozen convolutions":
        freeze(model, "stages.*")
    options = {"epochs": EPOCHS[labels], "batch_size": 32, "seed": seed} | WAYS[way]
    fit(model, data, settings=SETTINGS, **options)
    return model


def measure(data: Path | None) -> list[dict[str, Any]]:
    splits = cr.data.fashion_mnist(folder=data)
    source = network(0)
    fit(source, half(splits.train, 0), settings=SETTINGS)
    error = evaluate(source, half(splits.test, 0))["error"]
    print(f"first half: test error {error:.4f}", flush=True)
    pool, test = half(splits.train, 5), half(splits.test, 5)
    rows: list[dict[str, Any]] = [{"way": "the first half", "test error": round(error, 4)}]
    for labels in EPOCHS:
        for way in WAYS:
            models = [trained(way, source, few(pool, labels, s), labels, s) for s in SEEDS]
            errors = [evaluate(model, test)["error"] for model in models]
            row = {"labels per class": labels, "way": way, "test error": round(fmean(errors), 4)}
            rows.append(row | {"standard deviation": round(stdev(errors), 4)})
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    rows = measure(parser.parse_args().data)
    record = {
        "command": "python benchmarks/transfer.py --data FOLDER",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, beside other work",
        "epochs": EPOCHS,
        "seeds": list(SEEDS),
        "rows": rows,
    }
    RESULT.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
