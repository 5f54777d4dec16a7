"""Exported runs give the network's outputs in other programs."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from chainrule.errors import InputError
from chainrule.runs.export import export, weights
from chainrule.runs.export.interface import Interface
from chainrule.runs.export.program import exporting
from chainrule.runs.run import Run

Train = Callable[..., Run]


@pytest.fixture(scope="module")
def digits(train_run: Train, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_run("digits-mlp", tmp_path_factory.mktemp("digits") / "run", epochs=1)


@pytest.fixture(scope="module")
def text(train_run: Train, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("text")
    (folder / "text.txt").write_text("the quick brown fox jumps over the lazy dog. " * 30)
    sizes = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "context_length": 16}
    return train_run("gpt", folder / "run", text=str(folder / "text.txt"), epochs=1, **sizes)


def test_onnx_runtime_gives_the_networks_outputs_for_any_number_of_rows(digits: Run) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    found = export(digits, "onnx")
    assert found.difference < 1e-4 and found.rows == 64
    session = onnxruntime.InferenceSession(digits.folder / "export/onnx/model.onnx")
    for rows in (1, 5):
        x = np.random.default_rng(0).random((rows, 1, 8, 8), np.float32)
        expected = digits.model(torch.from_numpy(x)).detach().numpy()
        assert np.allclose(session.run(None, {"input": x})[0], expected, atol=1e-4)
    described = json.loads(session.get_modelmeta().custom_metadata_map["chainrule"])
    assert described == json.loads((digits.folder / "export/onnx/model.json").read_text())
    wanted = {"name": "input", "shape": ["batch", 1, 8, 8], "type": "float32"}
    assert described["input"].items() >= wanted.items()
    assert described["input"]["range"] == [0.0, 1.0]
    assert described["classes"] == list("0123456789")


def test_an_exported_program_runs_without_the_code_of_the_model(digits: Run) -> None:
    found = export(digits, "torch-export")
    assert found.difference < 1e-5
    loaded = torch.export.load(digits.folder / "export/torch-export/model.pt2").module()
    x = torch.rand(3, 1, 8, 8)
    assert torch.allclose(loaded(x), digits.model(x), atol=1e-5)


def test_plain_weights_are_safetensors_under_the_models_own_names(digits: Run) -> None:
    from safetensors.torch import load_file

    assert export(digits, "state-dict").difference == 0
    tensors = load_file(digits.folder / "export/state-dict/model.safetensors")
    assert all(torch.equal(tensors[name], t) for name, t in digits.model.state_dict().items())


def test_transformers_reads_the_hub_folder_of_a_gpt(text: Run, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    assert export(text, "hub", tmp_path / "hub").difference == 0
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hub").eval()
    tokens = torch.randint(2, 20, (2, 9))
    assert torch.allclose(theirs(tokens).logits, text.model(tokens), atol=1e-5)


def test_a_text_model_is_exported_for_any_length(text: Run) -> None:
    pytest.importorskip("onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime")
    # In a process of its own: the shape checks of the tests do not know symbolic sizes.
    subprocess.run([sys.executable, "-m", "chainrule", "export", text.folder], check=True)
    session = onnxruntime.InferenceSession(text.folder / "export/onnx/model.onnx")
    tokens = torch.randint(2, 20, (3, 5))
    found = session.run(None, {"input": tokens.numpy()})[0]
    assert np.allclose(found, text.model(tokens).detach().numpy(), atol=1e-4)


def test_a_tagger_is_exported_with_its_padding(train_run: Train, tmp_path: Path) -> None:
    """Short sentences are cut to their length outside of an exported program, not within."""
    words = "".join(f"word{i % 9}\tN\nruns\tV\n{'fast' * (i % 2)}\tA\n\n" for i in range(40))
    (tmp_path / "tags.txt").write_text(words.replace("\n\tA", ""))
    sizes = {"hidden_size": 8, "num_layers": 1, "num_heads": 2, "model_name": "bert"}
    run = train_run("tagger", tmp_path / "run", conll=str(tmp_path / "tags.txt"), epochs=1, **sizes)
    command = [sys.executable, "-m", "chainrule", "export", run.folder, "--format", "torch-export"]
    subprocess.run(command, check=True)
    loaded = torch.export.load(run.folder / "export/torch-export/model.pt2").module()
    x = run.data().test.x
    expected = run.recipe.network_for(run.model)(x).detach()
    assert torch.allclose(loaded(x), expected, atol=1e-5)
    assert (expected[x == 0] == 0).all()


def test_a_model_without_a_published_form_is_refused_and_leaves_nothing(digits: Run) -> None:
    with pytest.raises(InputError, match=r"MLP has no published form.*state-dict"):
        export(digits, "hub")
    assert not (digits.folder / "export/hub").exists()
    assert not list(digits.folder.glob("export/.*"))


def test_steps_that_depend_on_the_input_are_refused_in_one_sentence(
    train_run: Train, tmp_path: Path
) -> None:
    """In a program of its own, since types are not checked there as in tests."""
    (tmp_path / "tags.txt").write_text("".join(f"word{i % 9}\tN\nruns\tV\n\n" for i in range(40)))
    sizes = {"embedding_dim": 4, "lstm_size": 4}
    run = train_run("tagger", tmp_path / "run", conll=str(tmp_path / "tags.txt"), epochs=1, **sizes)
    command = [sys.executable, "-m", "chainrule", "export", run.folder, "--format", "torch-export"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert " ".join(done.stderr.split()) == (
        "chainrule: tagger cannot be exported as one program: its steps depend on the values of "
        "its inputs, such as the lengths of sequences; its weights can: --format state-dict"
    )
    assert not (run.folder / "export" / "torch-export").exists()


def test_complex_numbers_are_left_to_torch_export() -> None:
    with (
        pytest.raises(InputError, match="complex numbers, which ONNX lacks"),
        exporting("forecast"),
    ):
        raise RuntimeError("No decompositions registered for the complex-valued input")


def test_a_folder_in_use_is_left_alone(digits: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        export(digits, "state-dict", tmp_path)
    with pytest.raises(InputError, match="did you mean onnx"):
        export(digits, "onyx")


def test_an_export_that_differs_is_refused(
    digits: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(given: Interface, folder: Path) -> float:
        weights.write(given, folder)
        return given.difference(given.y + 1)

    monkeypatch.setattr("chainrule.runs.export.FORMATS", {"onnx": wrong})
    with pytest.raises(InputError, match="differs from the network by 1"):
        export(digits, "onnx", tmp_path / "out")
    assert not (tmp_path / "out").exists()
