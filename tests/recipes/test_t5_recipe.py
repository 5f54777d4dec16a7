"""T5 on a repeating text: it writes what was cut out."""

import json
from collections.abc import Callable

import pytest

from chainrule.data.text.vocabulary import character_vocabulary
from chainrule.learning.span_corruption import SpanScheme
from chainrule.recipes.attention.shakespeare_t5 import Recipe
from chainrule.recipes.families.span_lm import spans
from chainrule.runs.run import Run

LINE = "lord, "
WORDS = character_vocabulary("abc")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, train_run: Callable[..., Run]) -> Run:
    import torch

    from chainrule.data.splits import Split, Splits
    from chainrule.data.text.encoders import TokenEncoder

    words = character_vocabulary(LINE)
    text = torch.tensor(words.encode(LINE * 800))
    rows = text[: len(text) // 24 * 24].view(-1, 24)
    part = Split(rows, torch.zeros(len(rows), dtype=torch.int64))
    data = Splits(part, part, part, encoder=TokenEncoder(words, 24))
    quick = {"hidden_size": 32, "num_layers": 1, "num_heads": 2, "length": 24}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recipe, "data", lambda self, folder: data)
        folder = tmp_path_factory.mktemp("t5") / "run"
        return train_run(
            "shakespeare-t5", folder, **quick, epochs=8, batch_size=16, learning_rate=1e-2
        )


def test_it_fills_the_blanks_of_a_text_that_repeats(run: Run, answer: Callable[[str], str]) -> None:
    assert run.result["metrics"]["test"]["exact_match"] > 0.9
    found = json.loads(answer(f"predict {run.folder} 'lord, lo_lord, lord, ' --json"))
    assert found["predictions"][0]["prediction"] == "lord, lord, lord, lord, "
    shown = (run.folder / "blanks.txt").read_text("utf-8").splitlines()
    assert shown[0].startswith("blanks") and "[____]" in shown[0]
    assert shown[1].partition("  ")[2] == shown[2].partition("  ")[2]  # filled as it was
    assert (run.folder / "relative-positions.png").stat().st_size > 5_000


def test_a_text_without_blanks_is_refused(run: Run, refusal: Callable[[str], str]) -> None:
    assert "marked by _" in refusal(f"predict {run.folder} 'my lord'")


def test_spans_are_read_by_their_sentinels() -> None:
    scheme = SpanScheme(first_sentinel=6, end=5)
    row = [2, 7, 3, 4, 6, 2, 9, 2, 5, 3]  # before any, the second, the first, an unknown one
    assert spans(row, 2, scheme, WORDS) == ["a", "bc"]
