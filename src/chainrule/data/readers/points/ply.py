"""The PLY format of point clouds and polygon meshes, as text or as binary numbers.

    ply
    format ascii 1.0                or binary_little_endian, binary_big_endian
    element vertex 8                a name and a count, then the properties of each row
    property float x
    element face 6
    property list uchar int vertex_indices
    end_header

Positions, normals (nx, ny, nz) and faces are read; other properties are skipped. A face of k
vertices is read as k - 2 triangles. Turk (1994).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.errors import InputError

TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
MAX_ROWS = 5_000_000
MAX_HEADER = 65_536
AXES, NORMALS = ("x", "y", "z"), ("nx", "ny", "nz")


class Element(NamedTuple):
    """A table of the file: its name, its rows, and (name, type, type of the count or "")."""

    name: str
    rows: int
    properties: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Ply:
    """Rows of positions, maybe with normals, and triangles of row numbers."""

    points: Float[np.ndarray, "vertices columns"]
    triangles: Int[np.ndarray, "triangles 3"]


def read_ply(content: bytes) -> Ply:
    """The points and the faces of a PLY file."""
    order, elements, start = header(content)
    body = content[start:]
    tables = text_tables(body, elements) if not order else binary_tables(body, elements, order)
    vertices = tables.get("vertex", {})
    if any(axis not in vertices for axis in AXES):
        raise InputError("expected vertices with the properties x, y and z")
    names = AXES + (NORMALS if all(name in vertices for name in NORMALS) else ())
    points = np.stack([np.asarray(vertices[name], np.float64) for name in names], axis=1)
    if not (abs(points) <= LARGEST).all():
        raise InputError(f"expected finite coordinates of at most {LARGEST:g}")
    faces = tables.get("face", {})
    listed = faces.get("vertex_indices", faces.get("vertex_index", []))
    return Ply(points.astype(np.float32), fans(list(listed), len(points)))


def header(content: bytes) -> tuple[str, list[Element], int]:
    """(byte order, empty for text; elements; where the rows begin)."""
    end = content.find(b"end_header", 0, MAX_HEADER)
    stop = content.find(b"\n", end)
    if not content.startswith(b"ply") or end < 0 or stop < 0:
        raise InputError("expected a PLY file: a first line 'ply' and a header up to end_header")
    order, elements = None, []
    for line in content[:end].decode("ascii", "replace").splitlines()[1:]:
        match line.split():
            case ["format", kind, *_] if kind in ORDERS:
                order = ORDERS[kind]
            case ["element", name, rows] if rows.isdecimal() and int(rows) <= MAX_ROWS:
                elements.append(Element(name, int(rows), []))
            case ["property", "list", count, kind, name] if {count, kind} <= {*TYPES} and elements:
                elements[-1].properties.append((name, TYPES[kind], TYPES[count]))
            case ["property", kind, name] if kind in TYPES and elements:
                elements[-1].properties.append((name, TYPES[kind], ""))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise InputError(f"expected a header of PLY, got the line {line[:60]!r}")
    if order is None:
        raise InputError(f"expected the format {', '.join(ORDERS)}, got none")
    return order, elements, stop + 1


def text_tables(body: bytes, elements: list[Element]) -> dict[str, dict[str, list]]:
    """By element and property, the values of each row; a list property has lists."""
    lines = [line for line in body.decode("ascii", "replace").splitlines() if line.strip()]
    found: dict[str, dict[str, list]] = {}
    for element in elements:
        own, lines = lines[: element.rows], lines[element.rows :]
        if len(own) < element.rows:
            raise short(element, len(own))
        found[element.name] = {name: [] for name, *_ in element.properties}
        for line in own:
            words = iter(line.split())
            try:
                for name, kind, count in element.properties:
                    read = float if kind[0] == "f" else int
                    value = [int(next(words)) for _ in range(int(next(words)))] if count else None
                    found[element.name][name].append(read(next(words)) if value is None else value)
            except (ValueError, StopIteration):
                raise InputError(
                    f"expected the numbers of a {element.name}, got {line[:60]!r}"
                ) from None
    return found


def binary_tables(
    body: bytes, elements: list[Element], order: str
) -> dict[str, dict[str, np.ndarray | list]]:
    """The same from binary numbers."""
    found: dict[str, dict[str, np.ndarray | list]] = {}
    at = 0
    for element in elements:
        if any(count for *_, count in element.properties):
            found[element.name], at = rows_with_lists(body, at, element, order)
            continue
        row = np.dtype([(name, order + kind) for name, kind, _ in element.properties])
        if len(body) - at < row.itemsize * element.rows:
            raise short(element, (len(body) - at) // max(1, row.itemsize))
        rows = np.frombuffer(body, row, element.rows, at)
        found[element.name] = {name: rows[name] for name, *_ in element.properties}
        at += row.itemsize * element.rows
    return found


def rows_with_lists(
    body: bytes, at: int, element: Element, order: str
) -> tuple[dict[str, np.ndarray | list], int]:
    """An element with list properties, row by row, and where it ends."""
    found: dict[str, list] = {name: [] for name, *_ in element.properties}
    try:
        for _ in range(element.rows):
            for name, kind, count in element.properties:
                number = 1
                if count:
                    number = int(np.frombuffer(body, order + count, 1, at)[0])
                    at += np.dtype(count).itemsize
                values = np.frombuffer(body, order + kind, number, at)
                at += values.nbytes
                found[name].append(values.tolist() if count else values[0])
    except ValueError:
        raise short(element, len(found[element.properties[0][0]])) from None
    return dict(found), at


def short(element: Element, rows: int) -> InputError:
    return InputError(f"expected {element.rows:,} rows of {element.name}, got {rows:,}")


def fans(faces: list[list[int]], vertices: int) -> Int[np.ndarray, "triangles 3"]:
    """Faces as triangles that share the first vertex of the face."""
    triangles = [[face[0], second, third] for face in faces for second, third in pairwise(face[1:])]
    found = np.array(triangles, np.int64).reshape(-1, 3)
    if len(found) and not (found.min() >= 0 and found.max() < vertices):
        raise InputError(
            f"expected vertex indices from 0 to {vertices - 1}, got {found.min()} to {found.max()}"
        )
    return found
