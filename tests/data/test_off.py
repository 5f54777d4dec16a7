"""Reading OFF meshes, refusing broken ones, and drawing points on their faces."""

import numpy as np
import pytest

from chainrule.data.readers.points.off import Mesh, areas, read_off, sample
from chainrule.errors import InputError

TETRAHEDRON = """OFF
# a corner of a cube
4 4 0
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""


def test_a_mesh_is_read_line_by_line() -> None:
    vertices, triangles = read_off(TETRAHEDRON)
    assert vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert triangles.tolist() == [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


@pytest.mark.parametrize(
    "text",
    [
        TETRAHEDRON.replace("OFF\n# a corner of a cube\n4 4 0", "OFF4 4 0"),
        TETRAHEDRON.replace("OFF\n# a corner of a cube\n4 4 0", "OFF 4 4 0"),
        TETRAHEDRON.replace("\n", "\r\n\r\n"),
        TETRAHEDRON.replace("3 0 2 1", "3 0 2 1 255 0 0  # red"),
        TETRAHEDRON.replace("1 0 0\n", "1.0e0 0 0 0.5 0.5 0.5\n"),
    ],
    ids=[
        "numbers glued to OFF",
        "numbers behind OFF",
        "windows lines",
        "colors",
        "corner colors",
    ],
)
def test_the_habits_of_other_writers_are_understood(text: str) -> None:
    for ours, theirs in zip(read_off(TETRAHEDRON), read_off(text), strict=True):
        assert np.array_equal(ours, theirs)


def test_a_face_of_many_corners_becomes_triangles_of_the_same_area() -> None:
    hexagon = [(np.cos(a), np.sin(a), 2.0) for a in np.pi / 3 * np.arange(6)]
    lines = [" ".join(map(str, corner)) for corner in hexagon]
    mesh = read_off("\n".join(["OFF", "6 1 0", *lines, "6 0 1 2 3 4 5"]))
    assert len(mesh.triangles) == 4
    assert areas(mesh)[0].sum() == pytest.approx(1.5 * 3**0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "first line is OFF"),
        ("solid cube\n", "first line is OFF"),
        ("PLY\n" + TETRAHEDRON, "first line is OFF"),
        ("OFF\n", "counts of vertices and faces"),
        ("OFF\nfour 4 0\n", "counts of vertices and faces, got 'four 4 0'"),
        ("OFF\n4 0 0\n" + "0 0 0\n" * 4, "at least 3 vertices and a face"),
        ("OFF\n-4 4 0\n", "at least 3 vertices and a face"),
        (TETRAHEDRON[:40], "4 lines of vertices and 4 of faces, got 2"),
        (TETRAHEDRON.replace("1 0 0\n", "1 0 zero\n"), "3 numbers in every line"),
        (TETRAHEDRON.replace("1 0 0\n", "1 0\n"), "3 numbers in every line"),
        (TETRAHEDRON.replace("1 0 0\n", "nan 0 0\n"), "finite coordinates"),
        (TETRAHEDRON.replace("3 1 2 3", "3 1 2 4"), "vertex indices from 0 to 3, got 0 to 4"),
        (TETRAHEDRON.replace("3 1 2 3", "3 -1 2 3"), "vertex indices from 0 to 3, got -1 to 3"),
        (TETRAHEDRON.replace("3 1 2 3", "3 1 2"), "with all their indices"),
        (TETRAHEDRON.replace("3 1 2 3", "x 1 2 3"), "whole numbers in every face"),
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n2 0 1\n", "three vertices or more"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_off(text)


def test_points_lie_on_faces_in_proportion_to_area_with_the_faces_normals() -> None:
    mesh, number = read_off(TETRAHEDRON), 40_000
    points, normals = sample(mesh, number, np.random.default_rng(0))
    area, normal = areas(mesh)
    corner = mesh.vertices[mesh.triangles[:, 0]]
    distance = np.abs(np.einsum("tc,ptc->pt", normal, points[:, None] - corner))
    face = distance.argmin(1)
    assert distance.min(1).max() < 1e-6
    assert (points > -1e-6).all() and (points.sum(1) < 1 + 1e-6).all(), "outside of the mesh"
    assert np.abs(normals - normal[face]).max() < 1e-6
    share = area / area.sum()
    spread = np.sqrt(share * (1 - share) / number)
    assert (np.abs(np.bincount(face) / number - share) < 4 * spread).all()


def test_points_are_uniform_within_a_triangle() -> None:
    triangle = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32), np.array([[0, 1, 2]]))
    points, _ = sample(triangle, 40_000, np.random.default_rng(1))
    assert points.mean(0) == pytest.approx([1 / 3, 1 / 3, 0], abs=0.005)
    inner = (points[:, :2] < 0.5).all(1) & (points[:, 0] + points[:, 1] > 0.5)
    assert inner.mean() == pytest.approx(1 / 4, abs=0.01)  # the triangle of the sides' middles


def test_a_mesh_without_area_is_refused() -> None:
    line = Mesh(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], np.float32), np.array([[0, 1, 2]]))
    with pytest.raises(InputError, match="positive area"):
        sample(line, 5, np.random.default_rng(0))
