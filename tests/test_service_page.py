"""docs/service.md is run from top to bottom, and the service answers what the page says."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "service.md"
pytest.importorskip("onnxruntime")
pytest.importorskip("uvicorn")
pytest.importorskip("pandas")


def test_the_page_leads_from_a_table_to_a_service(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "OMP_NUM_THREADS": "1"}
    for block in blocks:
        subprocess.run(["bash", "-ec", block], cwd=tmp_path, env=environment, check=True)
    command = [sys.executable, "-m", "chainrule", "serve", "runs/patients"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as service:
        try:
            assert service.stdout is not None
            said = service.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert address, said
            row = dict(zip(*rows(tmp_path / "new.csv"), strict=True))
            request = urllib.request.Request(
                f"{address[0]}/predict",
                json.dumps({"rows": [row]}).encode(),
                {"content-type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                found = json.load(answer)["predictions"][0]
            assert found["prediction"] == "malignant" and found["probability"] > 0.5
        finally:
            service.terminate()


def rows(path: Path) -> tuple[list[str], list[str]]:
    """The header and the first row."""
    lines = path.read_text("utf-8").splitlines()
    return lines[0].split(","), lines[1].split(",")
