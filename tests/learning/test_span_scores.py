"""SQuAD's scores by hand: what counts as a word, and which right answer counts."""

import pytest

from chainrule.errors import InputError
from chainrule.learning.span_scores import exact_match, normalize_answer, token_f1


def test_case_marks_and_articles_do_not_count() -> None:
    assert normalize_answer("The  Denver-Broncos, a team!") == ["denverbroncos", "team"]
    assert exact_match(["the dog."], [["Dog"]]) == 1
    assert exact_match(["dogs"], [["Dog"]]) == 0


def test_f1_is_twice_the_words_in_common_over_all_words() -> None:
    assert token_f1(["old brown dog"], [["brown dog ran away"]]) == pytest.approx(4 / 7)
    assert token_f1(["dog dog"], [["dog"]]) == pytest.approx(2 / 3)
    assert token_f1(["cat"], [["dog"]]) == 0
    assert token_f1(["the"], [["a"]]) == 0  # both are without words: the rule of SQuAD 1.1


def test_the_best_right_answer_counts_and_questions_are_averaged() -> None:
    found, right = ["in 1863", "Paris"], [["1863", "in 1863"], ["London"]]
    assert exact_match(found, right) == token_f1(found, right) == 0.5


def test_answers_without_right_ones_are_refused() -> None:
    for found, right in ((["a"], []), ([], []), (["a"], [[]])):
        with pytest.raises(InputError, match="at least one correct answer"):
            token_f1(found, right)
