"""A small run of a table, which is served."""

from collections.abc import Callable

import pytest

from chainrule.runs.run import Run


@pytest.fixture(scope="session")
def table_run(train_run: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("served")
    rows = [
        (a, c, "yes" if a + 20 * (c == "Oslo") > 50 else "no")
        for a in range(20, 80, 2)
        for c in ("Oslo", "Rome")
    ]
    lines = ["age,city,bought", *(",".join(map(str, row)) for row in rows)]
    (folder / "table.csv").write_text("\n".join(lines))
    return train_run(
        "mlp", folder / "run", table=str(folder / "table.csv"), target="bought", epochs=5
    )
