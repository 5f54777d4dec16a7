"""Damaged, edited and unwritable run folders: refused in one sentence, or as if nothing were."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.registry import find
from chainrule.runs import folder as files
from chainrule.runs.configuration import configure
from chainrule.runs.identity import fingerprint
from chainrule.runs.overview import summarize
from chainrule.runs.run import Run
from chainrule.training import checkpoint
from chainrule.training import files as writes
from chainrule.training.state import LAST

FIRST = "to be or not to be, that is the question. " * 10
GPT = {"context_length": 8, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "epoch_steps": 2}


def new_run(folder: Path, name: str = "moons-mlp", **values: Any) -> Run:
    entry = find("recipes", name)
    small = {"num_samples": 60} if name == "moons-mlp" else {}
    configuration = configure(entry.load().Recipe, {"epochs": 2} | small | values)
    return Run.create(entry, configuration, folder)


def stopped_after_an_epoch(run: Run) -> Run:
    steps = run.train("cpu")
    next(now for now in steps if now.record)
    steps.close()
    return run


def edited(path: Path, change: Callable[[dict[str, Any]], object], unsigned: bool = False) -> None:
    """Change a JSON file; unsigned: as if an older version, without checksums, had written it."""
    content = json.loads(path.read_text("utf-8"))
    if unsigned:
        del content["checksum"]
    change(content)
    path.write_text(json.dumps(content), "utf-8")


def without_fingerprints(content: dict[str, Any]) -> None:
    if "content" in content:
        del content["content"], content["settings"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = new_run(tmp_path_factory.mktemp("finished") / "run")
    list(run.train("cpu", pictures=False))
    return run.folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


@pytest.mark.parametrize("swap", [("to", "ot"), ("question", "quesiton")])
def test_a_resumed_run_on_an_edited_text_is_refused(swap: tuple[str, str], tmp_path: Path) -> None:
    text = tmp_path / "my.txt"
    text.write_text(FIRST)
    run = stopped_after_an_epoch(new_run(tmp_path / "run", "gpt", text=str(text), **GPT))
    text.write_text(FIRST.replace(*swap, 1))
    with pytest.raises(InputError, match=r"the data have changed .* \(content differ\)"):
        next(Run.load(run.folder).train("cpu"))
    text.write_text(FIRST)
    list(Run.load(run.folder).train("cpu", pictures=False))


def test_a_resumed_run_on_other_rows_of_the_same_size_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [f"{k % 7},{k % 5},{'yes' if k % 3 else 'no'}" for k in range(60)]
    table.write_text("\n".join(["a,b,y", *rows]))
    run = new_run(tmp_path / "run", "mlp", table=str(table), target="y")
    stopped_after_an_epoch(run)
    table.write_text("\n".join(["a,b,y", rows[1], rows[0], *rows[2:]]))
    with pytest.raises(InputError, match="the data have changed"):
        next(Run.load(run.folder).train("cpu"))


@pytest.mark.parametrize(
    ("unsigned", "told"),
    [(False, r"config\.json was edited or is damaged"), (True, "the settings have changed")],
)
def test_a_resumed_run_with_edited_settings_is_refused(
    unsigned: bool, told: str, tmp_path: Path
) -> None:
    run = stopped_after_an_epoch(new_run(tmp_path / "run"))
    config = run.folder / "config.json"
    edited(config, lambda c: c["settings"].update(activation="sigmoid"), unsigned)
    with pytest.raises(InputError, match=told):
        next(Run.load(run.folder).train("cpu"))


def test_the_fingerprint_sees_every_value_and_no_path() -> None:
    x = torch.arange(6.0)
    parts = {"x": x, "words": ["a", "b"], "folder": Path("here")}
    same = fingerprint(parts | {"folder": Path("there")})
    assert fingerprint(parts) == same
    for other in ({"x": x.double()}, {"x": x.view(2, 3)}, {"x": x.flip(0)}, {"words": ["ab"]}):
        assert fingerprint(parts | other) != same


def test_files_of_the_version_before_checksums_are_read(copy: Path) -> None:
    wanted = Run.load(copy).evaluate()
    for name in ("config.json", "result.json", "data.json"):
        edited(copy / name, without_fingerprints, True)
    for path in (copy / "model.safetensors", copy / "checkpoints" / LAST):
        tensors, state = checkpoint.load(path)
        path.write_bytes(checkpoint.serialize(tensors, {"state": json.dumps(state)}))
    assert Run.load(copy).evaluate() == wanted
    assert summarize(copy).state == "finished"


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("config.json", lambda c: c.pop("device"), '"device" is missing'),
        ("config.json", lambda c: c.update(recipe=3), 'expected text as "recipe", got 3'),
        ("config.json", lambda c: c.update(settings=[]), 'expected an object as "settings"'),
        (
            "config.json",
            lambda c: c["settings"].update(epochs=2.5),
            'expected a whole number as "epochs", got 2.5',
        ),
        (
            "config.json",
            lambda c: c["settings"].update(hidden=["a"]),
            'expected a whole number as "hidden.0", got a',
        ),
        ("data.json", lambda c: c.update(shape=[-1]), 'as "shape.0", got -1'),
        ("data.json", lambda c: c.update(shape=[10**400]), 'as "shape.0", got 1000'),
        ("data.json", lambda c: c.update(classes="ab"), 'expected a list as "classes", got ab'),
        ("data.json", lambda c: c.update(encoder={"kind": "table"}), '"encoder" cannot be'),
        ("result.json", lambda c: c.pop("metrics"), '"metrics" is missing'),
        (
            "result.json",
            lambda c: c["metrics"]["test"].update(loss="low"),
            'expected a number or null as "metrics.test.loss", got low',
        ),
    ],
)
def test_a_value_of_another_form_is_named(
    copy: Path, name: str, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    edited(copy / name, change, unsigned=True)
    with pytest.raises(InputError, match=name.replace(".", r"\.")) as caught:
        run = Run.load(copy)
        assert run.summary and run.evaluate() and run.result
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"3",
        b"null",
        b"\xff\xfe",
        b"[" * 10**5,
        b"[1," * 40,
        b"9" * 10**4,
        b'{"a": NaN}',
        b'{"a": 1e999}',
    ],
)
@pytest.mark.parametrize("name", ["config.json", "data.json", "result.json", "metrics.jsonl"])
def test_a_file_that_is_no_such_json_is_refused(copy: Path, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content + b"\n")
    with pytest.raises(InputError, match=name.replace(".", r"\.")) as caught:
        run = Run.load(copy)
        run.evaluate()
        assert run.result and run.history
    assert "\n" not in str(caught.value)


@given(
    name=st.sampled_from(["config.json", "data.json", "result.json", "model.safetensors"]),
    place=st.integers(0, 10**6),
    value=st.integers(0, 255),
)
def test_no_changed_byte_changes_a_metric_without_a_word(
    finished: Path, name: str, place: int, value: int
) -> None:
    path = finished / name
    before = path.read_bytes()
    content = bytearray(before)
    content[place % len(content)] = value
    path.write_bytes(content)
    try:
        run = Run.load(finished)
        assert run.evaluate() == run.result["metrics"]
    except InputError as error:
        assert name in str(error)
    finally:
        path.write_bytes(before)


def test_weights_that_are_not_finite_are_refused_by_name(copy: Path) -> None:
    path = copy / "model.safetensors"
    tensors, state = checkpoint.load(path)
    tensors["layers.0.weight"][0, 0] = torch.nan
    checkpoint.save(path, tensors, state)
    with pytest.raises(InputError, match=r"its weights layers\.0\.weight are not finite"):
        Run.load(copy).evaluate()
    words = ["train", "moons-mlp", "--from", str(copy), "--num-samples", "60", "--quiet"]
    assert main([*words, "--out", str(copy.with_name("next"))]) == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
def test_a_failed_write_says_what_is_safe_and_how_to_go_on(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped_after_an_epoch(new_run(tmp_path / "run"))
    assert run.folder.is_dir()

    def failing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    steps = Run.load(run.folder).train("cpu", pictures=False)
    next(steps)
    with monkeypatch.context() as patch:
        patch.setattr(writes.os, "fsync", failing)
        with pytest.raises(InputError) as caught:
            list(steps)
    said = str(caught.value)
    assert said.startswith(f"cannot write {run.folder}")
    assert writes.reason(OSError(number, os.strerror(number))) in said
    assert "all up to epoch 1 is saved; when there is room and permission, go on with: " in said
    assert f"chainrule resume {run.folder}" in said
    list(Run.load(run.folder).train("cpu", pictures=False))


def test_metrics_that_cannot_be_written_end_the_run_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(tmp_path / "run")
    (run.folder / "metrics.jsonl").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*metrics\.jsonl: .*nothing was learned"):
        list(run.train("cpu"))
    assert (run.folder / "config.json").exists()
    assert not files.is_empty(run.folder)
