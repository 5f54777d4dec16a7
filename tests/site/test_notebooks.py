"""Every chapter's notebook is executed from its first cell to its last, with short training."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SHORT = '''
import chainrule as cr

def at_most(function, epochs):
    """The function, which trains for no more epochs than these."""
    def short(*arguments, **settings):
        return function(*arguments, **settings | {"epochs": min(epochs, settings["epochs"])})
    return short

cr.fit, cr.iterate = at_most(cr.fit, 1), at_most(cr.iterate, 2)
'''
# A curve of one epoch is a point; the loops that the cells themselves write are as they are.


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs the site's packages: make docs")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "profile"))
    book = nbformat.read(path, as_version=4)
    book.cells.insert(0, nbformat.v4.new_code_cell(SHORT))
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources=folder).execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    said = [out for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    assert not said
