"""A small run of a table, which is served."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from chainrule.runs.run import Run


@pytest.fixture(scope="session")
def table_run(train_run: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("served")
    rows = [
        (a, c, "yes" if a + 20 * (c == "Oslo") > 50 else "no")
        for a in range(20, 80, 2)
        for c in ("Oslo", "Rome")
    ]
    lines = ["age,city,bought", *(",".join(map(str, row)) for row in rows)]
    (folder / "table.csv").write_text("\n".join(lines))
    return train_run(
        "mlp", folder / "run", table=str(folder / "table.csv"), target="bought", epochs=5
    )


@pytest.fixture(scope="session")
def text_run(train_run: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("texts")
    lines = [f"{'good fine' if k % 2 else 'bad poor'} film {k % 7},{k % 2}" for k in range(60)]
    (folder / "t.csv").write_text("\n".join(["text,label", *lines]))
    given = {"table": str(folder / "t.csv"), "text": "text", "target": "label"}
    return train_run("text-classifier", folder / "run", epochs=1, **given)


@pytest.fixture(scope="session")
def picture_run(train_run: Callable[..., Run], scenes: Path) -> Run:
    return train_run(
        "cnn", scenes / "classes", images=str(scenes / "by-class"), epochs=1, filters=(4,)
    )


@pytest.fixture(scope="session")
def mask_run(train_run: Callable[..., Run], scenes: Path) -> Run:
    given = {"images": str(scenes / "images"), "masks": str(scenes / "masks"), "size": 16}
    return train_run("unet", scenes / "run", epochs=1, base_channels=2, depth=1, **given)


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dark images with a bright square, their masks, and the same images in two classes."""
    folder, draw = tmp_path_factory.mktemp("scenes"), np.random.default_rng(0)
    for place in ("images", "masks", "by-class/a", "by-class/b"):
        (folder / place).mkdir(parents=True)
    for k in range(24):
        pixels = draw.integers(0, 60, (20, 24, 3), dtype=np.uint8)
        inside = np.zeros((20, 24), bool)
        inside[k % 8 : k % 8 + 9, k % 11 : k % 11 + 9] = True
        pixels[inside] += 180
        drawn = Image.fromarray(pixels)
        drawn.save(folder / "images" / f"{k}.png")
        drawn.save(folder / "by-class" / "ab"[k % 2] / f"{k}.png")
        Image.fromarray(np.where(inside, 255, 0).astype(np.uint8)).save(folder / f"masks/{k}.png")
    return folder
