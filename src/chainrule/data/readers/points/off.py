"""The OFF format of polygon meshes, and points on their faces.

    OFF
    vertices faces edges            the number of edges is often 0 and is ignored
    x y z                           one line per vertex
    k v_1 … v_k                     one line per face: its vertices, counted from 0; maybe a color

`#` starts a comment. Some files of ModelNet have the counts in the first line: OFF490 518 0.
A face of k vertices is read as k - 2 triangles. Points are sampled uniformly by area.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.errors import InputError


class Mesh(NamedTuple):
    """Vertices, and triangles as triples of vertex indices."""

    vertices: Float[np.ndarray, "vertices 3"]
    triangles: Int[np.ndarray, "triangles 3"]


def read_off(text: str) -> Mesh:
    """The mesh in the text of an OFF file."""
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines or not lines[0].upper().startswith("OFF"):
        raise InputError("expected a mesh in text form whose first line is OFF")
    first = lines[0][3:].strip()
    head, body = (first, lines[1:]) if first else ("".join(lines[1:2]), lines[2:])
    try:
        vertices, faces = (int(word) for word in head.split()[:2])
    except ValueError:
        raise InputError(f"expected the counts of vertices and faces, got {head!r}") from None
    if vertices < 3 or faces < 1:
        raise InputError(f"expected at least 3 vertices and a face, got {vertices} and {faces}")
    if len(body) < vertices + faces:
        raise InputError(
            f"expected {vertices} lines of vertices and {faces} of faces, got {len(body)} lines"
        )
    corners = numbers(body[:vertices], 3)
    if not (abs(corners) <= LARGEST).all():
        raise InputError(f"expected finite coordinates of at most {LARGEST:g}")
    return Mesh(
        corners.astype(np.float32), triangles_of(body[vertices : vertices + faces], vertices)
    )


def numbers(lines: list[str], columns: int) -> Float[np.ndarray, "lines columns"]:
    """The first `columns` numbers of every line."""
    try:
        # Convert all words at once: a mesh may have 100,000 lines.
        words = [line.split()[:columns] for line in lines]
        return np.array(words, dtype=np.float64).reshape(len(lines), columns)
    except ValueError:
        raise InputError(f"expected {columns} numbers in every line of a vertex or face") from None


def triangles_of(lines: list[str], vertices: int) -> Int[np.ndarray, "triangles 3"]:
    """Faces as triangles that share the first vertex of the face."""
    words = [line.split() for line in lines]
    try:
        sizes = np.array([row[0] for row in words], dtype=np.int64)
        fans = [
            [row[1], *pair]
            for row, size in zip(words, sizes, strict=True)
            for pair in pairwise(row[2 : size + 1])
        ]
        found = np.array(fans, dtype=np.int64).reshape(-1, 3)
    except (ValueError, IndexError, OverflowError):
        raise InputError(
            "expected whole numbers in every face: the count of its vertices, then their indices"
        ) from None
    short = [row for row, size in zip(words, sizes, strict=True) if len(row) < size + 1]
    if short or not len(found):
        raise InputError("expected faces of three vertices or more, with all their indices")
    if found.min() < 0 or found.max() >= vertices:
        raise InputError(
            f"expected vertex indices from 0 to {vertices - 1}, got {found.min()} to {found.max()}"
        )
    return found


def areas(mesh: Mesh) -> tuple[Float[np.ndarray, " triangles"], Float[np.ndarray, "triangles 3"]]:
    """½ ‖(b - a) × (c - a)‖ and the unit normal of every triangle; both 0 if degenerate."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]].astype(np.float64) for k in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1)
    return length / 2, across / np.where(length > 0, length, 1)[:, None]


def sample(
    mesh: Mesh, number: int, generator: np.random.Generator
) -> tuple[Float[np.ndarray, "number 3"], Float[np.ndarray, "number 3"]]:
    """Points on the faces, uniform by area, and their normals.

    (1 - √u) a + √u (1 - v) b + √u v c,   u and v uniform in [0, 1].
    """
    area, normal = areas(mesh)
    if not area.sum() > 0:
        raise InputError("expected faces with a positive area")
    t = generator.choice(len(area), number, p=area / area.sum())
    a, b, c = (mesh.vertices[mesh.triangles[t, k]] for k in range(3))
    root, v = np.sqrt(generator.random((number, 1))), generator.random((number, 1))
    points = (1 - root) * a + root * (1 - v) * b + root * v * c
    return points.astype(np.float32), normal[t].astype(np.float32)
