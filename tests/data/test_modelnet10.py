"""ModelNet10 from small archives of meshes and small files of voxels."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from chainrule.data.datasets import modelnet10
from chainrule.data.datasets.modelnet10 import ARCHIVE, CLASSES, VOXELS, surface
from chainrule.data.readers.points.point_encoders import PointEncoder
from chainrule.errors import InputError

SQUARE = "OFF\n4 1 0\n0 0 0\n{0} 0 0\n{0} 1 0\n0 1 0\n4 0 1 2 3\n"


def archive(folder: Path, classes: tuple[str, ...] = CLASSES, broken: str = "") -> Path:
    """Two training squares and a test square per class, ever longer, and what Macs leave behind."""
    path = folder / ARCHIVE
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("ModelNet10/README.txt", "read me")
        made.writestr("__MACOSX/ModelNet10/bed/train/._bed_0001.off", b"\x00\x05")
        for k, name in enumerate(classes):
            for split, number in (("train", 1), ("train", 2), ("test", 3)):
                text = broken or SQUARE.format(k + 2)
                made.writestr(f"ModelNet10/{name}/{split}/{name}_{number:04}.off", text)
    return path


@pytest.fixture
def voxels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """20 training and 10 test grids: cubes of ever larger sides; two are empty."""
    monkeypatch.setattr(modelnet10, "SIZES", (20, 10))
    parts = {}
    for split, number in (("train", 20), ("test", 10)):
        grids = np.zeros((number, 30, 30, 30), np.int32)
        for k, grid in enumerate(grids):
            grid[3 : 5 + k, 3 : 5 + k, 3 : 5 + k] = 1
        grids[4] = 0
        parts |= {f"X_{split}": grids, f"y_{split}": np.arange(number) % 10}
    (tmp_path / VOXELS).parent.mkdir()
    np.savez_compressed(tmp_path / VOXELS, **parts)
    return tmp_path


def test_the_surface_of_a_cube_has_no_inside() -> None:
    grids = np.zeros((1, 7, 7, 7), bool)
    grids[0, 1:6, 1:6, 1:6] = True
    assert surface(grids).sum() == 5**3 - 3**3
    grids[:] = True
    assert surface(grids).sum() == 7**3 - 5**3, "the edge of the grid is a surface, too"


def test_voxels_become_points_of_the_surface_and_empty_grids_are_left_out(voxels: Path) -> None:
    splits = modelnet10.load(voxels, validation=6)
    assert [len(part.y) for part in (splits.train, splits.validation, splits.test)] == [13, 6, 9]
    assert splits.test.y.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    x = splits.test.x
    assert x.shape == (9, 1024, 3)
    cells = x * 12 + 14.5
    torch.testing.assert_close(cells, cells.round(), atol=1e-4, rtol=0)
    for cloud, side in zip(cells.round(), (2, 3, 4, 5, 7, 8, 9, 10, 11), strict=True):
        assert len(cloud.unique(dim=0)) == side**3 - max(0, side - 2) ** 3
        assert ((cloud == 3) | (cloud == side + 2)).any(1).all(), "a point inside"
    assert splits.encoder == PointEncoder(1024, cells=24)
    with pytest.raises(InputError, match="has no normals"):
        modelnet10.load(voxels, validation=6, normals=True)


def test_labels_that_unpack_to_very_much_are_refused_before_the_grids_are_read(
    voxels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modelnet10, "MAX_LABELS", 200)
    with pytest.raises(InputError, match="expected at most 200 bytes, got more"):
        modelnet10.load(voxels, validation=6)


def test_meshes_become_points_on_their_faces_with_normals_where_asked(tmp_path: Path) -> None:
    archive(tmp_path)
    plain = modelnet10.load(tmp_path, validation=5)
    splits = modelnet10.load(tmp_path, validation=5, normals=True)
    assert [len(part.y) for part in (splits.train, splits.validation, splits.test)] == [15, 5, 10]
    assert splits.test.y.tolist() == list(range(10))
    assert torch.equal(plain.test.x, splits.test.x[..., :3])
    assert plain.encoder == PointEncoder(1024)
    for k, cloud in enumerate(splits.test.x):
        half = torch.tensor([1, 1 / (k + 2), 0])
        assert (cloud[:, :3].abs() <= half + 1e-6).all()
        assert torch.equal(cloud[:, 3:], torch.tensor([0.0, 0.0, 1.0]).expand(1024, 3))
    assert not torch.equal(splits.train.x[0], splits.train.x[1]), "the same draw for two meshes"


def test_meshes_come_before_voxels_where_there_are_both(voxels: Path) -> None:
    path = voxels / ARCHIVE
    archive(voxels / "beside")
    (voxels / "beside" / ARCHIVE).rename(path)
    assert len(modelnet10.load(voxels, validation=5).test.y) == 10


@pytest.mark.parametrize(
    ("classes", "broken", "why"),
    [
        (CLASSES[:9], "", "all ten classes"),
        (CLASSES, "OFF\n4 1 0\n", "lines of vertices"),
        (CLASSES, "solid", "first line is OFF"),
    ],
)
def test_broken_archives_are_refused(tmp_path: Path, classes, broken: str, why: str) -> None:
    archive(tmp_path, classes, broken)
    with pytest.raises(InputError, match=why):
        modelnet10.load(tmp_path)


def test_files_that_are_no_archives_are_refused(voxels: Path) -> None:
    with np.load(voxels / VOXELS) as found:
        whole = dict(found)
    np.savez_compressed(voxels / VOXELS, **whole | {"y_test": whole["y_test"] + 1})
    with pytest.raises(InputError, match="labels from 0 to 9"):
        modelnet10.load(voxels, validation=6)
    np.savez_compressed(voxels / VOXELS, **whole | {"X_train": whole["X_train"][:7]})
    with pytest.raises(InputError, match="expected 20 grids"):
        modelnet10.load(voxels, validation=6)
    for name in (VOXELS, ARCHIVE):
        (voxels / name).write_bytes(b"PK nothing of the kind")
        with pytest.raises(InputError, match="is damaged"):
            modelnet10.load(voxels, validation=6)
