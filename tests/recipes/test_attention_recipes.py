"""Recipes of the attention chapter on small data: writing, translating, looking."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from test_text_recipes import captions

from chainrule.cli.main import main
from chainrule.data import Split, Splits
from chainrule.data.datasets import mnist, tiny_shakespeare
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.text_file import encode_characters, text_file
from chainrule.data.text.vocabulary import character_vocabulary
from chainrule.errors import InputError
from chainrule.models.attention.transformer import Transformer
from chainrule.models.attention.vit import ViT
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.recipes.attention import (
    cifar10_vit,
    fashion_vit,
    gpt,
    mnist_vit,
    multi30k_transformer,
    shakespeare_gpt,
    shakespeare_gpt_half_hour,
)
from chainrule.recipes.families.translation import Likelihood, aligned
from chainrule.recipes.families.vit import firsts
from chainrule.runs.recipe import Task
from chainrule.runs.run import begin, build, carry_on

TEXT = "Wer reitet so spät durch Nacht und Wind?\nEs ist der Vater mit seinem Kind.\n" * 40
DIGITS = tuple("0123456789")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A writer of a text of one's own, a translator and two networks that look."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "my.txt").write_text("\ufeff" + TEXT, "utf-8")
    sizes = {"width": 16, "depth": 2, "heads": 2}
    recipes = {
        "gpt": gpt.Recipe(
            text=str(folder / "my.txt"), context=16, epochs=3, epoch_steps=60, **sizes
        ),
        "multi30k-transformer": multi30k_transformer.Recipe(
            epochs=25, batch_size=10, dropout=0.0, hidden=32, learning_rate=1e-2, **sizes
        ),
        "mnist-vit": mnist_vit.Recipe(
            epochs=60, batch_size=20, patch=7, learning_rate=5e-3, shift=0.0, **sizes
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainrule.recipes.families.language_model.WRITTEN", 30)
        patch.setattr(multi30k_transformer.Recipe, "data", lambda self, folder: captions())
        patch.setattr(mnist, "load", lambda *_: spots(1, 28))
        for name, recipe in recipes.items():
            begin(name, recipe, folder / name)
            for _ in carry_on(folder / name, "cpu"):
                pass
    return folder


def spots(channels: int, side: int) -> Splits:
    """Images with one bright square: its place among ten is the class."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(80) % 10
    x = 0.2 * torch.rand(80, channels, side, side, generator=generator)
    for image, k in zip(x, y.tolist(), strict=True):
        top, left = 7 * (k // 4), 7 * (k % 4)
        image[:, top : top + 7, left : left + 7] += 0.8
    part = Split(x, y)
    encoder = ImageEncoder(size=side, channels=channels, invert_bright=False)
    return Splits(part, part, part, DIGITS, encoder)


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(shlex.split(command)) == 0
    return capsys.readouterr().out


def refusal(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(shlex.split(command)) == 2
    return " ".join(capsys.readouterr().err.split())


def figures(run: Path) -> dict:
    return json.loads((run / "result.json").read_text("utf-8"))["metrics"]


# GPT on a text


def test_a_text_of_ones_own_is_learned_and_continued(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures(runs / "gpt")["validation"]["loss"] < 1.5  # of 3.4 at first
    run = f"generate {runs / 'gpt'} --prompt 'Wer ' --length 40"
    first, again, other = (answer(f"{run} --seed {seed}", capsys) for seed in (1, 1, 2))
    assert first == again != other
    assert first.startswith("Wer ") and len(first) == len("Wer \n") + 40
    assert answer(f"generate {runs / 'gpt'} --length 3", capsys).startswith("\n")
    sure = answer(f"{run} --temperature 0", capsys)
    assert sure == answer(f"{run} --top-k 1 --seed 3", capsys)
    assert sure == answer(f"{run} --top-p 0.01 --seed 3", capsys)
    chosen = answer(f"{run} --seed 2 --temperature 3 --top-k 4 --top-p 0.5", capsys)
    assert chosen != answer(f"{run} --seed 2 --temperature 3", capsys)
    again = json.loads(answer(f"evaluate {runs / 'gpt'} --json", capsys))
    assert again["metrics"] == figures(runs / "gpt")


def test_what_a_run_of_gpt_leaves(runs: Path) -> None:
    run = runs / "gpt"
    samples = (run / "samples.txt").read_text("utf-8")
    assert [f"temperature {t}" in samples for t in ("0.5", "0.8", "1")] == [True] * 3
    for name in ("attention", "positions", "surprise", "learning"):
        assert (run / f"{name}.png").stat().st_size > 5_000, name


def test_gpt_refuses_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes("spät ".encode("latin-1") * 1000)
    Path("empty.txt").write_text(" \n\n")
    Path("short.txt").write_text("To be, or not to be." * 16)
    for flags, words in (
        ("--text absent.txt", "absent.txt: No such file"),
        ("--text .", "Is a directory"),
        ("--text latin.txt", "is not a text file in UTF-8"),
        ("--text empty.txt", "is empty; expected text"),
        ("--text short.txt", "has 320 characters; expected at least 2,580"),
        ("--text short.txt --context 16", "at least 340, as a twentieth"),
        ("--text short.txt --context 8 --heads 3", "a positive multiple of"),
    ):
        assert words in refusal(f"train gpt {flags} --out new", capsys), flags
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
    assert (recipe.context, recipe.batch_size, recipe.epochs * recipe.epoch_steps) == (64, 12, 2000)
    assert (recipe.depth, recipe.heads, recipe.width, recipe.dropout) == (4, 4, 128, 0.0)
    assert (recipe.beta_2, recipe.weight_decay, recipe.clip) == (0.99, 0.1, 1.0)
    model = recipe.model(Task((65,)))
    blocks = 4 * (12 * 128**2 + 13 * 128)
    assert sum(p.numel() for p in model.parameters()) == blocks + (65 + 64 + 2) * 128
    larger = shakespeare_gpt_half_hour.Recipe()
    assert larger.context > recipe.context and larger.width > recipe.width


def test_the_last_tenth_is_validation_and_test_together(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = shakespeare_gpt.Recipe(context=8, width=8, depth=1, heads=2)
    tokens = torch.randint(7, (3, 161), generator=torch.Generator().manual_seed(0))
    parts = [Split(row[:-1], row[1:]) for row in tokens]
    monkeypatch.setattr(tiny_shakespeare, "load", lambda *_: Splits(*parts, tuple("abcdefg")))
    data = recipe.data(None)
    model = build(recipe, Task((7,)))
    found = recipe.measure(model, data)
    x, y = (torch.cat(t).view(40, 8) for t in zip(parts[1], parts[2], strict=True))
    with torch.no_grad():
        both = F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    assert found["validation"]["last_tenth"] == pytest.approx(both, rel=1e-5)
    assert found["validation"]["loss"] != pytest.approx(found["test"]["loss"], rel=1e-4)


def test_surprise_is_that_after_a_whole_context() -> None:
    recipe = gpt.Recipe(text="my.txt", context=5, width=8, depth=1, heads=2)
    torch.manual_seed(0)
    model = recipe.model(Task((9,))).eval()
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
        "chainrule.recipes.families.language_model.Language.pictures", lambda *_: {}
    )
    monkeypatch.setattr("chainrule.plots.attention.positional_encoding", lambda *_: None)
    monkeypatch.setattr(
        "chainrule.plots.attention.text_attention",
        lambda weights, tokens: drawn.update(weights=weights, tokens=tokens),
    )
    recipe = gpt.Recipe(text="my.txt", context=8, width=8, depth=2, heads=2)
    vocabulary = character_vocabulary(text)
    tokens = torch.tensor(vocabulary.encode(text))
    part = Split(tokens, tokens)
    recipe.pictures(
        recipe.model(Task((len(vocabulary),))), Splits(part, part, part, vocabulary.tokens)
    )
    assert "".join(drawn["tokens"]) == shown
    assert drawn["weights"].shape == (2, 2, 8, 8)


# Transformer


def test_a_transformer_learns_to_translate_word_for_word(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs / "multi30k-transformer"
    assert figures(run)["test"]["bleu"] > 80
    entries = (run / "translations.txt").read_text("utf-8").split("\n\n")
    german, _, ours = entries[0].strip().split("\n")
    found = json.loads(answer(f"predict {run} {shlex.quote(german)} --json", capsys))
    assert found["predictions"] == [{"input": german, "prediction": ours}]
    for name in ("alignment", "heads", "positions", "bleu-by-length"):
        assert (run / f"{name}.png").stat().st_size > 5_000, name


def test_alignments_skip_what_was_not_translated_and_padding() -> None:
    data = captions()
    asked = []

    def weights(source: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        asked.append((source, previous))
        return torch.ones(previous.shape[1], source.shape[1])

    found = aligned(data, ["a dog", "", "red"], weights)
    assert [english for _, english, _ in found] == [["a", "dog"], ["red"]]
    assert [A.shape[0] for _, _, A in found] == [2, 1]
    assert all((source != 0).all() for source, _ in asked)
    assert [previous[0, 0].item() for _, previous in asked] == [2, 2]


def test_labels_are_smoothed_word_by_word_in_training_alone() -> None:
    data = captions()
    torch.manual_seed(0)
    model = Transformer(10, 10, 8, 1, 2, 8, dropout=0.0)
    source, target = (t[:6] for t in data.train)
    plain, smoothed = Likelihood(model), Likelihood(model, 0.1)
    log_p = model(source, target[:, :-1]).log_softmax(-1)
    wanted = target[:, 1:]
    words = (wanted != 0).float()
    truth = (words * log_p.gather(2, wanted[..., None])[..., 0]).sum(1)
    torch.testing.assert_close(plain.train()(source, target), truth)
    mixed = 0.9 * truth + 0.1 * (words * log_p.mean(2)).sum(1)
    torch.testing.assert_close(smoothed.train()(source, target), mixed)
    torch.testing.assert_close(smoothed.eval()(source, target), truth)


# ViT


def test_a_vision_transformer_learns_and_shows_where_it_looks(runs: Path) -> None:
    run = runs / "mnist-vit"
    assert figures(run)["train"]["accuracy"] > 0.5  # of 0.1 by chance
    for name in ("confusion", "rollout", "heads", "positions"):
        assert (run / f"{name}.png").stat().st_size > 5_000, name


def test_of_an_ensemble_the_first_member_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {}
    monkeypatch.setattr("chainrule.runs.recipe.Trained.pictures", lambda *_: {})
    for name in ("attention_rollout", "attention_heads", "positional_encoding"):
        monkeypatch.setattr(
            f"chainrule.plots.attention.{name}",
            lambda *arguments, name=name: drawn.update({name: arguments}),
        )
    recipe = cifar10_vit.Recipe(patch=8, width=8, depth=2, heads=2, members=2)
    data = spots(3, 32)
    model = build(recipe, Task((3, 32, 32), DIGITS))
    assert isinstance(model, Ensemble)
    recipe.pictures(model, data)
    together = drawn.copy()
    recipe.pictures(model.members[0], data)
    images, looked, named = drawn["attention_rollout"]
    assert images.shape == (8, 32, 32, 3) and looked.shape == (8, 4, 4)
    assert list(named) == list("01234567")
    assert drawn["attention_heads"][1].shape == (2, 2, 4, 4)
    assert (together["attention_rollout"][1] == looked).all()
    vit = model.members[0].inner
    seen = vit.attention_rollout(
        (data.test.x[:8] - model.members[0].mean) / model.members[0].spread
    )
    torch.testing.assert_close(torch.from_numpy(looked), seen)


@pytest.mark.parametrize(
    ("kind", "shape", "patches"),
    [
        (mnist_vit, (1, 28, 28), 49),
        (fashion_vit, (1, 28, 28), 49),
        (cifar10_vit, (3, 32, 32), 64),
    ],
)
def test_every_patch_has_its_place(kind, shape: tuple[int, ...], patches: int) -> None:
    recipe = kind.Recipe()
    model = build(recipe, Task(shape, DIGITS))
    (vit,) = (part for part in model.modules() if isinstance(part, ViT))
    assert len(vit.positions.weight) == patches + 1
    x = torch.rand(2, *shape)
    torch.manual_seed(0)
    moved = recipe.objective(spots(shape[0], shape[1])).augment(x)
    assert moved.shape == x.shape and not torch.equal(moved, x)
    with torch.no_grad():
        assert model.eval()(x).shape == (2, 10)
    with pytest.raises(InputError, match="multiple of patch_size"):
        replace(recipe, patch=5).model(Task(shape, DIGITS))


def test_the_first_example_of_each_of_some_classes() -> None:
    assert firsts(torch.tensor([4, 4, 1, 0, 1, 9])) == [3, 2, 0, 5]
    assert len(firsts(torch.arange(20))) == 8
