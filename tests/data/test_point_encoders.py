"""A user's own meshes, lists of points and drawings as clouds."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from chainrule.data.readers.points.point_encoders import (
    DrawingEncoder,
    PointEncoder,
    normalize_to_cube,
    snap_to_voxels,
)
from chainrule.errors import InputError

CORNERS = [(a, b, c) for a in (0, 6) for b in (0, 4) for c in (0, 2)]
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
BOX = "\n".join(
    ["OFF", "8 6 0", *(" ".join(map(str, c)) for c in CORNERS)]
    + [" ".join(map(str, (4, *face))) for face in FACES]
)


@pytest.fixture
def box(tmp_path: Path) -> Path:
    path = tmp_path / "box.off"
    path.write_text(BOX)
    return path


def test_a_mesh_becomes_points_on_its_faces_in_the_cube(box: Path) -> None:
    x = PointEncoder(2_000).encode_file(box)
    assert x.shape == (1, 2_000, 3) and x.dtype == torch.float32
    half = torch.tensor([1, 2 / 3, 1 / 3])  # sides of 6, 4 and 2
    assert (x.abs() <= half + 1e-5).all()
    assert ((x.abs() - half).abs() < 1e-5).any(2).all(), "a point inside of the box"
    torch.testing.assert_close(x.amax((0, 1)), half)
    assert torch.equal(x, PointEncoder(2_000).encode_file(box)), "another cloud of the same file"


def test_normals_point_along_the_axis_of_their_face(box: Path) -> None:
    x = PointEncoder(500, normals=True).encode_file(box)[0]
    place, normal = x[:, :3] / torch.tensor([1, 2 / 3, 1 / 3]), x[:, 3:]
    torch.testing.assert_close(normal.norm(dim=1), torch.ones(500))
    assert torch.equal(place.abs().argmax(1), normal.abs().argmax(1))


def test_cells_hold_one_point_each_in_their_middle(box: Path) -> None:
    # Sides of 6, 5 and 3, whose faces lie inside of cells and not between two.
    box.write_text(
        BOX.replace("4 0\n", "5 0\n").replace("4 2\n", "5 3\n").replace("0 2\n", "0 3\n")
    )
    x = PointEncoder(5_000, cells=6).encode_file(box)[0]
    grid = ((x + 1) * 3 - 0.5).round()
    torch.testing.assert_close((grid + 0.5) / 3 - 1, x)
    assert len(grid.unique(dim=0)) == len(grid) == 6 * 6 * 4 - 4 * 4 * 2
    rows = np.array([[0.99, -1.0, 1.0]], np.float32)
    assert snap_to_voxels(rows, 4).tolist() == [[0.75, -0.75, 0.75]]


def test_a_list_of_points_is_scaled_alike_and_thinned_where_it_is_long(tmp_path: Path) -> None:
    path = tmp_path / "points.txt"
    path.write_text("# x y z\n0 0 0\n6, 0, 0\n0\t4 1\n6 4 2  # the last\n")
    x = PointEncoder(100).encode_file(path)
    assert x[0, 0].tolist() == pytest.approx([-1, -2 / 3, -1 / 3])
    assert x.shape == (1, 4, 3)
    thinned = PointEncoder(2).encode_file(path)[0]
    assert len(thinned) == 2 and all(any(torch.equal(p, q) for q in x[0]) for p in thinned)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0 0 0\n1 1\n", r"3 numbers \(x y z\) per line"),
        ("a b c\n1 1 1\n", r"3 numbers \(x y z\) per line"),
        ("0 0\n1 1\n2 2\n", "3 finite numbers"),
        ("0 0 0\n", "two points or more"),
        ("# nothing\n", "two points or more"),
        ("0 0 0\ninf 0 0\n", "3 finite numbers"),
        ("1 2 3\n1 2 3\n", "at least two different points"),
    ],
)
def test_lists_that_make_no_cloud_are_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "points.xyz"
    path.write_text(text)
    with pytest.raises(InputError, match=f"points.xyz: expected .*{why}"):
        PointEncoder(10).encode_file(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.off").write_bytes(b"\xff\xfe\x00OFF")
    for encoder in (PointEncoder(10), DrawingEncoder(10, 28, 0.1)):
        with pytest.raises(InputError, match="there is no file"):
            encoder.encode_file(tmp_path / "nothing.txt")
        with pytest.raises(InputError, match="is not a text file in UTF-8"):
            encoder.encode_file(tmp_path / "binary.off")
    (tmp_path / "cut.off").write_text(BOX[:60])
    with pytest.raises(InputError, match=r"cut.off: expected 8 lines of vertices"):
        PointEncoder(10).encode_file(tmp_path / "cut.off")


def test_a_drawing_becomes_points_of_its_ink_the_right_way_up(tmp_path: Path) -> None:
    image = Image.new("L", (100, 100), 255)
    draw = ImageDraw.Draw(image)
    draw.line([(30, 10), (30, 90)], fill=0, width=8)  # an L
    draw.line([(30, 86), (80, 86)], fill=0, width=8)
    image.save(tmp_path / "l.png")
    x = DrawingEncoder(200, 28, 4 / 28).encode_file(tmp_path / "l.png")[0]
    assert x.shape == (200, 2) and x.abs().max() < 1
    foot = x[:, 1] < x[:, 1].min() + 0.2
    assert foot.float().mean() > 0.3, "the foot is at the bottom, and wide"
    assert x[foot, 0].max() > x[~foot, 0].max() + 0.3, "and points to the right"


def test_a_list_of_points_of_the_plane_keeps_the_margin(tmp_path: Path) -> None:
    path = tmp_path / "stroke.txt"
    path.write_text("0 0\n0 50\n10 100\n")
    x = DrawingEncoder(200, 28, 0.25).encode_file(path)[0]
    assert x[:, 1].tolist() == pytest.approx([-0.5, 0, 0.5])
    assert normalize_to_cube(np.array([[0.0, 0.0], [2.0, 1.0]])).tolist() == [[-1, -0.5], [1, 0.5]]
