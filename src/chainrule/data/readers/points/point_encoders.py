"""Encoders of a user's point clouds: meshes, lists of points, and drawings."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.images.pixels import MAX_SIDE
from chainrule.data.readers.points.off import Mesh, read_off, sample
from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.data.state import FLAG, fields, number, whole
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError

MAX_POINTS, MAX_CELLS = 100_000, 1_024  # of a cloud, and along a side of the cube
SEED = 0  # a constant: the same file always gives the same points
OVERSAMPLING = 30  # mesh points per point of a voxel cloud
IMAGES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True)
class PointEncoder:
    """An OFF mesh, or a text file with the coordinates of one point per line, as one cloud.

    The cloud is translated and scaled into the cube [-1, 1]³, its longest side from -1 to 1.

    points: number of points, sampled on the faces of a mesh uniformly by area; a list of more
        points is subsampled.
    cells: voxels along each side of the cube; points are snapped to voxel centers, one per voxel,
        as in training clouds made of voxels. 0 keeps the points where they are.
    normals: whether points carry normals; a text file then has six numbers per line.
    """

    points: int
    cells: int = 0
    normals: bool = False

    def encode_file(self, path: str | Path) -> Tensor:
        text = read_text(path)
        generator = np.random.default_rng(SEED)
        with errors_naming(path):
            if Path(path).suffix.lower() == ".off":
                number = self.points * (OVERSAMPLING if self.cells else 1)
                rows = mesh_points(text, number, generator)[:, : 6 if self.normals else 3]
            else:
                rows = read_points(text, 6 if self.normals else 3)
                rows[:, :3] = normalize_to_cube(rows[:, :3])
        if self.cells:
            rows = snap_to_voxels(rows, self.cells)
        return torch.from_numpy(subsample(rows, self.points, generator))[None]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "points", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "PointEncoder":
        kinds = {"points": whole(1, MAX_POINTS), "cells": whole(0, MAX_CELLS), "normals": FLAG}
        return cls(**fields(state, "the encoder of points", **kinds))


@dataclass(frozen=True)
class DrawingEncoder:
    """A drawing (PNG or JPEG), or a text file with x and y of one point per line, as one cloud.

    points: number of points.
    size, margin: of the image that an `ImageEncoder` makes of a drawing; the points of a text file
        are scaled to the same margin.
    """

    points: int
    size: int
    margin: float

    def encode_file(self, path: str | Path) -> Tensor:
        generator = np.random.default_rng(SEED)
        if Path(path).suffix.lower() in IMAGES:
            image = ImageEncoder(self.size, margin=self.margin).encode_file(path)[0, 0].numpy()
            return torch.from_numpy(ink_points(image, self.points, generator))[None]
        text = read_text(path)
        with errors_naming(path):
            rows = (1 - 2 * self.margin) * normalize_to_cube(read_points(text, 2))
        return torch.from_numpy(subsample(rows, self.points, generator))[None]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "drawing", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "DrawingEncoder":
        kinds = {"points": whole(1, MAX_POINTS), "size": whole(1, MAX_SIDE)}
        return cls(**fields(state, "the encoder of drawings", margin=number(0.0, 0.5), **kinds))


def ink_points(
    image: Float[np.ndarray, "side side"], number: int, generator: np.random.Generator
) -> Float[np.ndarray, "number 2"]:
    """Centers of `number` pixels brighter than ½ in [-1, 1]², x to the right and y up."""
    side = len(image)
    row, column = np.nonzero(image > min(0.5, image.max() / 2))
    found = np.stack([column + 0.5 - side / 2, side / 2 - row - 0.5], axis=1) / (side / 2)
    return resample(found.astype(np.float32), number, generator)


def mesh_points(
    text: str, number: int, generator: np.random.Generator
) -> Float[np.ndarray, "number 6"]:
    """Positions in [-1, 1]³ and normals of points on the faces of an OFF mesh."""
    mesh = read_off(text)
    corners = mesh.vertices[np.unique(mesh.triangles)]
    scaled = Mesh(normalize_to_cube(mesh.vertices, corners), mesh.triangles)
    return np.concatenate(sample(scaled, number, generator), axis=1)


def normalize_to_cube(
    points: Float[np.ndarray, "n d"], among: Float[np.ndarray, "m d"] | None = None
) -> Float[np.ndarray, "n d"]:
    """Points translated and scaled: bounding box centered at 0, longest side from -1 to 1.

    among: the points whose bounding box is taken, if not all.
    """
    boxed = points if among is None else among
    low, high = boxed.min(0), boxed.max(0)
    longest = (high - low).max()
    if not longest > 0:
        raise InputError("expected at least two different points")
    return (2 * points - low - high) / longest


def snap_to_voxels(rows: Float[np.ndarray, "n k"], cells: int) -> Float[np.ndarray, "m k"]:
    """One point per occupied voxel of [-1, 1]³, at its center."""
    cell = np.floor((rows[:, :3] + 1) * cells / 2).clip(0, cells - 1).astype(np.int64)
    cell, first = np.unique(cell, axis=0, return_index=True)
    middle = ((2 * cell + 1) / cells - 1).astype(np.float32)
    return np.concatenate([middle, rows[first, 3:]], axis=1)


def subsample(
    rows: Float[np.ndarray, "n k"], number: int, generator: np.random.Generator
) -> Float[np.ndarray, "m k"]:
    """At most `number` of the rows, chosen at random."""
    if len(rows) <= number:
        return rows
    return rows[generator.choice(len(rows), number, replace=False)]


def resample(
    rows: Shaped[np.ndarray, "n k"], number: int, generator: np.random.Generator
) -> Shaped[np.ndarray, "number k"]:
    """`number` rows in random order; rows repeat only if there are too few."""
    order = generator.permutation(len(rows))
    extra = generator.choice(order, max(0, number - len(order)))
    return rows[np.concatenate([order, extra])[:number]]


def read_points(text: str, columns: int) -> Float[np.ndarray, "n columns"]:
    """One point per line, numbers separated by spaces or commas; # starts a comment."""
    lines = [line.split("#", 1)[0].replace(",", " ").split() for line in text.splitlines()]
    words = [line for line in lines if line]
    names = " ".join(("x", "y", "z")[: min(3, columns)]) + " and a normal" * (columns > 3)
    try:
        rows = np.array(words, dtype=np.float64).reshape(-1, columns)
    except ValueError:
        raise InputError(f"expected {columns} numbers ({names}) per line") from None
    if len(words) < 2 or len(words[0]) != columns or not (abs(rows) <= LARGEST).all():
        raise InputError(f"expected two points or more, {columns} finite numbers ({names}) each")
    return rows.astype(np.float32)
