"""Claim: with few labels, a pretrained network beats all that learn from them alone (J 6.5).

    labels alone ≤ c < pretrained,     c = 1 - ½ P(no word in common with the labeled texts)

Measured: a small BERT is pretrained by masked words on unlabeled texts, each with words from one of
two halves of the vocabulary. Then it is trained on one labeled text of each half to tell the halves
apart. Its mean test accuracy over such draws, less Student's quantile at level 0.01 times the
standard error.
Bound: c. To whoever has read nothing else, words are interchangeable, so a text that shares no word
with the labeled ones can only be guessed. Counting common words must reach c to within 5 standard
errors, and a copy of BERT from before pretraining must not exceed it by more than 5 of its own.
Devlin et al. (2019).
"""

from copy import deepcopy

import torch
import torch.nn.functional as F
from scipy.stats import t
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.masking import MaskingScheme, mask_tokens, masked_lm_loss
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.models.attention.bert_pretraining import BertPretraining

LEVEL, ERRORS = 0.01, 5
WORDS, LENGTH = 100, 8
SCHEME = MaskingScheme(vocab_size=3 + WORDS, mask_token=1, num_special=3)
DRAWS = 10  # of two labeled texts
COUNTED = 20_000  # pairs of a labeled text and a test text
BATCH, RATE = 256, 1e-2
TUNING, TUNING_RATE = 20, 5e-3


def check(steps: int = 220, seed: int = 0) -> Verdict:
    """Words of one text come from the same half of the vocabulary.

    Args:
        steps: Steps of pretraining.
    """
    return verdict(steps, seed, together=True)


def broken() -> Verdict:
    """Pretraining texts mix both halves, so there is nothing to learn about them."""
    return verdict(220, 0, together=False)


def near() -> Near:
    """Another prediction for what labels alone can reach; too little pretraining."""
    return {
        **ten_percent("c", lambda factor: verdict(120, 0, True, factor, draws=4)),
        "10 steps of pretraining": lambda: verdict(10, 0, True, draws=4),
    }


def verdict(
    steps: int, seed: int, together: bool, factor: float = 1.0, draws: int = DRAWS
) -> Verdict:
    """Accuracies of the pretrained network, of its copy, and of counting common words."""
    c = factor * best_without_reading()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = BERT(
            SCHEME.vocab_size, LENGTH + 1, hidden_size=16, num_layers=1, num_heads=2, dropout=0.0
        )
        read = deepcopy(fresh)
        pretrain(read, steps, together)
        test = texts(200)
        found = torch.tensor([compared(fresh, read, 2, test) for _ in range(draws)])
        right = by_counting(COUNTED)
    scratch, pretrained = found.double().T
    counting, error = right.mean().item(), right.std().item() / COUNTED**0.5
    below = c + ERRORS * scratch.std().item() / draws**0.5
    limit = pretrained.mean() - t.isf(LEVEL, draws - 1) * pretrained.std() / draws**0.5
    x = [float(k) for k in range(1, draws + 1)]
    return Verdict(
        quantity="pretrained accuracy with 2 labels, lower limit",
        measured=limit.item(),
        relation=">",
        bound=c,
        conditions={
            "counting common words reaches c": abs(counting - c) <= ERRORS * error,
            "from scratch does not exceed c": scratch.mean().item() <= below,
        },
        picture=Picture(
            title="A pretrained network knows more than its two labeled texts",
            x_label="draw of two labeled texts",
            y_label="test accuracy",
            points={
                "pretrained": (x, sorted(pretrained.tolist())),
                "from scratch": (x, sorted(scratch.tolist())),
                "counting common words, mean": ([(1 + draws) / 2], [counting]),
            },
            bounds={"c, the best without reading": ([x[0], x[-1]], [c, c])},
        ),
        details={
            "pretrained": pretrained.mean().item(),
            "from scratch": scratch.mean().item(),
            "counting common words": counting,
        },
    )


def best_without_reading() -> float:
    """c = 1 - ½ E (1 - K/m)^n: K different words of the n in a labeled text, m words in a half."""
    m = WORDS // 2
    p = [1.0] + [0.0] * LENGTH  # of K after each word
    for _ in range(LENGTH):
        p = [p[k] * k / m + (p[k - 1] * (m - k + 1) / m if k else 0.0) for k in range(LENGTH + 1)]
    return 1 - sum(share * (1 - k / m) ** LENGTH for k, share in enumerate(p)) / 2


def by_counting(pairs: int) -> Tensor:
    """1 where a text shares a word with the labeled text of its half, else ½ for a guess."""
    labeled, other = torch.randint(WORDS // 2, (2, pairs, LENGTH))
    common = (labeled[:, :, None] == other[:, None]).any(2).any(1)
    return torch.where(common, 1.0, 0.5).double()


def texts(each: int, together: bool = True) -> tuple[Tensor, Tensor]:
    """`each` texts of either half, [CLS] first; even words form half 0, odd ones half 1."""
    y = torch.arange(2).repeat(each)
    half = y[:, None].expand(-1, LENGTH) if together else torch.randint(2, (2 * each, LENGTH))
    words = 2 * torch.randint(WORDS // 2, half.shape) + half
    return F.pad(words + SCHEME.num_special, (1, 0), value=2), y


def pretrain(bert: BERT, steps: int, together: bool) -> None:
    """Predict masked words; every batch is new."""
    model = BertPretraining(bert)
    optimizer = torch.optim.Adam(model.parameters(), RATE, fused=True)
    for _ in range(steps):
        hidden = mask_tokens(texts(BATCH // 2, together)[0], SCHEME)
        logits = model.logits(hidden.tokens, positions=hidden.positions).tokens
        optimizer.zero_grad()
        masked_lm_loss(logits, hidden.targets, hidden.valid).mean().backward()
        optimizer.step()


def compared(
    fresh: BERT, read: BERT, labels: int, test: tuple[Tensor, Tensor]
) -> tuple[float, float]:
    """Test accuracies of both after training on the same texts, with the same new head."""
    x, y = texts(labels // 2)
    head = BertClassifier(fresh, 2)
    models = deepcopy(head), deepcopy(head)
    models[1].bert = deepcopy(read)
    return accuracy(models[0], x, y, test), accuracy(models[1], x, y, test)


def accuracy(model: BertClassifier, x: Tensor, y: Tensor, test: tuple[Tensor, Tensor]) -> float:
    """Test accuracy after training the whole network on x and y."""
    optimizer = torch.optim.Adam(model.parameters(), TUNING_RATE, fused=True)
    for _ in range(TUNING):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        return (model(test[0]).argmax(1) == test[1]).double().mean().item()
