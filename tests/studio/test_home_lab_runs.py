"""Home, lab and runs: what the page is told, and what a real browser shows."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from chainrule.errors import InputError
from chainrule.lab import check
from chainrule.registry import entries
from chainrule.runs.run import Run
from chainrule.studio import place
from chainrule.studio.activities import claim, portrait, prediction, recipe_form, training
from chainrule.studio.activities import run as watched
from chainrule.studio.activities import runs as all_runs
from chainrule.studio.entries import all_entries, described
from chainrule.studio.notes import section_titles, slips
from tests.studio.conftest import Studio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place.settle(tmp_path)
    return tmp_path


def drawn(view: Any) -> dict[str, Any]:
    """As the page gets it: what is no JSON raises."""
    return json.loads(json.dumps(view.draw(), allow_nan=False))


def test_entries_can_be_read() -> None:
    for entry in all_entries()[::12]:
        found = described(entry["kind"], entry["name"])
        assert found["paragraphs"], entry["name"]
        assert "".join(text for _, text in found["code"]).strip()


def test_the_slips_of_the_notes_stand_beside_what_shows_them() -> None:
    assert len(slips()) > 30 and section_titles()["J 1.2"] == "Perceptron"
    (slip,) = [s for s in described("claims", "novikoff")["slips"] if "theorem 1.3" in s["where"]]
    assert slip["right"] == "at most ⌊R²/γ²⌋"


@pytest.mark.parametrize("kind", ["models", "activations", "schedules"])
def test_an_entry_has_a_portrait(kind: str) -> None:
    for entry in [e for e in all_entries() if e["kind"] == kind][::7]:
        assert "facts" in drawn(next(portrait.run({"kind": kind, "name": entry["name"]})))


def test_a_data_set_shows_samples() -> None:
    digits = drawn(next(portrait.run({"kind": "data", "name": "digits"})))
    assert digits["samples"][0]["shape"] == [8, 8, 3]
    moons = drawn(next(portrait.run({"kind": "data", "name": "moons"})))
    assert len(moons["picture"]["points"]) == 2


def test_a_claim_is_measured_as_in_the_lab() -> None:
    activity = claim.run({"claim": "novikoff", "arguments": {"trials": 5, "seed": 3}})
    first = drawn(next(activity))
    assert [a["name"] for a in first["arguments"]] == ["trials", "examples", "seed"]
    assert all(a["help"] for a in first["arguments"])
    assert list(first["violations"])[:2] == ["broken", "(R/γ)^1.8"] and all(
        first["violations"].values()
    )
    found = drawn(activity.send(None))
    assert found["measured"] == pytest.approx(
        check("novikoff", trials=5, seed=3).verdict.measured, rel=1e-5
    )
    activity.send({"arguments": {"trials": 6}})
    assert drawn(activity.send(None))["details"]["trials"] == 6
    for violation, holds in {"broken": False, "(R/γ)^1.8": False, "(R/γ)^2.2": False}.items():
        activity.send({"violation": violation})
        assert drawn(activity.send(None))["holds"] == holds


def test_a_claim_can_be_measured_after_arguments_that_it_refused() -> None:
    activity = claim.run({"claim": "xor"})
    next(activity), next(activity), activity.send({"arguments": {"nothing": 1}})
    assert "nothing" in drawn(next(activity))["refused"]
    activity.send({})
    assert drawn(next(activity))["holds"]


@pytest.mark.parametrize("wrong", [{}, {"claim": "nothing"}, {"claim": "xor", "violation": 3}])
def test_a_claim_refuses_bad_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        next(claim.run(wrong))


def test_an_unknown_violation_is_refused() -> None:
    activity = claim.run({"claim": "xor", "violation": "one output weight × 0.8"})
    next(activity)
    assert "did you mean one output weight × 0.9" in drawn(next(activity))["refused"]


def test_a_form_has_every_setting_of_every_recipe() -> None:
    for entry in entries("recipes"):
        form = drawn(next(recipe_form.run({"recipe": entry.name})))
        assert form["fields"], entry.name
        for field in form["fields"]:
            assert field["help"], f"{entry.name}: {field['name']}"
            assert field["kind"] != "choice" or field["default"] in (*field["choices"], None)


def finished(settings: dict[str, Any]) -> list[dict[str, Any]]:
    return [drawn(view) for view in training.run(settings)]


def test_a_run_trained_in_the_page_is_that_of_the_shell(
    root: Path, train_run: Callable[..., Run], tmp_path: Path
) -> None:
    views = finished(
        {"recipe": "digits-mlp", "values": {"epochs": 2}, "lists": {"hidden": "16, 8"}}
    )
    assert views[-1] == {"run": "digits-mlp-1", "fraction": 1.0, "finished": True}
    theirs = train_run("digits-mlp", tmp_path / "other", epochs=2, hidden=(16, 8))
    mine = Run.load(root / "digits-mlp-1")
    assert mine.result["metrics"] == theirs.result["metrics"]


def test_a_run_is_stopped_saved_and_resumed(root: Path) -> None:
    activity = training.run({"recipe": "digits-mlp", "values": {"epochs": 3}})
    while "epoch" not in drawn(next(activity)):
        pass
    assert drawn(activity.send({"stop": True}))["stopped"] == "saved"
    with pytest.raises(StopIteration):
        next(activity)
    watching = all_runs.run({})
    (row,) = drawn(next(watching))["runs"]
    assert row["name"] == "digits-mlp-1" and not row["finished"]
    assert finished({"run": "digits-mlp-1"})[-1]["finished"]
    (row,) = drawn(next(watching))["runs"]
    assert row["finished"] and row["state"] == "finished"
    assert next(watching) is next(watching)  # nothing has changed, so nothing is sent


def test_a_run_that_nobody_trains_is_not_stopped(root: Path) -> None:
    finished({"recipe": "digits-mlp", "values": {"epochs": 1}})
    activity = watched.run({"names": ["digits-mlp-1"]})
    next(activity)
    assert "is not being trained now" in drawn(activity.send({"stop": "digits-mlp-1"}))["notice"]
    for wrong in ({"stop": "../digits-mlp-1"}, {"stop": 3}, {"kill": "digits-mlp-1"}):
        activity = watched.run({"names": ["digits-mlp-1"]})
        next(activity)
        with pytest.raises(InputError):
            activity.send(wrong)


def test_runs_are_compared_and_used(root: Path) -> None:
    finished({"recipe": "digits-mlp", "values": {"epochs": 1}})
    finished({"recipe": "digits-mlp", "values": {"epochs": 1, "seed": 1}})
    names = ["digits-mlp-1", "digits-mlp-2"]
    seen = drawn(next(watched.run({"names": names})))
    assert seen["comparison"]["settings"] == {"seed": ["0", "1"]}
    assert "learning.png" not in seen["runs"][0]["pictures"]  # of a single epoch
    assert "confusion.png" in seen["runs"][0]["pictures"]
    activity = prediction.run({"run": names[0]})
    assert drawn(next(activity))["takes"] == "files"
    from PIL import Image

    picture = Image.new("L", (16, 16), 0)
    picture.paste(255, (7, 2, 9, 14))
    picture.save(root / "digit.png")
    data = base64.b64encode((root / "digit.png").read_bytes()).decode()
    (answer,) = drawn(activity.send({"name": "digit.png", "data": data}))["answers"]
    theirs = Run.load(root / names[0]).predict(root / "digit.png")[0]
    assert answer["prediction"] == theirs["prediction"]
    large = base64.b64encode(bytes(200_000)).decode()
    assert "characters" not in drawn(activity.send({"name": "x.png", "data": large}))["refused"]
    for bad in ({"name": "x.png", "data": "AAAA"}, {"name": "x", "data": data}, {"text": "no"}):
        assert drawn(activity.send(bad))["refused"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"recipe": "nothing"},
        {"recipe": "digits-mlp", "values": {"epochs": "x"}},
        {"recipe": "digits-mlp", "values": {"unknown": 1}},
        {"recipe": "mlp", "values": {"table": "/etc/passwd", "target": "x"}},
        {"recipe": "mlp", "files": {"table": "../../x:AAAA"}, "values": {"target": "x"}},
        {"recipe": "mlp", "files": {"out": "csv:AAAA"}, "values": {"target": "x"}},
        {"recipe": "digits-mlp", "values": {"from_run": "../elsewhere"}},
        {"recipe": "bert-pretrain", "lists": {"text": "/etc/passwd"}},
        {"recipe": "dqn", "values": {"env": "os:CartPole-v1"}},
        {"recipe": "mlp", "files": {"table": "py:AAAA"}, "values": {"target": "x"}},
        {"run": "../elsewhere"},
        {"run": "."},
    ],
)
def test_no_path_of_a_page_is_followed(root: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        finished(wrong)
    assert not list(root.glob("*-1/config.json"))


def test_a_table_sent_by_the_page_is_trained_on(root: Path) -> None:
    rows = "\n".join(f"{k % 7},{k % 5},{'ab'[k % 2]}" for k in range(60))
    sent = "csv:" + base64.b64encode(f"u,v,y\n{rows}\n".encode()).decode()
    views = finished(
        {"recipe": "mlp", "values": {"target": "y", "epochs": 1}, "files": {"table": sent}}
    )
    assert views[-1]["finished"]


def test_home_is_searched_and_an_entry_read(page: Any, studio: Studio) -> None:
    page.goto(studio.address("home"))
    page.wait_for_selector(".chapter")
    page.fill("input[type=search]", "hopfield")
    assert page.locator(".chapter li").count() < 20
    assert "search=hopfield" in page.url
    page.fill("input[type=search]", "J 1.2")
    assert page.get_by_role("link", name="novikoff").count() == 1
    page.get_by_role("link", name="perceptron", exact=True).first.click()
    page.wait_for_selector("h1:has-text('perceptron')")
    page.wait_for_selector(".portrait .panel")
    assert page.locator(".code .k").count() > 5
    assert page.locator(".equation").count() >= 1


def test_a_claim_is_measured_with_other_arguments_and_presented(page: Any, studio: Studio) -> None:
    page.goto(studio.address("lab/novikoff"))
    page.wait_for_selector(".outcome .good")
    page.wait_for_selector(".outcome .bad")
    slider = page.get_by_label("trials", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_function("location.hash.includes('trials=1')")
    page.wait_for_selector("td:text-is('trials') + td:text-is('1')")
    page.get_by_label("Violation").select_option("(R/γ)^1.8")
    page.wait_for_function("location.hash.includes('violation=')")
    page.wait_for_selector(".outcome:has(select) .bad")
    page.locator("h1").click()
    page.keyboard.press("f")
    assert page.get_by_label("Violation").is_visible()
    assert page.evaluate("document.documentElement.classList.contains('present')")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".statement a:has-text('perceptron-lemmas')", state="attached")
    page.keyboard.press("Escape")
    assert not page.evaluate("document.documentElement.classList.contains('present')")


def test_a_recipe_is_trained_from_its_form(page: Any, studio: Studio) -> None:
    page.goto(studio.address("runs?recipe=moons-mlp"))
    page.get_by_label("epochs").first.fill("30")
    assert "--epochs 30" in page.locator(".command").inner_text()
    page.get_by_role("button", name="Train").click()
    page.wait_for_selector("text=finished")
    page.wait_for_selector("section:has(h2:text('Result'))")
    page.wait_for_selector(".pictures img")
    page.wait_for_selector("tr.chosen a:has-text('moons-mlp-1')")


def test_a_run_of_a_shell_is_stopped_from_the_page(page: Any, studio: Studio) -> None:
    words = ["train", "moons-mlp", "--epochs", "100000", "--no-pictures", "--out"]
    with subprocess.Popen(
        [sys.executable, "-m", "chainrule", *words, str(studio.runs / "shell")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as shell:
        try:
            while not (studio.runs / "shell" / "metrics.jsonl").exists():
                assert shell.poll() is None
                time.sleep(0.05)
            page.goto(studio.address("runs/shell"))
            page.get_by_role("button", name="Stop and save").click()
            page.get_by_role("button", name="Resume").wait_for()
            _, said = shell.communicate(timeout=60)
        finally:
            shell.kill()
    assert "saved in epoch" in said
