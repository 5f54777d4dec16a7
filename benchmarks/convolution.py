"""Seconds per epoch of two convolutional networks: this engine beside its peers.

    make bench

The network of `mnist-cnn` on MNIST and ResNet-20 on CIFAR-10, batch 128, with the recipes' own
augmentation, optimizer and schedule. All contestants take the same number of steps, in turns in
every round, so that a busy moment of the machine hits them alike; the best of the rounds counts.
Building, compiling and the first step are not timed. Keras decays all weights and follows a cosine
with one step of warm-up, which changes no step's cost; this engine keeps freed memory and flushes
denormals, as it always does, and the peers run with glibc's largest thresholds. An
epoch is extrapolated from the steps taken.
Peers get this library's batched augmentation, which is quicker than the usual one, image by image.

The share of the peak is 3 · 2 · multiply-adds · batch / seconds of a step (a backward pass costs
two forward ones), by the rate of the best product of two square matrices in the same rounds.
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from chainrule.data.splits import Splits  # noqa: E402
from chainrule.nn.profile import profile  # noqa: E402
from chainrule.recipes.convolution import cifar10_resnet20, mnist_cnn  # noqa: E402
from chainrule.runs.recipe import BaseRecipe, DataSummary  # noqa: E402
from chainrule.training import iterate  # noqa: E402

BATCH = 128
SIDE = 2048  # of the matrices whose product is the peak


class Block(nn.Module):
    """A residual block as PyTorch's examples write it, with the shortcut without parameters."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.stride, self.new = stride, outputs - inputs

    def forward(self, x: Tensor) -> Tensor:
        f = self.body(x)
        if self.new:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.new))
        return F.relu(f + x, inplace=True)


def plain_cnn() -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, width in pairwise((1, *mnist_cnn.Recipe().filters)):
        for channels in (inputs, width):
            layers += [nn.Conv2d(channels, width, 3, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(2), nn.Dropout(mnist_cnn.Recipe().dropout)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(9 * width, 10))


def plain_resnet() -> nn.Module:
    mean, spread = (torch.tensor(v).view(3, 1, 1) for v in cifar_statistics())
    layers: list[nn.Module] = [Standardize(mean, spread)]
    layers += [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    for inputs, width in pairwise((16, 16, 32, 64)):
        layers.append(Block(inputs, width, width // inputs))
        layers += [Block(width, width, 1) for _ in range(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Standardize(nn.Module):
    mean: Tensor
    spread: Tensor

    def __init__(self, mean: Tensor, spread: Tensor):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.spread


def cifar_statistics() -> tuple[tuple[float, ...], tuple[float, ...]]:
    from chainrule.data.datasets import cifar10

    return cifar10.MEAN, cifar10.SPREAD


def keras_cnn() -> Any:
    from keras import Sequential, layers

    stack: list[Any] = [layers.Input((28, 28, 1))]
    for width in mnist_cnn.Recipe().filters:
        for _ in range(2):
            stack += [layers.Conv2D(width, 3, padding="same", use_bias=False)]
            stack += [layers.BatchNormalization(), layers.ReLU()]
        stack += [layers.MaxPooling2D(), layers.Dropout(mnist_cnn.Recipe().dropout)]
    return Sequential([*stack, layers.Flatten(), layers.Dense(10)])


def keras_resnet() -> Any:
    from keras import Model, layers, ops

    def convolved(h: Any, width: int, stride: int = 1) -> Any:
        h = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(h)
        return layers.BatchNormalization()(h)

    mean, spread = cifar_statistics()
    x = layers.Input((32, 32, 3))
    h = layers.ReLU()(convolved(layers.Normalization(mean=mean, variance=square(spread))(x), 16))
    for inputs, width in pairwise((16, 16, 32, 64)):
        for number in range(3):
            stride = width // inputs if number == 0 else 1
            f = convolved(layers.ReLU()(convolved(h, width, stride)), width)
            if stride > 1:
                h = ops.pad(h[:, ::stride, ::stride], [(0, 0)] * 3 + [(0, width - inputs)])
            h = layers.ReLU()(layers.Add()([f, h]))
    return Model(x, layers.Dense(10)(layers.GlobalAveragePooling2D()(h)))


def square(values: tuple[float, ...]) -> list[float]:
    return [value**2 for value in values]


@dataclass(frozen=True)
class Work:
    """One network and its data: enough images for the steps, and how many make an epoch."""

    name: str
    recipe: BaseRecipe
    data: Splits
    steps: int
    plain: Callable[[], nn.Module]
    keras: Callable[[], Any]

    @property
    def x(self) -> Tensor:
        return self.data.train.x[: self.steps * BATCH]

    @property
    def y(self) -> Tensor:
        return self.data.train.y[: self.steps * BATCH]

    @property
    def summary(self) -> DataSummary:
        return self.recipe.summarize(self.data)

    def augment(self, images: Tensor) -> Tensor:
        augment = self.recipe.augmentation()
        assert augment is not None
        return augment(images)

    def optimizer(self, model: nn.Module, fused: bool) -> torch.optim.Optimizer:
        """Only kernels and matrices decay, as in the recipe."""
        r, weights = self.recipe.settings, list(model.parameters())
        groups = [
            {"params": [p for p in weights if p.ndim > 1], "weight_decay": r.weight_decay},
            {"params": [p for p in weights if p.ndim <= 1], "weight_decay": 0.0},
        ]
        if r.optimizer == "adamw":
            return torch.optim.AdamW(groups, r.learning_rate, fused=fused)
        return torch.optim.SGD(groups, r.learning_rate, momentum=0.9, nesterov=True, fused=fused)


def chainrule_engine(work: Work, compile: bool = False) -> float:
    recipe = work.recipe.changed(epochs=1, batch_size=BATCH, compile=compile)
    model = recipe.model(work.summary)
    steps = iterate(
        model,
        recipe.source((work.x, work.y)),
        task=recipe.task(work.data),
        settings=recipe.settings,
    )
    seen = [(now.step, time.perf_counter()) for now in steps if not now.record]
    (first, began), (last, ended) = seen[0], seen[-1]  # the reports of the first and last steps
    return (ended - began) / (last - first)


def hand_tuned(work: Work, compile: bool = False) -> float:
    """Tensors in memory, rows gathered by a permutation, channels-last, a fused optimizer."""
    model = work.plain().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    rows = torch.randperm(len(work.x)).split(BATCH)
    batches = ((work.x.index_select(0, part), work.y.index_select(0, part)) for part in rows)
    return loop(work, model, torch.compile(model) if compile else model, batches, fused=True)


def data_loader(work: Work) -> float:
    """The idiom of the tutorials."""
    dataset = torch.utils.data.TensorDataset(work.x, work.y)
    model = work.plain()
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True)
    return loop(work, model, model, iter(loader), fused=False)


def loop(
    work: Work,
    model: nn.Module,
    forward: Callable[[Tensor], Tensor],
    batches: Iterator[Any],
    fused: bool,
) -> float:
    """Seconds of a step, the first one left out."""
    optimizer = work.optimizer(model.train(), fused)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, work.recipe.settings.learning_rate, total_steps=work.steps, cycle_momentum=False
    )
    began = 0.0
    for images, labels in batches:
        images = work.augment(images)
        if fused:
            images = images.contiguous(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(forward(images), labels).backward()
        optimizer.step()
        rate.step()
        began = began or time.perf_counter()
    return (time.perf_counter() - began) / (work.steps - 1)


def keras_on_torch(work: Work) -> float:
    import keras

    class Batches(keras.utils.PyDataset):
        """Augmented batches, channels last, as Keras likes them."""

        def __init__(self) -> None:
            super().__init__()
            self.rows = torch.randperm(len(work.x)).split(BATCH)

        def __len__(self) -> int:
            return len(self.rows)

        def __getitem__(self, number: int) -> tuple[Any, Any]:
            rows = self.rows[number]
            images = work.augment(work.x.index_select(0, rows)).permute(0, 2, 3, 1)
            return images.contiguous().numpy(), work.y.index_select(0, rows).numpy()

    class Watch(keras.callbacks.Callback):
        began = ended = 0.0

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            self.ended = time.perf_counter()
            self.began = self.began or self.ended

    r, watch = work.recipe.settings, Watch()
    rate = keras.optimizers.schedules.CosineDecay(
        r.learning_rate / 25, work.steps, warmup_target=r.learning_rate, warmup_steps=1
    )
    adam = r.optimizer == "adamw"
    optimizer = (
        keras.optimizers.AdamW(rate, weight_decay=r.weight_decay)
        if adam
        else keras.optimizers.SGD(rate, 0.9, nesterov=True, weight_decay=r.weight_decay)
    )
    model = work.keras()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(Batches(), epochs=1, verbose=0, shuffle=False, callbacks=[watch])
    return (watch.ended - watch.began) / (work.steps - 1)


CONTESTANTS: dict[str, Callable[[Work], float]] = {
    "chainrule": chainrule_engine,
    "hand-tuned PyTorch": hand_tuned,
    "PyTorch with DataLoader": data_loader,
    "Keras on torch": keras_on_torch,
}
COMPILED: dict[str, Callable[[Work], float]] = {
    "chainrule, compiled": lambda work: chainrule_engine(work, compile=True),
    "hand-tuned PyTorch, compiled": lambda work: hand_tuned(work, compile=True),
}


def product_rate(repeats: int = 5) -> float:
    """Operations per second of a product of two square matrices, the best of some."""
    a, b = torch.rand(2, SIDE, SIDE)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - began)
    return 2 * SIDE**3 / best


def works(steps: int) -> list[Work]:
    cnn, resnet = mnist_cnn.Recipe(), cifar10_resnet20.Recipe()
    return [
        Work("the CNN of mnist-cnn on MNIST", cnn, cnn.data(None), steps, plain_cnn, keras_cnn),
        Work("ResNet-20 on CIFAR-10", resnet, resnet.data(None), steps, plain_resnet, keras_resnet),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=40, help="steps of each contestant in a round")
    parser.add_argument("--compile", action="store_true", help="compiled contestants, too")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/speed/convolution.json"))
    options = parser.parse_args()
    contestants = CONTESTANTS | (COMPILED if options.compile else {})
    peak, tables = 0.0, []
    for work in works(options.steps):
        agree(work)
        best = dict.fromkeys(contestants, float("inf"))
        for number in range(options.rounds + 1):  # the first round warms up
            peak = max(peak, product_rate())
            for name, contestant in contestants.items():
                torch.manual_seed(number)
                took = contestant(work)
                if number:
                    best[name] = min(best[name], took)
                print(f"round {number}  {name:<30}{1000 * took:8.1f} ms", file=sys.stderr)
        tables.append((work, best))
    result = {
        "benchmark": "seconds per epoch, batch 128, extrapolated from the steps of each round",
        "command": f"python benchmarks/convolution.py{' --compile' * options.compile}",
        "date": str(date.today()),
        "rounds": options.rounds,
        "steps": options.steps,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "peak_gflops": round(peak / 1e9, 1),
        "networks": [table(work, best, peak) for work, best in tables],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def agree(work: Work) -> None:
    """All contestants train the same number of weights."""
    learned = [
        sum(p.numel() for p in model.parameters())
        for model in (work.recipe.model(work.summary), work.plain())
    ]
    learned.append(sum(int(w.value.numel()) for w in work.keras().trainable_weights))
    if len(set(learned)) > 1:
        sys.exit(f"{work.name}: the contestants' networks differ, {learned} parameters")


def table(work: Work, best: dict[str, float], peak: float) -> dict[str, Any]:
    """Seconds per epoch of every contestant, its ratio to ours, and its share of the peak."""
    costs = profile(work.recipe.model(work.summary), work.x[:2])
    multiply_adds = sum(layer.multiply_adds for layer in costs)
    epoch = -(-len(work.data.train.x) // BATCH)
    rows = []
    for name, step in sorted(best.items(), key=lambda pair: pair[1]):
        row = {
            "name": name,
            "seconds": round(step * epoch, 2),
            "step_ms": round(1000 * step, 1),
            "ratio": round(step / best["chainrule"], 3),
            "share_of_peak": round(3 * 2 * multiply_adds * BATCH / step / peak, 3),
        }
        rows.append(row)
        print(f"{work.name}: {name:<30}{row['seconds']:8.1f} s{row['ratio']:7.2f} ×")
    return {"name": work.name, "multiply_adds": multiply_adds, "epoch_steps": epoch, "rows": rows}


if __name__ == "__main__":
    main()
