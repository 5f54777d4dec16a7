"""Holding out: nothing lost, nothing doubled, classes in proportion."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from chainrule.data.splits import Split, Splits, hold_out, stratified_indices, three_way_split
from chainrule.errors import InputError

LABELS = st.lists(st.integers(0, 3), min_size=12, max_size=60)


@given(LABELS, st.booleans(), st.integers(0, 2**31), st.data())
def test_every_row_is_in_exactly_one_part(labels, regression, seed, data):
    y = torch.tensor(labels, dtype=torch.float32 if regression else torch.int64)
    number = data.draw(st.integers(1, len(y) - (1 if regression else len(y.unique()))))
    rest, held = stratified_indices(y, number, seed)
    assert len(held) == number
    assert torch.cat([rest, held]).sort().values.tolist() == list(range(len(y)))
    assert regression or torch.equal(y[rest].unique(), y.unique())


@given(st.lists(st.integers(2, 30), min_size=2, max_size=5), st.integers(0, 99), st.data())
def test_each_class_gives_its_share_rounded_up_or_down(counts, seed, data):
    y = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    others = len(y) - len(counts)
    number = data.draw(st.integers(1, others))
    _, held = stratified_indices(y, number, seed)
    for label, count in enumerate(counts):
        assert abs(int((y[held] == label).sum()) - number * (count - 1) / others) < 1 + 1e-9


def test_the_seed_decides():
    y = torch.zeros(50)
    assert torch.equal(stratified_indices(y, 10, 1)[1], stratified_indices(y, 10, 1)[1])
    assert not torch.equal(stratified_indices(y, 10, 1)[1], stratified_indices(y, 10, 2)[1])


def test_every_row_is_equally_likely_to_be_held_out():
    y = torch.tensor([0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2])
    hits = torch.zeros(len(y))
    for seed in range(1_000):
        hits[stratified_indices(y, 6, seed)[1]] += 1
    # Six standard deviations of a binomial frequency around 1/2.
    assert (hits / 1_000 - 0.5).abs().max() < 6 * (0.25 / 1_000) ** 0.5


@pytest.mark.parametrize("number", [-1, 0, 10, 11])
def test_holding_out_none_or_all_is_refused(number):
    with pytest.raises(InputError, match="expected a number from 1 to 9"):
        hold_out(torch.zeros(10, 2), torch.zeros(10), number, 0)


def test_only_the_validation_split_follows_the_seed():
    x, y = torch.arange(100.0)[:, None], torch.zeros(100)
    first, second = three_way_split(x, y, 20, 30, seed=1), three_way_split(x, y, 20, 30, seed=2)
    assert [len(part.y) for part in first] == [50, 30, 20]
    assert torch.equal(first[2].x, second[2].x)
    assert not torch.equal(first[1].x, second[1].x)


def test_splits_print_their_shapes_classes_and_notes():
    part = Split(torch.zeros(5, 1, 8, 8), torch.zeros(5, dtype=torch.int64))
    assert repr(Splits(part, part, part, ("no", "yes"), remarks=("one row was left out",))) == (
        "Splits\n"
        "  train: Split(x (5, 1, 8, 8) float32, y (5,) int64)\n"
        "  validation: Split(x (5, 1, 8, 8) float32, y (5,) int64)\n"
        "  test: Split(x (5, 1, 8, 8) float32, y (5,) int64)\n"
        "  2 classes: no, yes\n"
        "  note: one row was left out"
    )
    assert repr(Splits(part, part, part)).endswith("regression")
    many = repr(Splits(part, part, part, tuple(map(str, range(1_000)))))
    assert "1,000 classes: 0, 1," in many and "18, 19, …" in many and "20" not in many


def test_a_split_unpacks_and_prints_its_shapes():
    part = Split(torch.zeros(5, 3), torch.zeros(5))
    x, y = part
    assert x is part.x is part[0] and y is part.y
    assert repr(part) == "Split(x (5, 3) float32, y (5,) float32)"
    assert "<td>(5, 3) float32</td>" in part._repr_html_() and "<img" not in part._repr_html_()


def test_a_notebook_shows_a_table_with_sample_images():
    x = torch.zeros(12, 1, 8, 8)
    x[:, :, 2:4] = 1
    part = Split(x, torch.arange(12) % 3)
    page = Splits(part, part, part, ("<a>", "b", "c"), remarks=("a & b",))._repr_html_()
    assert page.count("<tr>") == 4
    row = ("train", "12", "(12, 1, 8, 8) float32", "(12,) int64", "3")
    assert "".join(f"<td>{cell}</td>" for cell in row) in page
    assert "3 classes: &lt;a&gt;, b, c" in page and "a &amp; b" in page
    source = page.partition("base64,")[2].partition('"')[0]
    image = np.asarray(Image.open(BytesIO(b64decode(source))))
    assert image.shape == (56, 10 * 9 * 7, 3), "ten images, seven pixels for one, white between"
    assert image[20, 3].tolist() == [255, 255, 255] and image[0, 3].tolist() == [0, 0, 0]


def test_a_notebook_shows_no_images_of_other_data():
    part = Split(torch.zeros(5, 4), torch.zeros(5))
    page = Splits(part, part, part)._repr_html_()
    assert "regression" in page and "<td>–</td>" in page and "<img" not in page
