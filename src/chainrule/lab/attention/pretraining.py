"""Claim: with the same few labels, a pretrained network beats one trained from scratch (J 6.5).

    gain(s) = accuracy(pretrained, s labels) - accuracy(from scratch, s labels) > 0   for few s

Measured: a small BERT is pretrained by masked words on unlabeled texts, each with words from one of
two halves of the vocabulary. Then it and a copy from before pretraining are trained on the same few
labeled texts to tell the halves apart. The mean gain in test accuracy over draws of 2 labels, one
for each half.
Bound: Student's quantile at level 0.01 times the standard error of the mean gain, paired by draw:
without any effect, one seed in 100 exceeds it.
Only pretraining tells the half of a word that no label covers. Devlin et al. (2019).
"""

from copy import deepcopy

import torch
import torch.nn.functional as F
from scipy.stats import t
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.learning.masking import MaskingScheme, mask_tokens, masked_lm_loss
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.models.attention.bert_pretraining import BertPretraining

LEVEL = 0.01
WORDS, LENGTH = 100, 8
SCHEME = MaskingScheme(vocab_size=3 + WORDS, mask_token=1, num_special=3)
DRAWS = {2: 10, 4: 3, 8: 2, 16: 2}  # by number of labels
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


def verdict(steps: int, seed: int, together: bool) -> Verdict:
    """Accuracies of the two by number of labels."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = BERT(
            SCHEME.vocab_size, LENGTH + 1, hidden_size=16, num_layers=1, num_heads=2, dropout=0.0
        )
        read = deepcopy(fresh)
        pretrain(read, steps, together)
        test = texts(200)
        found = {
            labels: torch.tensor([compared(fresh, read, labels, test) for _ in range(draws)])
            for labels, draws in DRAWS.items()
        }
    gains = found[2].diff(dim=1)
    error = gains.std().item() / len(gains) ** 0.5
    bound = float(t.isf(LEVEL, len(gains) - 1)) * error
    labels = [float(s) for s in DRAWS]
    means = torch.stack([found[s].mean(0) for s in DRAWS]).T.tolist()
    return Verdict(
        quantity="mean gain in test accuracy with 2 labels",
        measured=gains.mean().item(),
        relation=">",
        bound=bound,
        picture=Picture(
            title="A pretrained network needs fewer labels",
            x_label="labeled texts",
            y_label="test accuracy",
            points={"pretrained": (labels, means[1]), "from scratch": (labels, means[0])},
            bounds={"by chance": ([labels[0], labels[-1]], [0.5, 0.5])},
            log="x",
        ),
        details={"standard error of the gain": error},
    )


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
