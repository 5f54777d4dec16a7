"""Many networks at once beside one after another: ensembles, small networks, cross-validation.

    make bench

Each pair runs in turns in every round, and the best of the rounds counts.
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from itertools import pairwise, product
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.data.datasets import mnist, spam
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many
from chainrule.training.batched.run import k_folds

warnings.filterwarnings("ignore")


def together(sizes: list[int], x: Tensor, y: Tensor, settings: list[Settings]) -> None:
    models = [MLP(sizes[0], sizes[1:-1], sizes[-1]) for _ in settings]
    fit_many(models, (x, y), None, settings)


def one_by_one(sizes: list[int], x: Tensor, y: Tensor, settings: list[Settings]) -> None:
    """Hand-tuned PyTorch: tensors in memory, fused Adam."""
    for s in settings:
        layers: list[nn.Module] = []
        for n, m in pairwise(sizes):
            layers += [nn.Linear(n, m), nn.ReLU()]
        model = nn.Sequential(*layers[:-1])
        adam = torch.optim.Adam(model.parameters(), s.learning_rate, fused=True)
        for _ in range(s.epochs):
            for rows in torch.randperm(len(x)).split(s.batch_size):
                adam.zero_grad(set_to_none=True)
                F.cross_entropy(model(x.index_select(0, rows)), y.index_select(0, rows)).backward()
                adam.step()


def ensemble() -> tuple[Callable[[], None], Callable[[], None]]:
    """Ten MNIST networks 784-256-128-10, one epoch, batch 128."""
    data = mnist.load(validation=1)
    x, y = data.train.x.flatten(1), data.train.y
    settings = [Settings(seed=k, epochs=1) for k in range(10)]
    sizes = [784, 256, 128, 10]
    return lambda: together(sizes, x, y, settings), lambda: one_by_one(sizes, x, y, settings)


def small() -> tuple[Callable[[], None], Callable[[], None]]:
    """64 tabular networks 20-32-32-2, batch 64, 4 epochs of 6,400 rows."""
    torch.manual_seed(0)
    x = torch.randn(6400, 20)
    y = (x[:, 0] * x[:, 1] > 0).long()
    settings = [Settings(seed=k, epochs=4, batch_size=64) for k in range(64)]
    sizes = [20, 32, 32, 2]
    return lambda: together(sizes, x, y, settings), lambda: one_by_one(sizes, x, y, settings)


def cross_validation(hidden: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """5 folds × 16 settings on spam, batch 64, 20 epochs, the network 57-{}-2."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.neural_network import MLPClassifier

    data = spam.load().train
    rates, decays = [3e-4, 1e-3, 3e-3, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2]

    def ours() -> None:
        folds = k_folds(len(data.x), 5, seed=0)
        points = list(product(rates, decays, folds))
        settings = [
            Settings(epochs=20, batch_size=64, learning_rate=rate, weight_decay=decay)
            for rate, decay, _ in points
        ]
        models = [MLP(57, [hidden], 2) for _ in points]
        fit_many(models, data, None, settings, folds=[fold for _, _, fold in points])

    def theirs() -> None:
        network = MLPClassifier((hidden,), batch_size=64, max_iter=20, n_iter_no_change=20)
        grid = {"learning_rate_init": rates, "alpha": decays}
        search = GridSearchCV(network, grid, cv=5, n_jobs=2, refit=False)
        search.fit(data.x.numpy(), data.y.numpy())

    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    rows = []
    searched = "GridSearchCV over MLPClassifier, two processes"
    for make, sizes, peer in (
        (ensemble, (), "ten hand-tuned PyTorch runs"),
        (small, (), "64 hand-tuned PyTorch runs"),
        (cross_validation, (10,), searched),
        (cross_validation, (100,), searched),
    ):
        ours, theirs = make(*sizes)
        best = [float("inf"), float("inf")]
        for _ in range(options.rounds):
            for place, call in enumerate((ours, theirs)):
                began = time.perf_counter()
                call()
                best[place] = min(best[place], time.perf_counter() - began)
        what = (make.__doc__ or "").strip().rstrip(".").format(*sizes)
        row = {"name": what, "seconds": round(best[0], 3), "peer": peer}
        row |= {"peer_seconds": round(best[1], 3), "ratio": round(best[1] / best[0], 2)}
        rows.append(row)
        print(f"{what}: {best[0]:.2f} s; {peer}: {best[1]:.2f} s", file=sys.stderr)
    result = {
        "command": "python benchmarks/many.py",
        "date": str(date.today()),
        "rounds": options.rounds,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
        "rows": rows,
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    Path("benchmarks/speed/many.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
