"""Columns of a table that hold numbers of words, replaced by learned vectors.

    x ↦ [x_plain, E_1[x_1], E_2[x_2], …]        E_k: one row per word, row 0 for any other

Guo and Berkhahn (2016), Entity Embeddings of Categorical Variables, arXiv:1604.06737.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

MAX_WIDTH = 16


def embedding_width(words: int) -> int:
    """⌈√words⌉, at most 16."""
    return min(MAX_WIDTH, int(words**0.5 - 1e-9) + 1)


class EmbeddedColumns(nn.Module):
    """A network behind the vectors of some of its inputs.

        x ↦ f([x_plain, E_1[x_1], E_2[x_2], …])

    Args:
        network: takes `width(inputs, words)` inputs.
        inputs: number of columns of x.
        words: by column, how many words it has; the column holds numbers from 0 to that.
    """

    def __init__(self, network: nn.Module, inputs: int, words: Mapping[int, int]):
        super().__init__()
        self.network = network
        self.places = sorted(words)
        self.plain = [k for k in range(inputs) if k not in words]
        self.tables = nn.ModuleList(
            nn.Embedding(words[k] + 1, embedding_width(words[k])) for k in self.places
        )
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.1)  # type: ignore[arg-type]

    @staticmethod
    def width(inputs: int, words: Mapping[int, int]) -> int:
        """Inputs of the network behind the vectors."""
        return inputs - len(words) + sum(map(embedding_width, words.values()))

    def forward(self, x: Float[Tensor, "batch inputs"]) -> Float[Tensor, "batch outputs"]:
        """f([x_plain, E_1[x_1], …])."""
        pairs = zip(self.places, self.tables, strict=True)
        vectors = [table(x[:, place].long()) for place, table in pairs]
        return self.network(torch.cat([x[:, self.plain], *vectors], 1))
