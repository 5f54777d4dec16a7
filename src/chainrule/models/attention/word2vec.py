"""Word2vec: a vector for every word, from the words around it (skip-gram, negative sampling).

    max  Σ over pairs (w, c)   log σ(u_c · v_w) + Σ_{i ≤ k} log σ(-u_{n_i} · v_w),     n_i ~ p^{3/4}

w is a word, c a word near it, n_i are k random words, p the word frequencies. v is the vector of a
word, u that of a context, which is thrown away. Words that stand among the same words get similar
vectors, and some relations become differences:

    analogy    a : b = c : argmax_w cos(v_w, v_b - v_a + v_c)       all v of length one; w ≠ a, b, c

A bag of such vectors forgets the order of the words, which is what positions are for (A 2.5).

Mikolov, Sutskever, Chen, Corrado and Dean (2013), NeurIPS. Notes: A 2.6 (whose 2.5 names it).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, TwoOrMore, checked

POWER = 0.75  # of the frequency of a word in the distribution of negatives


@checked
class Word2Vec(nn.Module):
    """Word vectors v and context vectors u.

        score(w, c) = u_c · v_w,      p(c is near w, not random) = σ(score)

    Args:
        vocab_size: Number of words.
        embedding_dim: Size of the vectors.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import Word2Vec
        >>> model = Word2Vec(vocab_size=100, embedding_dim=16)
        >>> words, near = torch.randint(100, (3,)), torch.randint(100, (3, 4))
        >>> model(words, near).shape
        torch.Size([3, 4])
        >>> model.nearest(model.words.weight[:2], 3).shape
        torch.Size([2, 3])
    """

    def __init__(self, vocab_size: TwoOrMore, embedding_dim: Count):
        super().__init__()
        self.words = nn.Embedding(vocab_size, embedding_dim)
        self.contexts = nn.Embedding(vocab_size, embedding_dim)
        nn.init.uniform_(self.words.weight, -0.5 / embedding_dim, 0.5 / embedding_dim)
        nn.init.zeros_(self.contexts.weight)

    def forward(
        self,
        words: Int[Tensor, " batch"],
        contexts: Int[Tensor, "batch some"] | None = None,
    ) -> Float[Tensor, "batch some"]:
        """u_c · v_w for every word and each of its contexts; by default the word itself."""
        if contexts is None:
            contexts = words[:, None]
        return (self.contexts(contexts) @ self.words(words)[:, :, None])[:, :, 0]

    def nearest(
        self, vectors: Float[Tensor, "batch dim"], count: int
    ) -> Int[Tensor, "batch count"]:
        """The words of the largest cosine, the largest first."""
        return (F.normalize(vectors) @ F.normalize(self.words.weight).T).topk(count).indices

    @torch.no_grad()
    def analogies(self, abc: Int[Tensor, "batch 3"]) -> Int[Tensor, " batch"]:
        """The word w of a : b = c : w."""
        v = F.normalize(self.words.weight)
        a, b, c = v[abc].unbind(1)
        cosine = (b - a + c) @ v.T
        return cosine.scatter(1, abc, -torch.inf).argmax(1)


def negative_sampling_loss(
    near: Float[Tensor, "batch contexts"], far: Float[Tensor, "batch negatives"]
) -> tuple[Float[Tensor, "batch contexts"], Float[Tensor, "batch negatives"]]:
    """-log σ(u_c · v_w) of the contexts, and -log σ(-u_n · v_w) of the negatives."""
    return -F.logsigmoid(near), -F.logsigmoid(-far)


def negative_distribution(counts: Float[Tensor, " vocab"]) -> Float[Tensor, " vocab"]:
    """p^{3/4}, normalized."""
    p = counts**POWER
    return p / p.sum()


def keep_probability(counts: Float[Tensor, " vocab"], threshold: float) -> Float[Tensor, " vocab"]:
    """√(t / f), at most 1: frequent words are dropped from the text, and windows reach farther."""
    f = counts / counts.sum()
    return (threshold / f.clamp_min(1e-12)).sqrt().clamp_max(1.0)


def example() -> tuple[Word2Vec, Tensor]:
    """Nine words in five dimensions."""
    return Word2Vec(9, 5), torch.randint(9, (4,))
