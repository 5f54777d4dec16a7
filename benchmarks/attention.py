"""Attention: a training step of GPT, tokens written per second, and the cost by length.

    make bench

1. A training step of a small GPT on tiny Shakespeare's characters in nanoGPT's setting for a CPU (4
   layers, 4 heads, width 128, context 64, batch 12), by this engine and by the same network
   written as in nanoGPT with its loop: random windows, a fused AdamW that decays matrices only,
   gradients clipped at 1. Both have biases, as GPT-2. The contestants take turns; the best of the
   rounds counts; the first step is not timed. The share of the peak is 6 operations per weight of
   a matrix and token, and 12 · layers · width · context per token for attention (which is causal,
   so half of that is not needed), by the rate of the best product of two square matrices in the
   same rounds.
2. Writing with keys and values remembered, one text at a time, the likeliest token each time, by
   this library and by transformers with the same random weights; both must write the same.
3. One layer forward and backward, full, windowed and linear, by the length of the sequence.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule import pretrained
from chainrule.learning.tasks import Task
from chainrule.models.attention import GPT, LinearAttention, WindowedAttention
from chainrule.nn.attention import SelfAttention
from chainrule.training import Settings, iterate

SIDE = 2048  # of the matrices whose product is the peak
SYMBOLS, CONTEXT, WIDTH, DEPTH, HEADS, BATCH = 65, 64, 128, 4, 4, 12
RATE, DECAY, CLIP = 1e-3, 0.1, 1.0
LAYER = {"hidden_size": 128, "num_heads": 4}
WINDOW = 64


# 1. A training step


class NanoBlock(nn.Module):
    """A block as nanoGPT writes it."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """The network as nanoGPT writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(SYMBOLS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.h = nn.ModuleList(NanoBlock(WIDTH, HEADS) for _ in range(DEPTH))
        self.ln_f = nn.LayerNorm(WIDTH)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        pos = torch.arange(0, tokens.size(1), dtype=torch.long)
        x = self.wte(tokens) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


@dataclass(frozen=True)
class Text:
    """A text as numbers, and how many steps are taken."""

    tokens: Tensor
    steps: int


def chainrule_engine(text: Text, compile: bool = False) -> float:
    """Windows drawn beforehand, as rows."""
    starts = torch.randint(len(text.tokens) - CONTEXT, (text.steps * BATCH,))
    rows = starts[:, None] + torch.arange(CONTEXT)
    settings = Settings(
        epochs=1,
        batch_size=BATCH,
        optimizer="adamw",
        learning_rate=RATE,
        weight_decay=DECAY,
        clip_norm=CLIP,
        compile=compile,
    )
    model = GPT(SYMBOLS, CONTEXT, WIDTH, DEPTH, HEADS)
    split = text.tokens[rows], text.tokens[rows + 1]
    task = Task("language modeling", per_text)
    seen = [
        (now.step, time.perf_counter())
        for now in iterate(model, split, task=task, settings=settings, device="cpu")
        if not now.record
    ]
    if len(seen) < 2:
        sys.exit("too few steps to time them; choose more --steps")
    (first, began), (last, ended) = seen[0], seen[-1]  # the reports of the first and last steps
    return (ended - began) / (last - first)


def per_text(logits: Tensor, y: Tensor) -> Tensor:
    """Mean loss per token, one value per window."""
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return losses.view(y.shape).mean(1)


def nano_loop(text: Text, compile: bool = False) -> float:
    """nanoGPT's training loop."""
    model: Any = NanoGPT()
    weights = list(model.parameters())
    groups = [
        {"params": [p for p in weights if p.dim() >= 2], "weight_decay": DECAY},
        {"params": [p for p in weights if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99), fused=True)
    forward = torch.compile(model) if compile else model
    began = 0.0
    for _ in range(text.steps):
        ix = torch.randint(len(text.tokens) - CONTEXT, (BATCH,))
        x = torch.stack([text.tokens[i : i + CONTEXT] for i in ix])
        y = torch.stack([text.tokens[i + 1 : i + 1 + CONTEXT] for i in ix])
        loss = forward(x, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        began = began or time.perf_counter()
    return (time.perf_counter() - began) / (text.steps - 1)


CONTESTANTS: dict[str, Callable[[Text], float]] = {
    "chainrule": chainrule_engine,
    "nanoGPT-like PyTorch": nano_loop,
}
COMPILED: dict[str, Callable[[Text], float]] = {
    "chainrule, compiled": lambda text: chainrule_engine(text, compile=True),
    "nanoGPT-like PyTorch, compiled": lambda text: nano_loop(text, compile=True),
}


def training(steps: int, rounds: int, compile: bool) -> dict[str, Any]:
    """Milliseconds of a step of every contestant, its ratio to ours, and its share of the peak."""
    sizes = {sum(p.numel() for p in m.parameters()) for m in (NanoGPT(), small_gpt())}
    if len(sizes) > 1:
        sys.exit(f"the contestants' networks differ, {sizes} parameters")
    torch.manual_seed(0)
    text = Text(torch.randint(SYMBOLS, (100_000,)), steps)
    contestants = CONTESTANTS | (COMPILED if compile else {})
    best, peak = dict.fromkeys(contestants, math.inf), 0.0
    for number in range(rounds + 1):  # the first round warms up
        peak = max(peak, product_rate())
        for name, contestant in contestants.items():
            torch.manual_seed(number)
            took = contestant(text)
            if number or not rounds:
                best[name] = min(best[name], took)
            print(f"round {number}  {name:<32}{1000 * took:8.1f} ms", file=sys.stderr)
    work = operations(small_gpt())
    rows = [
        {
            "name": name,
            "step_ms": round(1000 * step, 2),
            "ratio": round(step / best["chainrule"], 3),
            "share_of_peak": round(work / step / peak, 3),
        }
        for name, step in sorted(best.items(), key=lambda pair: pair[1])
    ]
    for row in rows:
        print(f"step: {row['name']:<32}{row['step_ms']:8.1f} ms{row['ratio']:7.2f} ×")
    return {
        "setting": {
            "num_layers": DEPTH,
            "num_heads": HEADS,
            "hidden_size": WIDTH,
            "context_length": CONTEXT,
            "batch_size": BATCH,
        },
        "parameters": sizes.pop(),
        "gflop": round(work / 1e9, 2),
        "peak_gflops": round(peak / 1e9, 1),
        "rows": rows,
    }


def small_gpt() -> GPT:
    return GPT(SYMBOLS, CONTEXT, WIDTH, DEPTH, HEADS)


def operations(model: GPT) -> int:
    """Of a training step: 6 per weight of a matrix and token, and attention's own."""
    matrices = sum(p.numel() for name, p in model.named_parameters() if p.ndim == 2)
    matrices -= model.positions.weight.numel()
    return BATCH * CONTEXT * (6 * matrices + 12 * DEPTH * WIDTH * CONTEXT)


def product_rate(repeats: int = 5) -> float:
    """Operations per second of a product of two square matrices, the best of some."""
    a, b = torch.rand(2, SIDE, SIDE)
    best = math.inf
    for _ in range(repeats):
        began = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - began)
    return 2 * SIDE**3 / best


# 2. Writing


def writing(sizes: dict[str, int], tokens: int, rounds: int) -> dict[str, Any]:
    """Tokens per second of both libraries with the same weights."""
    import transformers

    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=sizes["vocab_size"],
        n_positions=sizes["context_length"],
        n_embd=sizes["hidden_size"],
        n_layer=sizes["num_layers"],
        n_head=sizes["num_heads"],
        bos_token_id=0,
        eos_token_id=0,
    )
    theirs = transformers.GPT2LMHeadModel(config).eval()
    ours = GPT.gpt2(**sizes).eval()
    pretrained.load(ours, theirs.state_dict())
    prompt = torch.randint(sizes["vocab_size"], (8,))

    def by_transformers() -> list[int]:
        written = theirs.generate(
            prompt[None],
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        return written[0, len(prompt) :].tolist()

    def by_chainrule() -> list[int]:
        return ours.generate(prompt, tokens, temperature=0.0).tolist()

    writers = {"chainrule": by_chainrule, "transformers": by_transformers}
    best, texts = dict.fromkeys(writers, math.inf), {}
    for _ in range(rounds + 1):
        for name, write in writers.items():
            began = time.perf_counter()
            texts[name] = write()
            best[name] = min(best[name], time.perf_counter() - began)
    rows = [
        {
            "name": name,
            "tokens_per_second": round(tokens / seconds, 1),
            "ratio": round(seconds / best["chainrule"], 3),
        }
        for name, seconds in sorted(best.items(), key=lambda pair: pair[1])
    ]
    for row in rows:
        speed = f"{row['name']:<16}{row['tokens_per_second']:9.1f} / s"
        print(f"writing, width {sizes['hidden_size']}: {speed}")
    if texts["chainrule"] != texts["transformers"]:
        sys.exit("the two libraries wrote different texts; their speeds cannot be compared")
    return {"setting": sizes, "tokens": tokens, "rows": rows}


# 3. The cost by length


def by_length(lengths: list[int], rounds: int) -> list[dict[str, Any]]:
    """Milliseconds of a layer forward and backward."""
    layers: dict[str, nn.Module] = {
        "full": SelfAttention(**LAYER),
        f"window of {WINDOW}, 1 global": WindowedAttention(**LAYER, window=WINDOW, global_tokens=1),
        "linear": LinearAttention(**LAYER),
        "linear, causal": LinearAttention(**LAYER, causal=True),
    }
    rows = []
    for length in lengths:
        x = torch.randn(1, length, LAYER["hidden_size"])
        best = dict.fromkeys(layers, math.inf)
        for _ in range(rounds + 1):
            for name, layer in layers.items():
                began = time.perf_counter()
                layer(x).sum().backward()
                best[name] = min(best[name], time.perf_counter() - began)
        rows.append({"length": length} | {n: round(1000 * s, 2) for n, s in best.items()})
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100, help="steps of each contestant")
    parser.add_argument("--tokens", type=int, default=200, help="tokens to write")
    parser.add_argument("--longest", type=int, default=16_384, help="of the cost by length")
    parser.add_argument("--compile", action="store_true", help="compiled contestants, too")
    parser.add_argument("--small", action="store_true", help="without GPT-2's 124 million weights")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/speed/attention.json"))
    options = parser.parse_args()
    names = "vocab_size", "context_length", "hidden_size", "num_layers", "num_heads"
    small = dict(zip(names, (SYMBOLS, 256, WIDTH, DEPTH, HEADS), strict=True))
    gpt2 = dict(zip(names, (50_257, 1024, 768, 12, 12), strict=True))
    models = [small] if options.small else [small, gpt2]
    lengths = [2**k for k in range(8, 31) if 2**k <= options.longest]
    result = {
        "benchmark": "a training step, writing, and the cost of attention by length",
        "command": f"python benchmarks/attention.py{' --compile' * options.compile}",
        "date": str(date.today()),
        "rounds": options.rounds,
        "steps": options.steps,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "training": training(options.steps, options.rounds, options.compile),
        "writing": [writing(sizes, options.tokens, options.rounds) for sizes in models],
        "layer_ms_by_length": by_length(lengths, options.rounds),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
