"""Contenders that train a causal language model step by step on windows of a text.

AdamW that decays matrices only, gradients clipped at 1, windows drawn at random: nanoGPT's loop.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite import synthetic
from benchmarks.suite.contract import Ready
from benchmarks.suite.nano_gpt import NanoGPT, Sizes
from benchmarks.suite.tuning import count, take_onednn, tuned

RATE, DECAY, CLIP, BETAS = 1e-3, 0.1, 1.0, (0.9, 0.999)
TOKENS, HELD = 100_000, 16


@dataclass(frozen=True)
class Language:
    """A text and how it is read."""

    sizes: Sizes

    def windows(self, number: int, seed: int) -> tuple[Tensor, Tensor]:
        """So many windows, and the tokens that follow each of theirs."""
        text = synthetic.text(TOKENS, self.sizes.vocab)
        generator = torch.Generator().manual_seed(seed)
        starts = torch.randint(TOKENS - self.sizes.context - 1, (number,), generator=generator)
        rows = starts[:, None] + torch.arange(self.sizes.context)
        return text[rows], text[rows + 1]

    def loss(self, logits: Callable[[Tensor], Tensor]) -> float:
        """Mean cross-entropy of windows that nobody trained on."""
        x, y = self.windows(HELD, seed=10**6)
        with torch.no_grad():
            parts = [
                F.cross_entropy(logits(a).flatten(0, 1), b.flatten())
                for a, b in zip(x.split(2), y.split(2), strict=True)
            ]
        return float(torch.stack(parts).mean())


def engine(given: Language, **settings: Any) -> Ready:
    """This library's GPT and loop."""
    from chainrule.learning.tasks import Task
    from chainrule.models.attention.gpt import GPT
    from chainrule.training import iterate

    s = given.sizes
    task = Task("language modeling", per_window)
    options: dict[str, Any] = {
        "batch_size": s.batch,
        "optimizer": "adamw",
        "learning_rate": RATE,
        "weight_decay": DECAY,
        "clip_norm": CLIP,
        "device": "cpu",
        **settings,
    }

    def started(seed: int, steps: int) -> tuple[GPT, Callable[[], None]]:
        torch.manual_seed(seed)
        model = GPT(s.vocab, s.context, s.width, s.depth, s.heads)
        split = given.windows(steps * s.batch, seed)
        reports = iterate(model, split, task=task, epochs=10**6, seed=seed, **options)
        return model, lambda: next(now for now in reports if now.record) and None

    model, unit = started(0, s.steps)

    def quality(seed: int) -> float:
        fresh, run = started(seed, s.learned)
        run()
        return given.loss(fresh.eval())

    return Ready(unit, quality, count(model))


def auto(given: Language) -> Ready:
    """The same with products in bfloat16 where that was measured to be quicker."""
    return engine(given, precision="auto")


def per_window(logits: Tensor, y: Tensor) -> Tensor:
    """Mean loss per token, one value per window."""
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return losses.view(y.shape).mean(1)


def hand_tuned(
    given: Language, compile: bool = False, mixed: bool = False, onednn: bool = False
) -> Ready:
    """nanoGPT's loop, tuned: windows gathered by index, fused AdamW, no synchronization."""
    tuned()
    if onednn:
        take_onednn()
    s = given.sizes

    def started(seed: int) -> tuple[NanoGPT, Callable[[Tensor, Tensor], None]]:
        torch.manual_seed(seed)
        model = NanoGPT(s)
        weights = list(model.parameters())
        groups = [
            {"params": [p for p in weights if p.dim() >= 2], "weight_decay": DECAY},
            {"params": [p for p in weights if p.dim() < 2], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=RATE, betas=BETAS, fused=True)
        forward: Any = torch.compile(model) if compile else model

        def step(x: Tensor, y: Tensor) -> None:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
                logits = forward(x)
            F.cross_entropy(logits.view(-1, s.vocab).float(), y.view(-1)).backward()
            nn.utils.clip_grad_norm_(weights, CLIP)
            optimizer.step()

        return model, step

    model, step = started(0)
    x, y = given.windows(s.steps * s.batch, 0)

    def run(step: Callable[[Tensor, Tensor], None], x: Tensor, y: Tensor) -> None:
        for rows in torch.randperm(len(x)).split(s.batch):
            step(x.index_select(0, rows), y.index_select(0, rows))

    def quality(seed: int) -> float:
        fresh, step = started(seed)
        run(step, *given.windows(s.learned * s.batch, seed))
        return given.loss(fresh.eval())

    tried = not compile and s.steps > 1
    trial = (lambda: step(x[: s.batch], y[: s.batch])) if tried else None
    return Ready(lambda: run(step, x, y), quality, count(model), trial)


def compiled(given: Language) -> Ready:
    return hand_tuned(given, compile=True)


def onednn(given: Language) -> Ready:
    return hand_tuned(given, onednn=True)


def autocast(given: Language) -> Ready:
    return hand_tuned(given, mixed=True)


def trainer(given: Language) -> Ready:
    """transformers: GPT-2 under Trainer; from the end of its first step to the end of its last."""
    import tempfile

    import transformers

    transformers.logging.set_verbosity_error()
    s, folder = given.sizes, tempfile.mkdtemp()

    class Watch(transformers.TrainerCallback):
        began = 0.0
        ended = 0.0

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.ended = time.perf_counter()
            self.began = self.began or self.ended

    def run(model: Any, seed: int, steps: int) -> float:
        x, _ = given.windows(s.batch * steps, seed)
        examples = [{"input_ids": row, "labels": row} for row in x]
        arguments = transformers.TrainingArguments(
            folder,
            per_device_train_batch_size=s.batch,
            num_train_epochs=1,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            weight_decay=DECAY,
            max_grad_norm=CLIP,
            optim="adamw_torch_fused",
            use_cpu=True,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            seed=seed,
        )
        watch = Watch()
        transformers.Trainer(model, arguments, train_dataset=examples, callbacks=[watch]).train()
        return watch.ended - watch.began

    def started(seed: int) -> Any:
        torch.manual_seed(seed)
        return transformers.GPT2LMHeadModel(hugging_face(s))

    model = started(0)

    def quality(seed: int) -> float:
        fresh = started(seed)
        run(fresh, seed, s.learned)
        fresh.eval()
        return given.loss(lambda x: fresh(x).logits)

    return Ready(lambda: run(model, 0, s.steps + 1), quality, count(model))


def hugging_face(s: Sizes) -> Any:
    """The same network as transformers configures it."""
    import transformers

    dropouts = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    return transformers.GPT2Config(
        vocab_size=s.vocab,
        n_positions=s.context,
        n_embd=s.width,
        n_layer=s.depth,
        n_head=s.heads,
        activation_function="gelu",
        bos_token_id=0,
        eos_token_id=0,
        **dropouts,
    )
