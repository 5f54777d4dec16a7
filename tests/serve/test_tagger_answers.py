"""A tagger answers a service with one answer for each text, however many words it has."""

from chainrule.serve.inputs import divided
from chainrule.serve.texts import by_sentence


def test_the_words_of_each_text_are_put_together() -> None:
    rows = [
        {"sentence": 1, "word": "dogs", "prediction": "N"},
        {"sentence": 1, "word": "run", "prediction": "V"},
        {"sentence": 2, "word": "no", "prediction": "X"},
    ]
    found = by_sentence(["dogs run", "no"], rows)
    assert [answer["prediction"] for answer in found] == [["N", "V"], ["X"]]
    assert [answer["input"] for answer in found] == ["dogs run", "no"]
    assert found[0]["words"][1] == {"word": "run", "prediction": "V"}
    assert divided(found, [["dogs run"], ["no"]]) == [[found[0]], [found[1]]]
    plain = [{"input": "a", "prediction": "good"}]
    assert by_sentence(["a"], plain) == plain
