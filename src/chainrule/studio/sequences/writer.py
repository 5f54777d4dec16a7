"""A text that grows token by token: what may follow it, with which probability, and what does."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.text.vocabulary import Vocabulary
from chainrule.models.attention.gpt import GPT
from chainrule.nn.decoding import sample_token, token_probabilities
from chainrule.runs.generate import check_prompt


class Sampling(NamedTuple):
    """How the next token is drawn."""

    temperature: float = 0.8
    top_k: int = 0
    top_p: float = 1.0


class Writer:
    """One text of a language model.

    With the same seed and unchanged sampling it becomes the text of `chainrule generate`. The next
    token is drawn in advance and drawn again, by the same random number, when the sampling changes.

    Args:
        model: GPT or a recurrent language model.
        vocabulary: of its tokens.
        prompt: what the text begins with.
        sampling: how the next token is drawn.
        seed: of the draws.
    """

    def __init__(
        self, model: Any, vocabulary: Vocabulary, prompt: str, sampling: Sampling, seed: int = 0
    ):
        check_prompt(prompt, vocabulary)
        self.model, self.vocabulary, self.prompt = model, vocabulary, prompt
        self.tokens = vocabulary.encode(prompt)
        self.generator = torch.Generator().manual_seed(seed)
        self.before = self.generator.get_state()
        self.read()
        self.choose(sampling)

    @torch.no_grad()
    def read(self) -> None:
        """The state after the whole text, or after as much of it as fits into the context."""
        window = self.tokens[-getattr(self.model, "context_length", len(self.tokens)) :]
        logits, self.state = self.model.decode_step(torch.tensor([window]))
        self.logits = self.words_only(logits)

    def choose(self, sampling: Sampling) -> None:
        """Draw the next token; the text does not change."""
        self.sampling = sampling
        self.generator.set_state(self.before)
        temperature, top_k, top_p = sampling
        drawn = sample_token(self.logits, temperature, top_k, self.generator, top_p)
        self.chosen = int(drawn)

    @torch.no_grad()
    def append(self) -> None:
        """Write the token that was drawn, and draw the next one."""
        self.tokens.append(self.chosen)
        self.before = self.generator.get_state()
        if isinstance(self.model, GPT) and self.state[0].length == self.model.context_length:
            self.read()
        else:
            logits, self.state = self.model.decode_step(torch.tensor([[self.chosen]]), self.state)
            self.logits = self.words_only(logits)
        self.choose(self.sampling)

    def words_only(self, logits: Tensor) -> Float[Tensor, "1 vocab"]:
        """The last logits, without the tokens that no text contains."""
        last = logits[:, -1].clone()
        last[:, : len(self.vocabulary.special_tokens)] = -torch.inf
        return last

    @property
    def text(self) -> str:
        return self.vocabulary.decode(self.tokens)

    def probabilities(self) -> tuple[Float[Tensor, " vocab"], Float[Tensor, " vocab"]]:
        """(those of sampling, the model's own) of every token."""
        return token_probabilities(self.logits, *self.sampling)[0], self.logits.softmax(-1)[0]
