"""BLEU: how many runs of one to four words a translation shares with the reference.

    BLEU = 100 · min(1, e^{1 - r/c}) · (p_1 p_2 p_3 p_4)^{1/4}

p_n: share of the translations' runs of n words that the references hold as well; c and r: words of
all translations and of all references. sacrebleu computes it, without regard to case.

Papineni et al. (2002), ACL; Post (2018), WMT. Notes: J 5.3.
"""

from collections.abc import Sequence

from chainrule.errors import InputError


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """0 to 100, over all sentences together."""
    if len(translations) != len(references) or not translations:
        raise InputError(
            "expected one reference for every translation, got "
            f"{len(references)} for {len(translations)}"
        )
    check_installed()
    import sacrebleu

    # force: no advice on standard error for sentences whose full stop stands alone.
    found = sacrebleu.corpus_bleu(
        list(translations), [list(references)], lowercase=True, force=True
    )
    return float(found.score)


def check_installed() -> None:
    """Better before the training than after it."""
    try:
        import sacrebleu  # noqa: F401
    except ImportError:
        raise InputError("BLEU needs sacrebleu: pip install 'chainrule[text]'") from None
