"""A GPT on your own text, by characters, or by the tokens of a published GPT-2.

    chainrule train gpt --text my.txt
    chainrule train gpt --text my.txt --from FOLDER         a GPT-2 of the Hugging Face hub
    chainrule generate runs/gpt-1 --prompt "Once upon" --temperature 0.8 --top-p 0.9

A twentieth of the text is held out for early stopping, so that a short text is not memorized.
Radford et al. (2018). Notes: J 6.4, L "Transformer Impact".
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from chainrule.data.readers.texts.text_file import text_file
from chainrule.data.splits import Splits
from chainrule.data.text.byte_pairs import BytePairs
from chainrule.data.text.hub_tokenizers import hub_byte_pairs
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.errors import InputError
from chainrule.models.attention.gpt import GPT
from chainrule.pretrained.hub import gpt2_sizes
from chainrule.recipes.families.gpt import GPTRecipe
from chainrule.recipes.families.hub_sizes import take_sizes
from chainrule.runs.published import hub_config
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run
from chainrule.training import Settings

SIZES = ("context_length", "hidden_size", "num_layers", "num_heads")


@dataclass(frozen=True, kw_only=True)
class Recipe(GPTRecipe):
    """128 characters of a text → 4 blocks of 4 heads, 128 wide → their next ones."""

    reference: ClassVar[str] = "J 6.4, L 'Transformer Impact'"
    data_fields: ClassVar[tuple[str, ...]] = ("text", "context_length", "from_run")

    text: str
    """Text file in UTF-8, or a folder of .txt files; a long text stays on the disk."""
    from_run: str = ""
    """A finished run of this recipe, or a folder of the Hugging Face hub with a GPT-2, whose
    vocabulary and weights this run starts from."""
    context_length: int = 128
    dropout: float = 0.1
    settings: Settings = replace(
        GPTRecipe.settings, batch_size=16, epochs=12, learning_rate=3e-3, patience=4
    )

    def __post_init__(self) -> None:
        # The run must be able to find its text from any folder.
        object.__setattr__(self, "text", str(Path(self.text).resolve()))
        if self.from_run:
            object.__setattr__(self, "from_run", str(Path(self.from_run).resolve()))
            take_sizes(self, gpt2_sizes, type(self))

    def data(self, folder: Path | None) -> Splits:
        return text_file(self.text, self.context_length, self.vocabulary())

    def vocabulary(self) -> Vocabulary | None:
        """The tokens of the run or the network that this one starts from."""
        if not self.from_run:
            return None
        start = Path(self.from_run)
        if hub_config(start):
            return hub_byte_pairs(start)
        run = Run.load(start)
        if not isinstance(run.recipe, GPTRecipe) or not run.finished:
            raise InputError(
                f"{start} is neither a finished run of a GPT nor a folder with a GPT-2, which "
                "`from_run` needs; make one with: chainrule train gpt"
            )
        other = [name for name in SIZES if getattr(run.recipe, name) != getattr(self, name)]
        if other:
            wanted = (f"`{name}` {getattr(run.recipe, name)}" for name in other)
            raise InputError(
                f"the run in {start} has other sizes than this one; set {', '.join(wanted)}"
            )
        assert isinstance(run.summary.encoder, Vocabulary)
        return run.summary.encoder

    def model(self, summary: DataSummary) -> GPT:
        """Byte pairs are GPT-2's, whose GELU has another form."""
        if not isinstance(summary.encoder, BytePairs):
            return super().model(summary)
        sizes = self.context_length, self.hidden_size, self.num_layers, self.num_heads
        return GPT.gpt2(summary.vocab_size, *sizes, self.dropout)
