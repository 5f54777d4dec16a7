"""The contract of a model file, checked for every file in the folder."""

import re

import pytest
import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from chainrule.registry import Entry, entries

MODELS = entries("models") + entries("environments")
every_model = pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry.name)


def build(entry: Entry, seed: int = 0) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(seed)
    return entry.load().example()


def run(model: nn.Module, x: Tensor, seed: int = 1) -> Tensor:
    torch.manual_seed(seed)
    return model(x)


def hidden_state(model: nn.Module) -> dict[str, set[str]]:
    """The names of everything each module holds."""
    return {
        name: {*vars(part), *part._parameters, *part._buffers, *part._modules}
        for name, part in model.named_modules()
    }


def test_the_folder_holds_models() -> None:
    assert {"perceptron", "hopfield", "mlp"} <= {entry.name for entry in MODELS}


@every_model
def test_the_docstring_gives_equation_paper_and_place_in_the_notes(entry: Entry) -> None:
    title, *rest = entry.docstring.splitlines()
    assert title.endswith(".") and rest[0] == ""
    assert any(re.match(r"    .*[=≥≤←]", line) for line in rest), "no indented equation"
    assert re.search(r"\b1[89]\d\d\b|\b20\d\d\b", entry.docstring), "no year"
    assert re.search(r"Notes: [JAL] ", entry.docstring), "no place in the notes"


@every_model
def test_the_file_fits_a_reader(entry: Entry) -> None:
    assert len(entry.path.read_text("utf-8").splitlines()) <= 250


@every_model
def test_the_example_runs_and_is_finite(entry: Entry) -> None:
    model, x = build(entry)
    output = run(model, x)
    assert len(output) == len(x)
    assert output.isfinite().all()


@every_model
def test_every_parameter_gets_a_finite_gradient(entry: Entry) -> None:
    model, x = build(entry)
    learned = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if not learned:
        pytest.skip("learns by its own rule")
    run(model, x).square().sum().backward()
    for name, parameter in learned.items():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name


@every_model
def test_the_seed_decides_everything(entry: Entry) -> None:
    (model, x), (again, x_again) = build(entry), build(entry)
    assert torch.equal(x, x_again)
    assert torch.equal(run(model, x), run(again, x))


@every_model
def test_the_state_survives_saving_and_loading(entry: Entry) -> None:
    model, x = build(entry)
    other, _ = build(entry, seed=7)
    other.load_state_dict(load(save(model.state_dict())), strict=True)
    assert torch.equal(run(model.eval(), x), run(other.eval(), x))


@every_model
def test_the_state_is_all_that_was_learned(entry: Entry) -> None:
    model, _ = build(entry)
    assert model.state_dict(), "nothing would be saved"


@every_model
def test_a_forward_pass_hides_nothing_on_the_model(entry: Entry) -> None:
    model, x = build(entry)
    before, x_before = hidden_state(model), x.clone()
    run(model, x)
    assert hidden_state(model) == before
    assert torch.equal(x, x_before), "the input was changed"


@every_model
def test_examples_do_not_see_each_other(entry: Entry) -> None:
    model, x = build(entry)
    model.eval()
    torch.testing.assert_close(run(model, x[:1]), run(model, x)[:1])
