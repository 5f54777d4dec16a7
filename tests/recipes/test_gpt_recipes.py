"""GPT on a text: what it learns, writes and refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from chainrule.data import Split, Splits
from chainrule.data.datasets import tiny_shakespeare
from chainrule.data.readers.texts.text_file import encode_characters, text_file
from chainrule.data.text.vocabulary import character_vocabulary
from chainrule.recipes.attention import gpt, shakespeare_gpt, shakespeare_gpt_half_hour
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Predictions
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, build

TEXT = "Wer reitet so spät durch Nacht und Wind?\nEs ist der Vater mit seinem Kind.\n" * 40
TINY = {"hidden_size": 8, "num_layers": 1, "num_heads": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, train_run: Callable[..., Run]) -> Run:
    """A model of a text of one's own."""
    folder = tmp_path_factory.mktemp("gpt")
    (folder / "my.txt").write_text("\ufeff" + TEXT, "utf-8")
    sizes = {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "context_length": 16}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainrule.recipes.families.language_model.SAMPLE_LENGTH", 30)
        text = str(folder / "my.txt")
        return train_run("gpt", folder / "run", text=text, epochs=3, epoch_steps=60, **sizes)


def test_a_text_of_ones_own_is_learned_and_continued(
    run: Run, answer: Callable[[str], str]
) -> None:
    assert run.result["metrics"]["validation"]["loss"] < 1.5  # of 3.4 at first
    command = f"generate {run.folder} --prompt 'Wer ' --length 40"
    first, again, other = (answer(f"{command} --seed {seed}") for seed in (1, 1, 2))
    assert first == again != other
    assert first.startswith("Wer ") and len(first) == len("Wer \n") + 40
    assert answer(f"generate {run.folder} --length 3").startswith("\n")
    sure = answer(f"{command} --temperature 0")
    assert sure == answer(f"{command} --top-k 1 --seed 3")
    assert sure == answer(f"{command} --top-p 0.01 --seed 3")
    chosen = answer(f"{command} --seed 2 --temperature 3 --top-k 4 --top-p 0.5")
    assert chosen != answer(f"{command} --seed 2 --temperature 3")
    again = json.loads(answer(f"evaluate {run.folder} --json"))
    assert again["metrics"] == run.result["metrics"]


def test_what_a_run_of_gpt_leaves(run: Run) -> None:
    samples = (run.folder / "samples.txt").read_text("utf-8")
    assert [f"temperature {t}" in samples for t in ("0.5", "0.8", "1")] == [True] * 3
    for name in ("attention", "positions", "surprise", "learning"):
        assert (run.folder / f"{name}.png").stat().st_size > 5_000, name


def test_gpt_refuses_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Callable[[str], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes("spät ".encode("latin-1") * 1000)
    Path("empty.txt").write_text(" \n\n")
    Path("none").mkdir()
    Path("short.txt").write_text("To be, or not to be." * 16)
    for flags, words in (
        ("--text absent.txt", "there is no file"),
        ("--text none", "none holds no .txt files"),
        ("--text latin.txt", "is not a text file in UTF-8"),
        ("--text empty.txt", "is empty; expected text"),
        ("--text short.txt", "has 320 characters; expected at least 2,580"),
        ("--text short.txt --context-length 16", "expected at least 340"),
        ("--text short.txt --context-length 8 --num-heads 3", "must be a multiple of"),
    ):
        assert words in refusal(f"train gpt {flags} --out new"), flags
        assert not Path("new").exists()


def test_a_text_is_cut_in_three_and_numbered_as_its_vocabulary_says(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"
    path.write_text("\ufeff" + TEXT[:1001] + "🜁\r\n", "utf-8")
    data = text_file(path)
    parts = [torch.cat([part.x, part.y[-1:]]) for part in (data.train, data.validation, data.test)]
    assert [len(part) for part in parts] == [903, 50, 50]
    assert data.encoder.decode(torch.cat(parts).tolist()) == TEXT[:1001] + "🜁\n"
    assert torch.equal(data.train.x[1:], data.train.y[:-1])
    whole = TEXT[:1001] + "🜁\n"
    assert encode_characters(whole, data.encoder).tolist() == data.encoder.encode(whole)


def test_the_setting_is_nanogpts() -> None:
    recipe = shakespeare_gpt.Recipe()
    settings = recipe.settings
    assert (recipe.context_length, settings.batch_size) == (64, 12)
    assert settings.epochs * recipe.epoch_steps == 2000
    sizes = recipe.num_layers, recipe.num_heads, recipe.hidden_size
    assert (*sizes, recipe.dropout) == (4, 4, 128, 0.0)
    assert (settings.beta2, settings.weight_decay, settings.clip_norm) == (0.99, 0.1, 1.0)
    model = recipe.model(DataSummary(vocab_sizes=(65,)))
    blocks = 4 * (12 * 128**2 + 13 * 128)
    assert sum(p.numel() for p in model.parameters()) == blocks + (65 + 64 + 2) * 128
    larger = shakespeare_gpt_half_hour.Recipe()
    assert larger.context_length > recipe.context_length
    assert larger.hidden_size > recipe.hidden_size


def test_the_last_tenth_is_validation_and_test_together(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = shakespeare_gpt.Recipe(context_length=8, **TINY)
    tokens = torch.randint(7, (3, 161), generator=torch.Generator().manual_seed(0))
    parts = [Split(row[:-1], row[1:]) for row in tokens]
    monkeypatch.setattr(tiny_shakespeare, "load", lambda *_: Splits(*parts, tuple("abcdefg")))
    data = recipe.data(None)
    model = build(Configuration(recipe), DataSummary(vocab_sizes=(7,)))
    found = recipe.evaluate(Predictions(recipe, model, data))
    x, y = (torch.cat(t).view(40, 8) for t in zip(parts[1], parts[2], strict=True))
    with torch.no_grad():
        both = F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    assert found["validation"]["last_tenth"] == pytest.approx(both, rel=1e-5)
    assert found["validation"]["loss"] != pytest.approx(found["test"]["loss"], rel=1e-4)


def test_surprise_is_that_after_a_whole_context() -> None:
    recipe = gpt.Recipe(text="my.txt", context_length=5, **TINY)
    torch.manual_seed(0)
    model = recipe.model(DataSummary(vocab_sizes=(9,))).eval()
    x = torch.randint(9, (100,))
    found = recipe.nats(model, x[:-1], x[1:])
    assert found.shape == (95,)
    for row in (0, 50, 94):
        p = model(x[None, row : row + 5])[0, -1].log_softmax(-1)[x[row + 5]]
        assert found[row].item() == pytest.approx(-p.item(), rel=1e-4)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ab cd\nef\tgh ij kl", "ef⇥gh·ij"),
        ("abcdefgh\n", "abcdefgh"),
        ("abcdefg\n", "abcdefg↵"),
    ],
)
def test_attention_is_drawn_from_the_beginning_of_a_line(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = {}
    monkeypatch.setattr(
        "chainrule.recipes.families.language_model.surprise_figure", lambda *_: None
    )
    monkeypatch.setattr("chainrule.plots.attention.positional_encoding", lambda *_: None)
    monkeypatch.setattr(
        "chainrule.plots.attention.text_attention",
        lambda weights, tokens: drawn.update(weights=weights, tokens=tokens),
    )
    recipe = gpt.Recipe(text="my.txt", context_length=8, **TINY | {"num_layers": 2})
    vocabulary = character_vocabulary(text)
    tokens = torch.tensor(vocabulary.encode(text))
    part = Split(tokens, tokens)
    model = recipe.model(DataSummary(vocab_sizes=(len(vocabulary),)))
    data = Splits(part, part, part, vocabulary.tokens, encoder=vocabulary)
    recipe.figures(Predictions(recipe, model, data))
    assert "".join(drawn["tokens"]) == shown
    assert drawn["weights"].shape == (2, 2, 8, 8)
