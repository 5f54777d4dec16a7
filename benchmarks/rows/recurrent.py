"""Classifiers of sequences: LSTM and GRU of 128 units over 100 steps of 64 inputs, batch 64."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race, Work
from benchmarks.suite.synthetic import sequences

INPUTS = 64
KERNELS: dict[str, type[nn.RNNBase]] = {"LSTM": nn.LSTM, "GRU": nn.GRU}


class Plain(nn.Module):
    """torch's layer and an affine map of its last output."""

    def __init__(self, kind: str, units: int):
        super().__init__()
        self.layer = KERNELS[kind](INPUTS, units, batch_first=True)
        self.output = nn.Linear(units, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.layer(x)[0][:, -1])


def build(kind: str, count: int, learned: int, batch: int, length: int, units: int) -> Classifier:
    return Classifier(
        sequences(learned, length, INPUTS),
        count,
        ours(kind, units),
        lambda: Plain(kind, units),
        None,
        batch,
    )


def ours(kind: str, units: int) -> Callable[[], Any]:
    from chainrule.models import recurrent

    return lambda: recurrent.SequenceClassifier(getattr(recurrent, kind)(INPUTS, units), 10)


def work(kind: str, count: int, learned: int, batch: int, length: int, units: int) -> Work:
    """Four gates or three, forward and backward."""
    gates = 4 if kind == "LSTM" else 3
    weights = gates * units * (INPUTS + units)
    return Work(6.0 * weights * count * length, 4.0 * INPUTS * count * length, count, "sequences")


SIZES = {"count": 320, "learned": 640, "batch": 64, "length": 100, "units": 128}
ROW = Race(
    unit="320 sequences",
    contenders=classifiers.contenders(build, without=("Keras", "fastai")),
    cases={kind: {"kind": kind, **SIZES} for kind in KERNELS},
    tiny={"kind": "GRU", "count": 8, "learned": 8, "batch": 4, "length": 5, "units": 8},
    quality=Quality("cross-entropy of held sequences after 640, three seeds", 0.1, seeds=3),
    work=work,
)
