"""A user's folder of point clouds in every format: what is read, divided and refused."""

import json
import struct

import numpy as np
import pytest
import torch

from chainrule.data import clouds, encoder_from_json
from chainrule.data.readers.points.cloud_files import cloud_rows
from chainrule.data.readers.points.clouds import CloudEncoder
from chainrule.data.readers.points.ply import read_ply
from chainrule.errors import InputError

CORNERS = [(a, b, c) for a in (0, 6) for b in (0, 4) for c in (0, 2)]
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
HEAD = "ply\nformat {}\ncomment made by hand\nelement vertex 8\nproperty {} x\nproperty {} y\n"
HEAD += "property {} z\nproperty uchar red\n{}end_header\n"
FACE_HEAD = "element face 6\nproperty list uchar int vertex_indices\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def text_ply(faces: bool) -> bytes:
    rows = "".join(f"{a} {b} {c} 7\n" for a, b, c in CORNERS)
    more = "".join(f"4 {' '.join(map(str, face))}\n" for face in FACES) if faces else ""
    head = HEAD.format("ascii 1.0", *["float"] * 3, FACE_HEAD if faces else "")
    return (head + rows + more).encode()


def binary_ply(order: str, faces: bool) -> bytes:
    name = "binary_little_endian 1.0" if order == "<" else "binary_big_endian 1.0"
    head = HEAD.format(name, "double", "float", "float", FACE_HEAD if faces else "")
    rows = b"".join(struct.pack(f"{order}dffB", *corner, 7) for corner in CORNERS)
    more = b"".join(struct.pack(f"{order}B4i", 4, *face) for face in FACES) if faces else b""
    return head.encode() + rows + more


@pytest.mark.parametrize("faces", [False, True])
def test_text_and_binary_ply_files_hold_the_same_mesh(faces):
    for content in (text_ply(faces), binary_ply("<", faces), binary_ply(">", faces)):
        found = read_ply(content)
        assert found.points.tolist() == [list(map(float, corner)) for corner in CORNERS]
        assert len(found.triangles) == (12 if faces else 0)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"OFF\n", "expected a PLY file"),
        (text_ply(True)[:-20], "expected the numbers of a face|expected 6 rows of face"),
        (binary_ply("<", True)[:-3], "expected 6 rows of face, got 5"),
        (binary_ply("<", False)[:-3], "expected 8 rows of vertex, got 7"),
        (text_ply(False).replace(b"property float y\n", b""), "x, y and z|numbers of a vertex"),
        (text_ply(False).replace(b"float x", b"complex x"), "got the line 'property complex x'"),
        (text_ply(True).replace(b"4 0 1 3 2", b"4 0 1 3 9"), "indices from 0 to 7"),
        (text_ply(False).replace(b"6 4 2 7", b"6 nan 2 7"), "finite coordinates"),
    ],
)
def test_damaged_ply_files_are_refused(content, why):
    with pytest.raises(InputError, match=why):
        read_ply(content)


def test_all_formats_of_points_give_the_same_cloud(tmp_path):
    x = np.array(CORNERS, np.float32)
    np.save(tmp_path / "a.npy", x)
    np.savetxt(tmp_path / "a.xyz", x)
    np.savetxt(tmp_path / "a.csv", x, delimiter=",", header="x,y,z", comments="")
    (tmp_path / "a.pts").write_text("8\n" + "".join(f"{a} {b} {c} 1 2 3\n" for a, b, c in CORNERS))
    (tmp_path / "a.ply").write_bytes(binary_ply("<", False))
    one = CloudEncoder(8)
    every = [
        one.encode_file(tmp_path / f"a.{kind}") for kind in ("npy", "xyz", "csv", "pts", "ply")
    ]
    assert all(torch.equal(each, every[0]) for each in every)
    assert every[0].shape == (1, 8, 3) and every[0][0, :, 0].abs().max() == 1
    assert encoder_from_json(json.loads(json.dumps(one.to_json()))) == one


def test_a_ply_mesh_is_sampled_on_its_faces_with_their_normals(tmp_path):
    (tmp_path / "box.ply").write_bytes(binary_ply(">", True))
    x = CloudEncoder(500, normals=True).encode_file(tmp_path / "box.ply")[0]
    place, normal = x[:, :3] / torch.tensor([1, 2 / 3, 1 / 3]), x[:, 3:]
    assert torch.equal(place.abs().argmax(1), normal.abs().argmax(1))


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(0)
    for name, shape in (("line", (1, 0.1, 0.1)), ("ball", (1, 1, 1))):
        (tmp_path / "clouds" / name).mkdir(parents=True)
        for k in range(12):
            np.savetxt(tmp_path / "clouds" / name / f"{k}.xyz", draw.normal(size=(30, 3)) * shape)
    return tmp_path / "clouds"


def test_a_folder_becomes_splits_and_says_what_was_found(folder):
    (folder / "ball/copy.xyz").write_bytes((folder / "ball/0.xyz").read_bytes())
    (folder / "line/bad.ply").write_bytes(b"ply\nformat ascii")
    (folder / "line/notes.md").write_text("x")
    data = clouds(folder, num_points=40)
    assert data.classes == ("ball", "line") and data.train.x.shape[1:] == (40, 3)
    said = "\n".join(data.remarks)
    assert "25 clouds of 2 classes: ball (13), line (12); each becomes 40 points of space" in said
    assert "files that are not clouds, and were ignored: 1" in said
    assert "files that were left out: 1" in said and "bad.ply" in said
    assert "copies of other clouds: 1 ('ball/0.xyz', 'ball/copy.xyz')" in said
    again = clouds(folder, num_points=40)
    assert torch.equal(again.train.x, data.train.x), "the cached clouds differ"


def test_points_of_the_plane_stay_in_the_plane(tmp_path):
    draw = np.random.default_rng(0)
    for name in "ab":
        (tmp_path / "flat" / name).mkdir(parents=True)
        for k in range(6):
            np.save(tmp_path / "flat" / name / f"{k}.npy", draw.normal(size=(9, 2)))
    data = clouds(tmp_path / "flat", num_points=10)
    assert data.train.x.shape[1:] == (10, 2)
    np.save(tmp_path / "space.npy", draw.normal(size=(9, 3)))
    with pytest.raises(InputError, match="points of 2 coordinates, got 3 numbers"):
        data.encoder.encode_file(tmp_path / "space.npy")


def test_clouds_without_normals_are_left_out_where_normals_are_asked_for(folder):
    with pytest.raises(InputError, match=r"0 clouds that can be read.*got 3 numbers"):
        clouds(folder, normals=True)


def test_files_of_other_kinds_are_refused(tmp_path):
    (tmp_path / "a.stl").write_bytes(b"solid")
    with pytest.raises(InputError, match=r"expected a cloud named .off, .ply"):
        cloud_rows(tmp_path / "a.stl", 8, np.random.default_rng(0))
