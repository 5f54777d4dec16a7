"""Training steps of GPT at three sizes: AdamW, gradients clipped at 1."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.suite import language
from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.language import Language, Sizes


def entered(way: Callable[[Language], Ready], *needs: str, **about: Any) -> Contender:
    def build(**sizes: int) -> Ready:
        return way(Language(Sizes(**sizes)))

    return Contender(build, needs, **about)


def work(**sizes: int) -> Work:
    """6 operations per weight of a matrix and token, and attention's own; causal: half of them.

    Weights are read twice, gradients written and read, both moments and the weights updated.
    """
    s = Sizes(**sizes)
    matrices = 12 * s.depth * s.width**2 + s.vocab * s.width
    tokens = s.steps * s.batch * s.context
    attention = 6 * s.depth * s.width * s.context
    return Work(tokens * (6.0 * matrices + attention), 40.0 * matrices * s.steps, tokens, "tokens")


NAMES = ("vocab", "context", "width", "depth", "heads", "batch", "steps", "learned")
sized = partial(zip, NAMES)
SMALL, MIDDLE = "4 × 128, 12 × 64 tokens, 10 steps", "6 × 384, 4 × 256 tokens, 1 step"
ROW = Race(
    unit="steps",
    contenders={
        "chainrule": entered(language.engine),
        "chainrule, auto precision": entered(language.auto, precision="bfloat16"),
        "hand-tuned PyTorch": entered(language.hand_tuned),
        "hand-tuned, oneDNN": entered(language.onednn, cases=(SMALL, MIDDLE)),
        "hand-tuned, autocast": entered(language.autocast, precision="bfloat16"),
        "torch.compile": entered(language.compiled),
        "transformers' Trainer": entered(language.trainer, "transformers", "accelerate"),
    },
    cases={
        SMALL: dict(sized((65, 64, 128, 4, 4, 12, 10, 20))),
        MIDDLE: dict(sized((65, 256, 384, 6, 6, 4, 1, 20))),
        "12 × 768, 1 × 256 tokens, 1 step": dict(sized((50_257, 256, 768, 12, 12, 1, 1, 8))),
    },
    tiny=dict(sized((11, 8, 16, 1, 2, 2, 2, 2))),
    quality=Quality("cross-entropy of held windows after 20 or 8 steps", 0.03),
    work=work,
)
