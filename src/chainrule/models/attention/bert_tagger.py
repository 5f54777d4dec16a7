"""BERT for tagging words, each by the vector of its first token.

    f(w)_k = V x_{t(k)} + v                   t(k): position of the first token of word k

The other tokens of a word are read but not tagged.

Devlin, Chang, Lee and Toutanova (2019), NAACL, section 5.3. Notes: J 6.5 (part-of-speech tagging).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.attention.bert import BERT
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.transformer_block import normal_initialization


@checked
class BertTagger(nn.Module):
    """Tokens, and where words start → the logits of each word's tag.

        f(w)_k = V x_{t(k)} + v

    Args:
        bert: The encoder.
        tags: Number of tags.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BERT, BertTagger
        >>> bert = BERT(vocab_size=100, max_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> model, tokens = BertTagger(bert, tags=5), torch.randint(1, 100, (1, 12))
        >>> model(tokens, torch.tensor([[1, 2, 5, 9]])).shape
        torch.Size([1, 4, 5])
    """

    def __init__(self, bert: BERT, tags: Count):
        super().__init__()
        self.output = nn.Linear(bert.hidden_size, tags)
        normal_initialization(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        first: Int[Tensor, "batch words"] | None = None,
    ) -> Float[Tensor, "batch words tags"]:
        """first: position of each word's first token, padded with 0; by default all positions."""
        x = self.bert(tokens)
        if first is not None:
            x = x.gather(1, first[:, :, None].expand(-1, -1, x.shape[2]))
        return self.output(dropped(x, self.bert.dropout, self.training))


def example() -> tuple[BertTagger, Tensor]:
    """Four tags for each of six tokens."""
    bert = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)
    return BertTagger(bert, 4), torch.randint(1, 9, (5, 6))
