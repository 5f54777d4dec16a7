"""A BERT of 4 blocks of width 256 that classifies texts of 128 tokens, batch 16, Adam."""

import torch
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import HELD, Labeled

HEADS = 4


class Plain(nn.Module):
    """torch's encoder layers under embeddings and a pooler."""

    def __init__(self, vocab: int, length: int, width: int, depth: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.segments, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, eps=1e-12)
        layer = nn.TransformerEncoderLayer(
            width, HEADS, 4 * width, 0.0, "gelu", 1e-12, batch_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.pooler, self.output = nn.Linear(width, width), nn.Linear(width, 2)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding | nn.MultiheadAttention):
                for p in part.parameters(recurse=False):
                    nn.init.zeros_(p) if p.ndim < 2 else nn.init.normal_(p, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        e = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        x = self.norm(e + self.segments.weight[0])
        x = self.blocks(x, src_key_padding_mask=tokens == 0)
        return self.output(self.pooler(x[:, 0]).tanh())


def texts(count: int, vocab: int, length: int) -> Labeled:
    """The second class has more of the larger tokens; a third of the texts is padded."""
    generator = torch.Generator().manual_seed(0)
    total = count + min(count, HELD // 4)
    y = torch.randint(2, (total,), generator=generator)
    share = torch.rand(total, length, generator=generator) ** (1 - 0.3 * y[:, None])
    x = 1 + (share * (vocab - 1)).long()
    lengths = torch.where(torch.rand(total, generator=generator) < 0.3, length // 2, length)
    x[torch.arange(length) >= lengths[:, None]] = 0
    return Labeled(x[:count], y[:count], x[count:], y[count:])


def build(
    count: int, learned: int, batch: int, vocab: int, length: int, width: int, depth: int
) -> Classifier:
    def ours() -> nn.Module:
        from chainrule.models.attention import BERT
        from chainrule.models.attention.bert_classifier import BertClassifier

        return BertClassifier(BERT(vocab, length, width, depth, HEADS, 0.0), 2)

    return Classifier(
        texts(learned, vocab, length),
        count,
        ours,
        lambda: Plain(vocab, length, width, depth),
        batch=batch,
        rate=1e-4,
        studied=batch // 2,
    )


ROW = Race(
    unit="32 texts",
    contenders=classifiers.contenders(build, without=("Keras",)),
    cases={
        "": {
            "count": 32,
            "learned": 64,
            "batch": 16,
            "vocab": 10_000,
            "length": 128,
            "width": 256,
            "depth": 4,
        }
    },
    tiny={"count": 4, "learned": 4, "batch": 2, "vocab": 11, "length": 6, "width": 8, "depth": 1},
    quality=Quality("cross-entropy of held texts after 8 steps, three seeds", 0.05, seeds=3),
    work=classifiers.work(build),
)
