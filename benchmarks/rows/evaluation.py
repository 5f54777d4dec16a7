"""Predictions for a data set: the MLP 784-256-128-10 and ResNet-20, beside ONNX Runtime."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.rows import mlp, resnet20
from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import take_onednn, tuned

SHAPES = {"MLP": (784,), "ResNet-20": (3, 32, 32)}
BATCH = 256


def model_and_data(kind: str, count: int) -> tuple[nn.Module, nn.Module, Tensor]:
    """Ours and PyTorch's network with the same weights."""
    from benchmarks.suite.tuning import alike

    torch.manual_seed(0)
    x = torch.randn(count, *SHAPES[kind])
    row: Any = {"MLP": mlp, "ResNet-20": resnet20}[kind]
    plain = row.plain()
    return alike(row.ours(), plain).eval(), plain.eval(), x


def figure(output: Any) -> float:
    """The mean of the outputs' squares."""
    return float(torch.as_tensor(output).double().square().mean())


def chainrule(kind: str, count: int) -> Ready:
    from chainrule.training import predict

    model, _, x = model_and_data(kind, count)
    return Ready(lambda: predict(model, x) is None, lambda _: figure(predict(model, x)))


def hand_tuned(kind: str, count: int) -> Ready:
    """Batches under inference_mode, images with channels last."""
    tuned()
    _, model, x = model_and_data(kind, count)
    if x.ndim == 4:
        model = model.to(memory_format=torch.channels_last)

    def outputs() -> Tensor:
        with torch.inference_mode():
            return torch.cat([model(part) for part in x.split(BATCH)])

    return Ready(lambda: outputs() is None, lambda _: figure(outputs()))


def onednn(kind: str, count: int) -> Ready:
    """The same with the switch that gives oneDNN the float32 products."""
    take_onednn()
    return hand_tuned(kind, count)


def onnx_runtime(kind: str, count: int) -> Ready:
    """The network as ONNX, in batches."""
    import os

    import onnxruntime

    _, model, x = model_and_data(kind, count)
    path = Path(tempfile.mkdtemp()) / "model.onnx"
    torch.onnx.export(
        model,
        (x[:2],),
        path,
        dynamo=True,
        verbose=False,
        dynamic_shapes=({0: torch.export.Dim("batch")},),
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name, values = session.get_inputs()[0].name, x.numpy()

    def outputs() -> np.ndarray:
        parts = np.array_split(values, max(1, -(-count // BATCH)))
        return np.concatenate([session.run(None, {name: part})[0] for part in parts])

    return Ready(lambda: outputs() is None, lambda _: figure(outputs()))


def work(kind: str, count: int) -> Work:
    from torch.utils.flop_counter import FlopCounterMode

    _, model, x = model_and_data(kind, 1)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    return Work(counter.get_total_flops() * count, 4.0 * x.numel() * count, count, "examples")


ROW = Race(
    unit="all examples",
    contenders={
        "chainrule": Contender(chainrule),
        "hand-tuned PyTorch": Contender(hand_tuned),
        "hand-tuned, oneDNN": Contender(onednn),
        "ONNX Runtime": Contender(onnx_runtime, ("onnxruntime", "onnxscript")),
    },
    cases={
        "MLP, 60,000 examples": {"kind": "MLP", "count": 60_000},
        "ResNet-20, 1,000 images": {"kind": "ResNet-20", "count": 1000},
    },
    tiny={"kind": "MLP", "count": 8},
    quality=Quality("mean square of the outputs", 1e-3),
    work=work,
)
