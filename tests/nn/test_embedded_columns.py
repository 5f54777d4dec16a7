"""Vectors of words: by hand, and learned."""

import torch
from torch import nn

from chainrule.nn.embedded_columns import EmbeddedColumns, embedding_width


def test_the_number_of_a_word_is_replaced_by_its_vector():
    words = {1: 9}
    model = EmbeddedColumns(nn.Identity(), 3, words)
    x = torch.tensor([[0.5, 4.0, -1.0], [0.25, 0.0, 2.0]])
    found = model(x)
    assert found.shape == (2, EmbeddedColumns.width(3, words)) == (2, 5)
    assert torch.equal(found[:, :2], x[:, [0, 2]])
    assert torch.equal(found[:, 2:], model.tables[0].weight[[4, 0]])


def test_the_width_is_the_root_of_the_number_of_words():
    assert [embedding_width(n) for n in (1, 4, 5, 100, 10_000)] == [1, 2, 3, 10, 16]


def test_vectors_learn():
    torch.manual_seed(0)
    x = torch.arange(8.0).repeat(20)[:, None]
    y = (x.squeeze(1) % 3 == 0).float()
    model = EmbeddedColumns(nn.Linear(EmbeddedColumns.width(1, {0: 7}), 1), 1, {0: 7})
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    for _ in range(200):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
