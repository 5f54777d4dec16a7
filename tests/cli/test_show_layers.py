"""`chainrule show MODEL`: the table of layers, on a screen of 80 columns and as JSON."""

import json

import pytest

from chainrule.cli.main import main
from chainrule.console.output import flowing
from chainrule.console.tables import folded
from chainrule.registry import entries


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_table_of_lenet(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in printed(capsys, "show", "lenet").splitlines()]
    assert ["conv2", "Conv2d", "16×10×10", "2,416", "240,000"] in rows
    assert ["all", "5", "layers", "61,706", "416,520"] in rows


def test_many_layers_share_rows_on_the_screen_and_none_in_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "show", "resnet")
    assert "layer2.0   5 layers" in text and "layer2.0.conv1" not in text
    assert "269,722" in text
    model = json.loads(printed(capsys, "show", "resnet", "--json"))["models"]
    assert (model["parameters"], model["multiply_adds"]) == (269_722, 40_551_040)
    named = {layer["name"]: layer for layer in model["layers"]}
    assert named["layer2.0.conv1"]["output"] == [32, 16, 16]


def test_long_names_go_on_in_the_next_line_from_a_dot_on() -> None:
    assert folded("blocks.0.attention") == "blocks.0.attention"
    assert folded("blocks.0.attention.output") == "blocks.0.attention\n .output"
    assert folded("without_a_dot_in_a_very_long_name") == "without_a_dot_in_a_very_long_name"


def test_paragraphs_flow_and_equations_stay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "one two three\nfour\n\n    y = f(x)     a long remark\n\nfive six\n"
    assert flowing(text, 9) == "one two\nthree\nfour\n\n    y = f(x)     a long remark\n\nfive six"
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys, "show", "multi30k-transformer").splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "name", [entry.name for entry in entries("models") if entry.chapter == "convolution"]
)
def test_tables_fit_the_screen(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys, "show", name).split(f"\n{name}  (")[0].splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["layer", "kind"])
    assert len(lines) - start <= 36
    assert max(map(len, lines[start:])) <= 80
    assert all("…" not in line for line in lines[start:])
