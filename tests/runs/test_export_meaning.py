"""The answers of `chainrule predict`, from model.onnx and model.json alone."""

import csv
import json
import math
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from chainrule.cli.main import main
from chainrule.data import cache
from chainrule.runs.export import export
from chainrule.runs.run import Run

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
Train = Callable[..., Run]
START = date(2024, 1, 1)


class Exported:
    """Another program: it has the two files and nothing of chainrule."""

    def __init__(self, run: Run):
        # In a process of its own: the shape checks of the tests do not know symbolic sizes.
        subprocess.run([sys.executable, "-m", "chainrule", "export", run.folder], check=True)
        folder = run.folder / "export" / "onnx"
        self.session = onnxruntime.InferenceSession(folder / "model.onnx")
        self.json = json.loads((folder / "model.json").read_text("utf-8"))
        self.input, self.output = self.json["input"], self.json["output"]
        self.preprocessing = self.json["preprocessing"]

    def __call__(self, x: Any) -> np.ndarray:
        return self.session.run(None, {"input": np.asarray(x, self.input["type"])})[0]

    def features(self, row: dict[str, str]) -> list[float]:
        """As input.meaning says."""
        found = []
        for column in self.preprocessing["columns"]:
            cell = row[column["name"]]
            if "words" in column:
                found += [float(cell == word) for word in column["words"]]
                continue
            c = column["log"]
            x = float(cell) if cell else column["median"]
            z = math.copysign(math.log1p(abs(x) / c), x) if c and cell else x
            found.append((z - column["mean"]) / column["std"])
            found += [float(not cell)] * column["missing"]
        assert len(found) == len(self.input["features"])
        return found


def predicted(run: Run, given: Path, tmp_path: Path) -> list[dict[str, str]]:
    out = tmp_path / "predicted.csv"
    assert main(["predict", str(run.folder), str(given), "--out", str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, target: Callable[[float, float, str, float], Any]) -> Path:
    """Gaps, words, and a column with a long tail."""
    draw = np.random.default_rng(0)
    rows = ["a,tail,word,y"]
    for k in range(120):
        a, tail = draw.normal(), draw.lognormal(3, 2)
        word = ("red", "green", "blue")[k % 3]
        gap = k % 7 == 0
        y = target(a, tail, word, draw.normal())
        rows.append(f"{'' if gap else f'{a:.4f}'},{tail:.3f},{word},{y}")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_classes_of_a_table_by_a_threshold(train_run: Train, tmp_path: Path) -> None:
    table = write_table(
        tmp_path / "t.csv", lambda a, tail, w, noise: "yes" if a + noise > 1 else "no"
    )
    run = train_run("mlp", tmp_path / "run", table=str(table), target="y", threshold="f1", epochs=2)
    program, answers = Exported(run), predicted(run, table, tmp_path)
    threshold = program.output["threshold"]
    assert 0 < threshold < 1 and threshold != 0.5
    assert {row["prediction"] for row in answers} == {"yes", "no"}
    for row in answers:
        logits = program([program.features(row)])[0].astype(float)
        p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        second = program.json["classes"][1]
        assert float(row[f"p({second})"]) == pytest.approx(p[1], abs=1e-5)
        if abs(p[1] - threshold) > 1e-5:
            assert row["prediction"] == program.json["classes"][int(p[1] >= threshold)]


def test_a_large_number_with_its_interval(train_run: Train, tmp_path: Path) -> None:
    table = write_table(
        tmp_path / "t.csv", lambda a, tail, w, noise: f"{1.7e9 + 50 * a + 5 * noise:.3f}"
    )
    run = train_run("mlp", tmp_path / "run", table=str(table), target="y", epochs=2)
    program, answers = Exported(run), predicted(run, table, tmp_path)
    output = program.output
    assert output["target"] == "y" and output["shift"] > 1e9
    radius = output["interval"]["radius"]
    for row in answers:
        y = output["shift"] + output["scale"] * float(program([program.features(row)]).item())
        assert float(row["prediction"]) == pytest.approx(y, abs=1e-3)
        assert float(row["lower"]) == pytest.approx(y - radius, abs=1e-3)
        assert float(row["upper"]) == pytest.approx(y + radius, abs=1e-3)


def test_quantiles_of_a_forecast_in_units_of_the_target(train_run: Train, tmp_path: Path) -> None:
    days = [START + timedelta(k) for k in range(150)]
    values = [1000 + 30 * math.sin(k / 7 * 2 * math.pi) + k % 5 for k in range(150)]
    lines = ["day,sales", *(f"{d},{v:.3f}" for d, v in zip(days, values, strict=True))]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(lines) + "\n")
    run = train_run(
        "forecast", tmp_path / "run", table=str(table), time="day", target="sales", epochs=1
    )
    program = Exported(run)
    context = program.preprocessing["context"]
    table.write_text("\n".join([lines[0], *lines[-context:]]) + "\n")  # too few for own margins
    answers = predicted(run, table, tmp_path)
    ((mean, std),) = program.preprocessing["scales"].values()
    window = []
    for day, line in zip(days[-context:], lines[-context:], strict=True):
        turns = [day.weekday() / 7, (day.timetuple().tm_yday - 1) / 365.25]
        angles = [2 * math.pi * turn for turn in turns]
        z = (float(line.split(",")[1]) - mean) / std
        window.append([z, 0.0, *map(math.sin, angles), *map(math.cos, angles)])
    assert program.output["quantiles"] == [0.1, 0.5, 0.9]
    output = program([window])[0].astype(float)
    margins = np.array(program.output["band"]["margins"])
    low = np.minimum(output[:, 0] - margins[:, 0], output[:, 1])
    high = np.maximum(output[:, 2] + margins[:, 1], output[:, 1])
    for step, row in enumerate(answers):
        for name, z in (
            ("prediction", output[step, 1]),
            ("quantile 0.1", low[step]),
            ("quantile 0.9", high[step]),
        ):
            assert float(row[name]) == pytest.approx(mean + std * z, rel=1e-5)


def test_a_picture_from_zero_to_one(
    train_run: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "user_cache", lambda: tmp_path / "cache")
    draw = np.random.default_rng(0)
    for k in range(30):
        place = tmp_path / "images" / "ab"[k % 2]
        place.mkdir(parents=True, exist_ok=True)
        pixels = draw.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{k}.png")
    images = tmp_path / "images"
    run = train_run("cnn", tmp_path / "run", images=str(images), epochs=1, filters=(4,))
    program, answers = Exported(run), predicted(run, images, tmp_path)
    assert program.input["range"] == [0.0, 1.0]
    assert program.input["channels"] == ["red", "green", "blue"]
    for row in answers:
        (path,) = images.rglob(Path(row["input"]).name)
        x = np.asarray(Image.open(path)).transpose(2, 0, 1) / 255
        logits = program(x[None])[0].astype(float)
        p = np.exp(logits) / np.exp(logits).sum()
        assert float(row["p(b)"]) == pytest.approx(p[1], abs=1e-5)


def test_logits_of_a_language_model_are_called_so(train_run: Train, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the quick brown fox jumps over the lazy dog. " * 30)
    sizes = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "context_length": 16}
    run = train_run("gpt", tmp_path / "run", text=str(tmp_path / "text.txt"), epochs=1, **sizes)
    export(run, "state-dict")
    described = json.loads((run.folder / "export/state-dict/model.json").read_text("utf-8"))
    assert described["output"]["meaning"].startswith("logit of every token as the next one")
