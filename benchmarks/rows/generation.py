"""Text written token by token by GPT at three sizes, with keys and values kept."""

import hashlib
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.language import Sizes as GPTSizes
from benchmarks.suite.language import hugging_face
from benchmarks.suite.tuning import count

PROMPT = 8


def both(vocab: int, context: int, width: int, depth: int, heads: int) -> tuple[Any, Any]:
    """Our GPT and transformers' with the same random weights."""
    import transformers

    from chainrule import pretrained
    from chainrule.models.attention.gpt import GPT

    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    config = hugging_face(GPTSizes(vocab, context, width, depth, heads, 0, 0, 0))
    config.activation_function = "gelu_new"
    theirs = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for p in theirs.parameters():
            p.mul_(3.0)  # of untrained weights the texts soon repeat one token
    mine = GPT.gpt2(vocab, context, width, depth, heads).eval()
    pretrained.load(mine, theirs.state_dict())
    return mine, theirs


def prompts(vocab: int, texts: int) -> Tensor:
    return torch.randint(vocab, (texts, PROMPT), generator=torch.Generator().manual_seed(1))


def chainrule(texts: int, tokens: int, **sizes: int) -> Ready:
    model, _ = both(**sizes)
    given = prompts(sizes["vocab"], texts)

    def write() -> Tensor:
        return model.generate(given, tokens, temperature=0.0)

    return Ready(lambda: write() is None, lambda _: fingerprint(write()), count(model))


def transformers(texts: int, tokens: int, **sizes: int) -> Ready:
    _, model = both(**sizes)
    given = prompts(sizes["vocab"], texts)

    def write() -> Tensor:
        written = model.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        return written[:, PROMPT:]

    return Ready(lambda: write() is None, lambda _: fingerprint(write()), count(model))


def fingerprint(tokens: Tensor) -> float:
    """The same number for the same texts only."""
    return float(int(hashlib.sha256(repr(tokens.tolist()).encode()).hexdigest()[:8], 16))


def work(texts: int, tokens: int, **sizes: int) -> Work:
    """Every token multiplies every weight once; the weights are read once for all texts."""
    matrices = 12 * sizes["depth"] * sizes["width"] ** 2 + sizes["vocab"] * sizes["width"]
    return Work(2.0 * matrices * texts * tokens, 4.0 * matrices * tokens, texts * tokens, "tokens")


named = partial(zip, ("vocab", "context", "width", "depth", "heads", "texts", "tokens"))
SMALL, MIDDLE, LARGE = (65, 256, 128, 4, 4), (65, 256, 384, 6, 6), (50_257, 256, 768, 12, 12)
ROW = Race(
    unit="texts",
    contenders={
        "chainrule": Contender(chainrule, ("transformers",)),
        "transformers": Contender(transformers, ("transformers",)),
    },
    cases={
        "4 × 128, one text of 200": dict(named((*SMALL, 1, 200))),
        "4 × 128, 16 texts of 100": dict(named((*SMALL, 16, 100))),
        "6 × 384, one text of 100": dict(named((*MIDDLE, 1, 100))),
        "6 × 384, 16 texts of 50": dict(named((*MIDDLE, 16, 50))),
        "12 × 768, one text of 40": dict(named((*LARGE, 1, 40))),
        "12 × 768, 16 texts of 10": dict(named((*LARGE, 16, 10))),
    },
    tiny=dict(named((11, 16, 16, 1, 2, 2, 3))),
    quality=Quality("the same texts with the same weights", 0.0),
    work=work,
)
