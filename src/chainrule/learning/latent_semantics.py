"""Latent semantic analysis: words that appear in the same documents get vectors that point alike.

    M_dw = max(0, log p(d, w) / (p(d) p(w)))     from which words a document holds, not how often
    M ≈ U S Vᵀ,   e_w = S V_w / ‖S V_w‖          the k largest singular values

Without a label and within seconds. Which words stand side by side does not tell praise from blame:
"wonderful" and "dreadful" fill the same gaps; which words share a review does.

Deerwester, Dumais, Furnas, Landauer and Harshman (1990), JASIS; Levy, Goldberg and Dagan (2015),
TACL, for the weights M. Notes: J 6.5 (pre-training), where it gives a part of every embedding.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from jaxtyping import Float
from sklearn.utils.extmath import randomized_svd
from torch import Tensor

from chainrule.errors import InputError


def latent_semantics(
    documents: Sequence[Sequence[int]], symbols: int, dimensions: int, seed: int = 0
) -> Float[Tensor, "symbols dimensions"]:
    """A vector of length one for each word; zero for words that no document holds, or all do."""
    M = shared_information(documents, symbols)
    if not 1 <= dimensions <= min(M.shape):
        raise InputError(
            f"{M.shape[0]} documents of {symbols} words have {min(M.shape)} dimensions at most, "
            f"got {dimensions}"
        )
    _, S, V = randomized_svd(M, dimensions, random_state=seed)
    e = V.T * S
    length = np.linalg.norm(e, axis=1, keepdims=True)
    e = np.divide(e, length, out=np.zeros_like(e), where=length > 1e-9 * length.max())
    return torch.from_numpy(e).float()


def shared_information(documents: Sequence[Sequence[int]], symbols: int) -> sp.csr_matrix:
    """M: how much more often than by chance a word is in a document, as a logarithm."""
    held = [np.unique(np.asarray(document, np.int64)) for document in documents]
    words = np.concatenate(held) if held else np.zeros(0, np.int64)
    if not len(words) or words.min() < 0 or words.max() >= symbols:
        raise InputError(f"expected documents with words from 0 to below {symbols}")
    ends = np.cumsum([0, *(len(found) for found in held)])
    sizes = np.diff(ends)
    counts = np.bincount(words, minlength=symbols)
    chance = counts[words] / len(words) * np.repeat(sizes, sizes)
    information = np.maximum(0.0, -np.log(chance))
    return sp.csr_matrix((information, words, ends), shape=(len(held), symbols))
