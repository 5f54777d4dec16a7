"""The transformer on small captions: it learns to translate, its alignments and its labels."""

import json
import shlex
from collections.abc import Callable

import pytest
import torch

from chainrule.data.datasets.multi30k import Captions
from chainrule.models.attention.transformer import Transformer
from chainrule.recipes.attention import multi30k_transformer
from chainrule.recipes.families.translation import Likelihood, aligned
from chainrule.runs.run import Run


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory, train_run: Callable[..., Run], captions: Captions
) -> Run:
    sizes = {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "feedforward_size": 32}
    quick = {"epochs": 25, "batch_size": 10, "dropout": 0.0, "learning_rate": 1e-2}
    folder = tmp_path_factory.mktemp("transformer") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multi30k_transformer.Recipe, "data", lambda self, folder: captions)
        return train_run("multi30k-transformer", folder, **sizes, **quick)


def test_a_transformer_learns_to_translate_word_for_word(
    run: Run, answer: Callable[[str], str]
) -> None:
    assert run.result["metrics"]["test"]["bleu"] > 80
    entries = (run.folder / "translations.txt").read_text("utf-8").split("\n\n")
    german, _, ours = entries[0].strip().split("\n")
    found = json.loads(answer(f"predict {run.folder} {shlex.quote(german)} --json"))
    assert found["predictions"] == [{"input": german, "prediction": ours}]
    for name in ("alignment", "heads", "positions", "bleu-by-length"):
        assert (run.folder / f"{name}.png").stat().st_size > 5_000, name


def test_alignments_skip_what_was_not_translated_and_padding(captions: Captions) -> None:
    asked = []

    def weights(source: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        asked.append((source, previous))
        return torch.ones(previous.shape[1], source.shape[1])

    found = aligned(captions, ["a dog", "", "red"], weights)
    assert [english for _, english, _ in found] == [["a", "dog"], ["red"]]
    assert [A.shape[0] for _, _, A in found] == [2, 1]
    assert all((source != 0).all() for source, _ in asked)
    assert [previous[0, 0].item() for _, previous in asked] == [2, 2]


def test_labels_are_smoothed_word_by_word_in_training_alone(captions: Captions) -> None:
    torch.manual_seed(0)
    model = Transformer(10, 10, 8, 1, 2, 8, dropout=0.0)
    source, target = (t[:6] for t in captions.train)
    plain, smoothed = Likelihood(model), Likelihood(model, 0.1)
    log_p = model(source, target[:, :-1]).log_softmax(-1)
    wanted = target[:, 1:]
    words = (wanted != 0).float()
    truth = (words * log_p.gather(2, wanted[..., None])[..., 0]).sum(1)
    torch.testing.assert_close(plain.train()(source, target), truth)
    mixed = 0.9 * truth + 0.1 * (words * log_p.mean(2)).sum(1)
    torch.testing.assert_close(smoothed.train()(source, target), mixed)
    torch.testing.assert_close(smoothed.eval()(source, target), truth)
