"""Readers of a user's own point clouds: meshes, lists of points, and drawings."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.off import Mesh, read_off, sample
from chainrule.errors import InputError

SEED = 0  # a constant: the same file always gives the same points
DENSELY = 30  # points drawn on a mesh for each one kept where they are moved into cells
PICTURES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True)
class PointEncoder:
    """An OFF mesh, or a text file with the coordinates of a point in every line, as one cloud.

    It is moved and scaled into the cube [-1, 1]³, its longest side from -1 to 1. A mesh gives
    `points` points on its faces, uniform by area; of a list with more points as many are drawn.
    cells: each point is moved to the middle of its cell, so many to a side, and counted once, as
        where the training clouds are voxels; 0 leaves points where they are.
    normals: a mesh's points carry the normal of their face, a list has six numbers in every line.
    """

    points: int
    cells: int = 0
    normals: bool = False

    def encode_file(self, path: str | Path) -> Tensor:
        text = read_text(path)
        generator = np.random.default_rng(SEED)
        try:
            if Path(path).suffix.lower() == ".off":
                number = self.points * (DENSELY if self.cells else 1)
                rows = mesh_points(text, number, generator)[:, : 6 if self.normals else 3]
            else:
                rows = read_points(text, 6 if self.normals else 3)
                rows[:, :3] = normalized(rows[:, :3])
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if self.cells:
            rows = in_cells(rows, self.cells)
        return torch.from_numpy(chosen(rows, self.points, generator))[None]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "points", **asdict(self)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "PointEncoder":
        return cls(state["points"], state["cells"], state["normals"])


@dataclass(frozen=True)
class InkEncoder:
    """A drawing (PNG or JPEG), or a text file with x and y of a point in every line, as one cloud.

    size and margin: of the picture that the drawing becomes first, as an ImageEncoder makes it.
    Points of a list are moved and scaled into the frame, its margin left free.
    """

    points: int
    size: int
    margin: float

    def encode_file(self, path: str | Path) -> Tensor:
        generator = np.random.default_rng(SEED)
        if Path(path).suffix.lower() in PICTURES:
            image = ImageEncoder(self.size, margin=self.margin).encode_file(path)[0, 0].numpy()
            return torch.from_numpy(ink_points(image, self.points, generator))[None]
        try:
            rows = (1 - 2 * self.margin) * normalized(read_points(read_text(path), 2))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return torch.from_numpy(chosen(rows, self.points, generator))[None]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "ink", **asdict(self)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "InkEncoder":
        return cls(state["points"], state["size"], state["margin"])


def ink_points(
    image: Float[np.ndarray, "side side"], number: int, generator: np.random.Generator
) -> Float[np.ndarray, "number 2"]:
    """Middles of so many pixels brighter than ½, x to the right and y up, in [-1, 1]²."""
    side = len(image)
    row, column = np.nonzero(image > min(0.5, image.max() / 2))
    found = np.stack([column + 0.5 - side / 2, side / 2 - row - 0.5], axis=1) / (side / 2)
    return repeated(found.astype(np.float32), number, generator)


def mesh_points(
    text: str, number: int, generator: np.random.Generator
) -> Float[np.ndarray, "number 6"]:
    """Places in [-1, 1]³ and normals of points on the faces of an OFF mesh."""
    mesh = read_off(text)
    corners = mesh.vertices[np.unique(mesh.triangles)]
    scaled = Mesh(normalized(mesh.vertices, corners), mesh.triangles)
    return np.concatenate(sample(scaled, number, generator), axis=1)


def normalized(
    points: Float[np.ndarray, "n d"], among: Float[np.ndarray, "m d"] | None = None
) -> Float[np.ndarray, "n d"]:
    """Moved and scaled so that the bounding box is about 0 and its longest side from -1 to 1.

    among: the points whose box it is, if not of all.
    """
    boxed = points if among is None else among
    low, high = boxed.min(0), boxed.max(0)
    longest = (high - low).max()
    if not longest > 0:
        raise InputError("expected points at two places or more, got one place")
    return (2 * points - low - high) / longest


def in_cells(rows: Float[np.ndarray, "n k"], cells: int) -> Float[np.ndarray, "m k"]:
    """Each point in the middle of its cell of [-1, 1]³, one point per cell."""
    cell = np.floor((rows[:, :3] + 1) * cells / 2).clip(0, cells - 1).astype(np.int64)
    cell, first = np.unique(cell, axis=0, return_index=True)
    middle = ((2 * cell + 1) / cells - 1).astype(np.float32)
    return np.concatenate([middle, rows[first, 3:]], axis=1)


def chosen(
    rows: Float[np.ndarray, "n k"], number: int, generator: np.random.Generator
) -> Float[np.ndarray, "m k"]:
    """All rows, or `number` of them where there are more."""
    if len(rows) <= number:
        return rows
    return rows[generator.choice(len(rows), number, replace=False)]


def repeated(
    rows: Shaped[np.ndarray, "n k"], number: int, generator: np.random.Generator
) -> Shaped[np.ndarray, "number k"]:
    """`number` rows in random order: none twice where there are enough, else all of them first."""
    order = generator.permutation(len(rows))
    extra = generator.choice(order, max(0, number - len(order)))
    return rows[np.concatenate([order, extra])[:number]]


def read_text(path: str | Path) -> str:
    try:
        return Path(path).read_text("utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text: {error}") from None


def read_points(text: str, columns: int) -> Float[np.ndarray, "n columns"]:
    """One point in every line, its numbers apart by blanks or commas; # starts a comment."""
    lines = [line.split("#", 1)[0].replace(",", " ").split() for line in text.splitlines()]
    words = [line for line in lines if line]
    names = " ".join(("x", "y", "z")[: min(3, columns)]) + " and a normal" * (columns > 3)
    try:
        rows = np.array(words, dtype=np.float32).reshape(-1, columns)
    except ValueError:
        raise InputError(f"expected {columns} numbers ({names}) in every line") from None
    if len(words) < 2 or len(words[0]) != columns or not np.isfinite(rows).all():
        raise InputError(f"expected two points or more, {columns} finite numbers ({names}) each")
    return rows
