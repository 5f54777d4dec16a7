"""Latent semantic analysis: words of the same documents get similar vectors.

    M_dw = max(0, log p(d, w) / (p(d) p(w)))     from which words a document contains, not how often
    M ≈ U S Vᵀ,   e_w = S V_w / ‖S V_w‖          the k largest singular values

It needs no labels and takes seconds. Neighboring words do not tell praise from blame, as
"wonderful" and "dreadful" have the same neighbors; words of the same review do.

Deerwester, Dumais, Furnas, Landauer and Harshman (1990), JASIS; Levy, Goldberg and Dagan (2015),
TACL, for the weights M, positive pointwise mutual information (PPMI). Notes: J 6.5 (pre-training).
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from jaxtyping import Float
from sklearn.utils.extmath import randomized_svd
from torch import Tensor

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError


@checked
def latent_semantics(
    documents: Sequence[Sequence[int]], vocab_size: Count, embedding_dim: Count, seed: Natural = 0
) -> Float[Tensor, "vocab_size embedding_dim"]:
    """A unit vector for each word; zero for words that occur in no document, or in all."""
    M = positive_pmi(documents, vocab_size)
    if not 1 <= embedding_dim <= min(M.shape):
        raise InputError(
            f"embedding_dim must be from 1 to {min(M.shape)} for {M.shape[0]} documents and "
            f"{vocab_size} words, got {embedding_dim}"
        )
    _, S, V = randomized_svd(M, embedding_dim, random_state=seed)
    e = V.T * S
    length = np.linalg.norm(e, axis=1, keepdims=True)
    e = np.divide(e, length, out=np.zeros_like(e), where=length > 1e-9 * length.max())
    return torch.from_numpy(e).float()


@checked
def positive_pmi(documents: Sequence[Sequence[int]], vocab_size: int) -> sp.csr_matrix:
    """M: the log of how much more often than by chance a word occurs in a document."""
    contained = [np.unique(np.asarray(document, np.int64)) for document in documents]
    words = np.concatenate(contained) if contained else np.zeros(0, np.int64)
    if not len(words) or words.min() < 0 or words.max() >= vocab_size:
        raise InputError(f"expected documents with words from 0 to {vocab_size - 1}")
    ends = np.cumsum([0, *(len(found) for found in contained)])
    sizes = np.diff(ends)
    counts = np.bincount(words, minlength=vocab_size)
    chance = counts[words] / len(words) * np.repeat(sizes, sizes)
    information = np.maximum(0.0, -np.log(chance))
    return sp.csr_matrix((information, words, ends), shape=(len(contained), vocab_size))
