"""ONNX, by the exporter of torch.export; run and checked by ONNX Runtime."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from chainrule.errors import InputError
from chainrule.runs.export.description import describe
from chainrule.runs.export.interface import Interface
from chainrule.runs.export.program import dynamic, exporting
from chainrule.training.files import writing

FILE = "model.onnx"
NEEDED = ("onnx", "onnxscript", "onnxruntime")


def write(given: Interface, folder: Path) -> float:
    """Write model.onnx and its description; the largest difference in ONNX Runtime."""
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("ONNX needs further packages: pip install 'chainrule[export]'")
    with exporting(given.run.name), torch.no_grad():
        found = torch.onnx.export(
            given.network,
            (given.x,),
            dynamo=True,
            dynamic_shapes=dynamic(given),
            input_names=["input"],
            output_names=["output"],
            verbose=False,
        )
    assert found is not None
    found.model.metadata_props["chainrule"] = json.dumps(given.describe())
    with writing(folder / FILE):
        found.save(str(folder / FILE))
    describe(given, folder)
    return compare(given, folder / FILE)


def compare(given: Interface, path: Path) -> float:
    """The largest difference of ONNX Runtime's outputs, for one row and for all."""
    session = open_session(path)
    x, halves = given.x.numpy(), (slice(0, 1), slice(0, None))
    return max(
        given.difference(torch.from_numpy(session.run(None, {"input": x[rows]})[0]), rows)
        for rows in halves
    )


def open_session(path: Path) -> Any:
    """ONNX Runtime with as many threads as torch has."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
