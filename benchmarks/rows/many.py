"""Networks trained at once, 20-32-32-2 on 1,600 rows, beside one after another."""

import time
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import alike, batches, count, endless, tuned

ROWS, BATCH, HELD, RATE = 1600, 64, 1000, 1e-3


def data(inputs: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Whether two of the columns have the same sign."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS + HELD, inputs, generator=generator)
    y = (x[:, 0] * x[:, 1] > 0).long()
    return x[:ROWS], y[:ROWS], x[ROWS:], y[ROWS:]


def plain(sizes: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n, m in pairwise(sizes):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def together(members: int, epochs: int, sizes: tuple[int, ...]) -> Ready:
    """fit_many: one batched program."""
    from chainrule.models.feedforward.mlp import MLP
    from chainrule.training import Settings, fit_many, outputs

    x, y, held, labels = data(sizes[0])

    def network() -> nn.Module:
        return alike(MLP(sizes[0], sizes[1:-1], sizes[-1]), plain(sizes))

    def train(number: int, epochs: int, seed: int = 0) -> list[nn.Module]:
        settings = [
            Settings(seed=seed + k, epochs=epochs, batch_size=BATCH, learning_rate=RATE)
            for k in range(number)
        ]
        models = [network() for _ in settings]
        fit_many(models, (x, y), None, settings)
        return models

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        models = train(QUALITY_MEMBERS, QUALITY_EPOCHS, seed)
        return mean_error([outputs(model, (held,)) for model in models], labels)

    return Ready(
        lambda: train(members, epochs) is None,
        quality,
        count(network()),
    )


QUALITY_MEMBERS, QUALITY_EPOCHS = 8, 20


def mean_error(outputs: list[Tensor], labels: Tensor) -> float:
    errors = [(output.argmax(1) != labels).double().mean() for output in outputs]
    return torch.stack(errors).mean().item()


def one_by_one(members: int, epochs: int, sizes: tuple[int, ...]) -> Ready:
    """Hand-tuned PyTorch; of many members an eighth is trained, and the time multiplied."""
    tuned()
    x, y, held, labels = data(sizes[0])

    def start() -> tuple[nn.Module, torch.optim.Optimizer]:
        model = plain(sizes)
        return model, torch.optim.Adam(model.parameters(), RATE, fused=True)

    def step(model: nn.Module, adam: torch.optim.Optimizer, batch: tuple[Tensor, Tensor]) -> None:
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(batch[0]), batch[1]).backward()
        adam.step()

    model, adam = start()
    stream = endless(x, y, BATCH)

    def train(number: int, epochs: int) -> list[nn.Module]:
        models = []
        for _ in range(number):
            model, adam = start()
            for _ in range(epochs):
                for batch in batches(x, y, BATCH):
                    step(model, adam, batch)
            models.append(model)
        return models

    def unit() -> float:
        number = max(1, members // 8) if members > 16 else members
        began = time.perf_counter()
        train(number, epochs)
        return (time.perf_counter() - began) * members / number

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        models = train(QUALITY_MEMBERS, QUALITY_EPOCHS)
        with torch.no_grad():
            return mean_error([model(held) for model in models], labels)

    return Ready(unit, quality, count(model), lambda: step(model, adam, next(stream)))


def work(members: int, epochs: int, sizes: tuple[int, ...]) -> Work:
    weights = sum(n * m for n, m in pairwise(sizes))
    return Work(6.0 * weights * ROWS * epochs * members, 0.0, members, "networks")


SIZES = (20, 32, 32, 2)
ROW = Race(
    unit="an epoch of all of them",
    contenders={
        "chainrule": Contender(together),
        "hand-tuned PyTorch": Contender(one_by_one),
    },
    cases={
        f"{members} networks": {"members": members, "epochs": 1, "sizes": SIZES}
        for members in (10, 64, 1000)
    },
    tiny={"members": 2, "epochs": 1, "sizes": (20, 4, 2)},
    quality=Quality("test error after 20 epochs, mean of 8 members", 0.03, absolute=True),
    work=work,
)
