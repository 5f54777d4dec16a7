"""One file as one cloud of points: OFF and PLY meshes, PLY points, .npy arrays, lists of points.

    .off, .ply with faces       points on the faces, uniform by area, with the normals of the faces
    .ply, .npy                  a point for each vertex or row
    .xyz, .pts, .txt, .csv      a point per line, numbers separated by spaces, commas or semicolons

A point has x, y and z, or x and y; further numbers are its normal, or are left out.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from chainrule.data.files import errors_naming, read_bytes
from chainrule.data.readers.npy import npy_array
from chainrule.data.readers.points.off import Mesh, read_off, sample
from chainrule.data.readers.points.ply import read_ply
from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError

SUFFIXES = (".off", ".ply", ".npy", ".xyz", ".pts", ".txt", ".csv")
MAX_BYTES = 2**28
FEWEST = 2

Rows = Float[np.ndarray, "n columns"]


def cloud_rows(path: str | Path, number: int, generator: np.random.Generator) -> Rows:
    """The points of a file with all their numbers; of a mesh `number` points with normals."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise InputError(f"{path}: expected a cloud named {', '.join(SUFFIXES)}")
    if kind == ".off":
        text = read_text(path)
        with errors_naming(path):
            return on_faces(read_off(text), number, generator)
    if kind in (".ply", ".npy"):
        content = read_bytes(path, MAX_BYTES)
        with errors_naming(path):
            return binary_rows(kind, content, number, generator)
    text = read_text(path)
    with errors_naming(path):
        return checked_rows(text_rows(text))


def binary_rows(kind: str, content: bytes, number: int, generator: np.random.Generator) -> Rows:
    """The points of a .ply or .npy file."""
    if kind == ".npy":
        return checked_rows(npy_array(content).astype(np.float64))
    found = read_ply(content)
    if len(found.triangles):
        return on_faces(Mesh(found.points[:, :3], found.triangles), number, generator)
    return checked_rows(found.points)


def on_faces(mesh: Mesh, number: int, generator: np.random.Generator) -> Rows:
    """Points on the faces, and their normals."""
    return np.concatenate(sample(mesh, number, generator), axis=1)


def text_rows(text: str) -> Rows:
    """A point per line; # starts a comment, and a first line of words or of one number is left."""
    lines = [line.split("#", 1)[0] for line in text.splitlines()]
    words = [line.replace(",", " ").replace(";", " ").split() for line in lines]
    words = [line for line in words if line]
    if len(words) > 1 and (len(words[0]) < FEWEST or not is_numbers(words[0])):
        words = words[1:]  # the names of the columns, or the number of points
    widths = {len(line) for line in words}
    try:
        if len(widths) != 1:
            raise ValueError
        return np.array(words, np.float64)
    except ValueError:
        raise InputError(
            "expected one point per line, each with the same count of numbers"
        ) from None


def is_numbers(words: list[str]) -> bool:
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False


def checked_rows(rows: np.ndarray) -> Rows:
    """At least two points of two finite numbers or more."""
    if rows.ndim != 2 or len(rows) < FEWEST or rows.shape[1] < FEWEST:
        raise InputError(
            f"expected two points or more of two numbers or more, got shape {rows.shape}"
        )
    if not (abs(rows) <= LARGEST).all():
        raise InputError(f"expected finite coordinates of at most {LARGEST:g}")
    return rows.astype(np.float32)
