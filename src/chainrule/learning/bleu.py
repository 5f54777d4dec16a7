"""BLEU: the n-grams of one to four words that a translation shares with its reference.

    BLEU = 100 · min(1, e^{1 - r/c}) · (p_1 p_2 p_3 p_4)^{1/4}

p_n is the fraction of the translations' n-grams that occur in the references; c and r are the
numbers of words of all translations and all references. Computed by sacrebleu, ignoring case.

Papineni et al. (2002), ACL; Post (2018), WMT. Notes: J 5.3.
"""

from collections.abc import Sequence

from chainrule.arguments import checked
from chainrule.errors import InputError


@checked
def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of the whole corpus, from 0 to 100."""
    if len(translations) != len(references) or not translations:
        raise InputError(
            "expected one reference for every translation, got "
            f"{len(references)} for {len(translations)}"
        )
    check_installed()
    import sacrebleu

    # force=True silences the warning about tokenized full stops.
    found = sacrebleu.corpus_bleu(
        list(translations), [list(references)], lowercase=True, force=True
    )
    return float(found.score)


@checked
def check_installed() -> None:
    """Fail before training rather than after it."""
    try:
        import sacrebleu  # noqa: F401
    except ImportError:
        raise InputError("BLEU needs sacrebleu: pip install 'chainrule[text]'") from None
