"""Splits at a glance: as text for a terminal, as a table with sample images for a notebook."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from chainrule.data.splits import Split, Splits

PARTS = ("train", "validation", "test")
MAX_CLASSES = 20  # names in a summary
MAX_IMAGES = 10
MIN_SIDE = 56  # pixels on the screen; smaller images are enlarged by a whole factor


def shape(values: Tensor) -> str:
    """`(1200, 1, 8, 8) float32`."""
    return f"{tuple(values.shape)} {str(values.dtype).removeprefix('torch.')}"


def target_summary(classes: Sequence[str]) -> str:
    """The number and the first names of the classes, or `regression` where there are none."""
    if not classes:
        return "regression"
    shown = ", ".join(classes[:MAX_CLASSES]) + ", …" * (len(classes) > MAX_CLASSES)
    return f"{len(classes):,} classes: {shown}"


def splits_text(data: "Splits") -> str:
    """One line per split, then the classes and the notes."""
    lines = [f"{part}: {getattr(data, part)!r}" for part in PARTS]
    lines += [target_summary(data.classes), *(f"note: {note}" for note in data.remarks)]
    return "\n  ".join([type(data).__name__, *lines])


def splits_html(data: "Splits") -> str:
    """A table with one row per split; beneath it the classes, the notes and a few images."""
    rows = []
    for part in PARTS:
        split = getattr(data, part)
        present = f"{len(split.y.unique()):,}" if data.classes else "–"
        rows.append((part, *_cells(split), present))
    lines = (target_summary(data.classes), *data.remarks)
    below = "".join(f"<div>{escape(line)}</div>" for line in lines)
    header = ("split", "examples", "x", "y", "classes present")
    return _table(header, rows) + below + sample_images(data.train.x)


def split_html(split: "Split") -> str:
    """A table with one row, and a few images."""
    return _table(("examples", "x", "y"), [_cells(split)]) + sample_images(split.x)


def sample_images(x: Tensor) -> str:
    """The first images in one row as an HTML element; empty where x holds no images."""
    if (
        x.ndim != 4
        or x.shape[1] not in (1, 3)
        or x.dtype not in (torch.float32, torch.uint8)
        or not len(x)
    ):
        return ""
    from PIL import Image

    shown = x[:MAX_IMAGES].detach().cpu()
    shown = shown / 255 if shown.dtype == torch.uint8 else shown.clamp(0, 1)
    spaced = torch.nn.functional.pad(shown, (0, 1), value=1.0)
    strip = torch.cat(list(spaced), dim=2).expand(3, -1, -1)
    pixels = (255 * strip).round().to(torch.uint8).permute(1, 2, 0)
    factor = -(-MIN_SIDE // shown.shape[2])
    enlarged = pixels.repeat_interleave(factor, 0).repeat_interleave(factor, 1)
    stream = BytesIO()
    Image.fromarray(enlarged.numpy()).save(stream, "PNG")
    source = f"data:image/png;base64,{b64encode(stream.getvalue()).decode('ascii')}"
    return f'<img alt="first images" src="{source}">'


def _cells(split: "Split") -> tuple[str, str, str]:
    return f"{len(split.y):,}", shape(split.x), shape(split.y)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>"
