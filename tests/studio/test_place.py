"""A child process finds runs by name, and nothing outside the root."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chainrule.errors import InputError
from chainrule.studio import place


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    before = place.root()
    for name in ("a-1", "b-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.json").write_text("{}")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "config.json").write_text("{}")
    place.settle(tmp_path / "runs")
    yield tmp_path / "runs"
    place.settle(before)


def test_a_run_is_found_by_its_name(root: Path) -> None:
    assert place.run_folder("b-2") == root / "b-2"


@pytest.mark.parametrize("name", ["../secret", "..", ".", "", "/etc", "a-1/../../secret", "c"])
def test_no_name_leads_out_of_the_root(root: Path, name: str) -> None:
    with pytest.raises(InputError, match="no run"):
        place.run_folder(name)


def test_without_a_folder_there_are_no_runs(root: Path) -> None:
    place.settle(root / "absent")
    with pytest.raises(InputError, match="no run"):
        place.run_folder("a-1")
