"""`chainrule export RUN --format onnx`: a finished run for other programs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import out, print_json
from chainrule.runs.run import Run


@dataclass(frozen=True)
class Export:
    """What is written, and where."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    format: Literal["onnx", "torch-export", "state-dict", "hub"] = "onnx"
    """onnx: for ONNX Runtime and its like. torch-export: a program that torch.export.load reads.
    state-dict: plain weights as safetensors. hub: a folder that transformers reads (GPT, BERT and
    ViT)."""
    out: Path | None = None
    """Folder to write to (default: RUN/export/FORMAT)."""
    json: bool = False
    """Print one JSON object instead of sentences."""


def run(arguments: list[str]) -> int:
    options = parse(Export, arguments, "export", "Write a finished run for other programs.")
    from chainrule.runs.export import export

    found = export(Run.load(options.run), options.format, options.out)
    if options.json:
        print_json(
            {
                "files": [str(path) for path in found.files],
                "difference": found.difference,
                "rows": found.rows,
                "checked_on": found.origin,
            }
        )
        return 0
    for path in found.files:
        out.print(f"{path}  {path.stat().st_size / 1e6:,.2f} MB", soft_wrap=True)
    out.print(
        f"read back and run on {found.rows} {found.origin}: "
        f"largest difference {found.difference:.2g}"
    )
    return 0
