"""One epoch of MNIST, 784-256-128-10, batch 128, Adam: this engine beside its peers.

    make bench

All contestants train the same network on the same 60,000 images, one after the other in every
round, so that a busy moment of the machine hits them alike; the best of the rounds counts. Only the
epoch is timed, not the building of trainers. Each also reports the test error after its first
epoch, to show that it did the work.
"""

import argparse
import json
import logging
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from chainrule.data.datasets import mnist  # noqa: E402
from chainrule.training import fit, outputs  # noqa: E402

BATCH, RATE = 128, 1e-3
Contestant = Callable[[Tensor, Tensor, Tensor], tuple[float, Tensor]]


def sequential() -> nn.Sequential:
    """The network of all contestants that take a torch module."""
    return nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def chainrule_engine(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    model = sequential()
    began = time.perf_counter()
    fit(model, (x, y), epochs=1, batch_size=BATCH, learning_rate=RATE)
    return time.perf_counter() - began, outputs(model, (test,))


def hand_tuned(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    """Tensors in memory, rows gathered by a permutation, fused Adam."""
    model = sequential()
    adam = torch.optim.Adam(model.parameters(), RATE, fused=True)
    began = time.perf_counter()
    for rows in torch.randperm(len(x)).split(BATCH):
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(x.index_select(0, rows)), y.index_select(0, rows)).backward()
        adam.step()
    return time.perf_counter() - began, outputs(model, (test,))


def data_loader(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    """The idiom of the tutorials."""
    model = sequential()
    adam = torch.optim.Adam(model.parameters(), RATE)
    dataset = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True)
    began = time.perf_counter()
    for inputs, labels in loader:
        adam.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        adam.step()
    return time.perf_counter() - began, outputs(model, (test,))


def lightning(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    import lightning.pytorch as pl

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.network = sequential()

        def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
            return F.cross_entropy(self.network(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), RATE)

        def on_train_epoch_start(self) -> None:
            self.began = time.perf_counter()

        def on_train_epoch_end(self) -> None:
            self.seconds = time.perf_counter() - self.began

    module = Module()
    dataset = torch.utils.data.TensorDataset(x, y)
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, torch.utils.data.DataLoader(dataset, BATCH, shuffle=True))
    return module.seconds, outputs(module.network, (test,))


def skorch(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    from skorch import NeuralNetClassifier

    network = NeuralNetClassifier(
        sequential(),
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        lr=RATE,
        batch_size=BATCH,
        max_epochs=1,
        train_split=None,
        iterator_train__shuffle=True,
        verbose=0,
    ).initialize()
    began = time.perf_counter()
    network.partial_fit(x, y)
    return time.perf_counter() - began, outputs(network.module_, (test,))


def keras_on_torch(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    import keras

    class Watch(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
            self.began = time.perf_counter()

        def on_epoch_end(self, epoch: int, logs: object = None) -> None:
            self.seconds = time.perf_counter() - self.began

    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((784,)),
            layers.Dense(256, "relu"),
            layers.Dense(128, "relu"),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(RATE), loss)
    watch = Watch()
    model.fit(x.numpy(), y.numpy(), BATCH, epochs=1, verbose=0, callbacks=[watch])
    return watch.seconds, torch.as_tensor(model.predict(test.numpy(), verbose=0))


def scikit_learn(x: Tensor, y: Tensor, test: Tensor) -> tuple[float, Tensor]:
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((256, 128), alpha=0.0, batch_size=BATCH, max_iter=1)
    images, labels = x.numpy(), y.numpy()
    began = time.perf_counter()
    model.fit(images, labels)
    return time.perf_counter() - began, torch.as_tensor(model.predict_proba(test.numpy()))


CONTESTANTS: dict[str, Contestant] = {
    "chainrule": chainrule_engine,
    "hand-tuned PyTorch": hand_tuned,
    "PyTorch with DataLoader": data_loader,
    "skorch": skorch,
    "scikit-learn MLPClassifier": scikit_learn,
    "Keras on torch": keras_on_torch,
    "Lightning": lightning,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/speed/mnist_mlp.json"))
    options = parser.parse_args()
    data = mnist.load(validation=1)
    x = torch.cat([data.train.x, data.validation.x]).flatten(1)
    y = torch.cat([data.train.y, data.validation.y])
    test, labels = data.test.x.flatten(1), data.test.y
    seconds: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    errors: dict[str, float] = {}
    for number in range(options.rounds + 1):  # the first round warms up
        for name, contestant in CONTESTANTS.items():
            torch.manual_seed(number)
            took, output = contestant(x, y, test)
            errors[name] = (output.argmax(1) != labels).double().mean().item()
            if number:
                seconds[name].append(took)
            print(f"round {number}  {name:<28}{took:7.3f} s", file=sys.stderr)
    write(options.out, seconds, errors)


def write(path: Path, seconds: dict[str, list[float]], errors: dict[str, float]) -> None:
    """Best seconds of every contestant, and its ratio to ours."""
    best = {name: min(times) for name, times in seconds.items()}
    rows = [
        {
            "name": name,
            "seconds": round(value, 4),
            "ratio": round(value / best["chainrule"], 3),
            "test_error_after_one_epoch": round(errors[name], 4),
        }
        for name, value in sorted(best.items(), key=lambda pair: pair[1])
    ]
    result = {
        "benchmark": "one epoch of MNIST, 784-256-128-10, batch 128, Adam",
        "command": "python benchmarks/mnist_mlp.py",
        "date": str(date.today()),
        "rounds": len(seconds["chainrule"]),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
        "rows": rows,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    for row in rows:
        print(f"{row['name']:<28}{row['seconds']:7.3f} s{row['ratio']:7.2f} ×")


if __name__ == "__main__":
    main()
