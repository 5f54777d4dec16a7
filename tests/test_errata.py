"""Slips of the notes that are facts about a text, not about a network."""


def test_the_longer_sentence_of_the_motivation_for_recurrence_has_nine_words() -> None:
    short = "Unfortunately it will rain."
    long = "All students were generously gifted five dollars for attending."
    assert (len(short.split()), len(long.split())) == (4, 9)  # A 2.3.1 says 4 and 8
