"""What holds for every data set, the next one included."""

from dataclasses import fields
from pathlib import Path

import pytest
import torch

from chainrule import registry
from chainrule.data import Split, Splits, cache, encoder_from_json
from chainrule.data.readers.tables.table_encoder import TableEncoder

FROM_FILES = {
    "default",
    "fashion-mnist",
    "hitters",
    "mnist",
    "nyse",
    "spam",
    "usps",
    "digit-boxes",
    "digit-scenes",
    "digit-sets",
    "mnist-points",
    "modelnet10",
    "cora",
    "citeseer",
}
PLACES = {"digit-sets"}  # whose x are places in a table
PLACES |= {"block-model", "citeseer", "cora", "karate", "random-graphs"}  # … or in a graph
TEXT = {"imdb", "multi30k", "tiny-shakespeare"}  # whose x are numbers of tokens
FROM_FILES |= {"multi30k", "tiny-shakespeare"}
FROM_FILES |= {"ewt", "squad"}
TEXT |= {"ewt", "squad"}
SPANS = {"squad"}  # whose y are places in x, and whose articles have different numbers of questions
IN_TIME = {"nyse"}  # validation is the last part of the training period, whatever the seed
PUBLISHED = {
    "citeseer",
    "cora",
    "ewt",
    "multi30k",
    "tiny-shakespeare",
}  # validation is what everybody takes
ENTRIES = {entry.name: entry for entry in registry.entries("data")}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "user_cache", lambda: folder)
        yield


@pytest.fixture(params=ENTRIES, scope="module")
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(name, request, tmp_path_factory) -> Path:
    if name == "cifar10":
        return request.getfixturevalue("cifar10_data")
    if name == "imdb":
        return request.getfixturevalue("few_reviews")
    if name in FROM_FILES:
        return request.getfixturevalue("big_data")
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="module")
def splits(name, folder) -> Splits:
    return ENTRIES[name].load().load(folder, seed=3)


def parts(splits: Splits) -> tuple[Split, Split, Split]:
    return splits.train, splits.validation, splits.test


def same(a: Split, b: Split) -> bool:
    return torch.equal(a.x, b.x) and torch.equal(a.y, b.y)


def test_it_says_what_it_is_and_where_it_comes_from(name):
    about = ENTRIES[name].load().ABOUT
    assert all(getattr(about, field.name).strip() for field in fields(about))
    assert about.task in (
        "classification",
        "regression",
        "segmentation",
        "detection",
        "language",
        "translation",
        "tagging",
        "questions",
    )
    assert 10 < len(ENTRIES[name].title) < 100


def test_its_splits_are_finite_tensors_of_one_shape_with_targets_of_the_task(name, splits):
    for x, y in parts(splits):
        assert len(x) == len(y) > 0
        assert x.shape[1:] == splits.train.x.shape[1:]
        if name in TEXT:
            assert not x.is_floating_point() and x.min() >= 0
        else:
            assert x.dtype == (torch.int64 if name in PLACES else torch.float32)
        assert x.isfinite().all() and x.is_contiguous()
        task = ENTRIES[name].load().ABOUT.task
        if task == "detection":  # classes and boxes in units of the image; -1 for no object
            assert y.dtype == torch.float32 and y.shape[2] == 5
            assert set(y[..., 0].unique().tolist()) <= {-1.0, *range(len(splits.classes))}
            boxes = y[y[..., 0] >= 0][:, 1:]
            assert boxes.min() > 0 and boxes.max() < 1
        elif task != "regression":
            assert y.dtype == torch.int64
            most = x.shape[1] if name in SPANS else len(splits.classes)
            assert y.min() >= 0 and y.max() < most
        else:
            assert y.dtype == torch.float32 and y.isfinite().all() and not splits.classes
    never = 2 if name == "tiny-shakespeare" else 0  # padding and unknown characters
    assert len(splits.train.y.unique()) >= len(splits.classes) - never
    if x.ndim == 4:
        assert splits.train.x.min() == 0 and splits.train.x.max() == 1


def test_its_seed_moves_the_validation_split_only(name, folder, splits):
    load = ENTRIES[name].load().load
    again, other = load(folder, seed=3), load(folder, seed=4)
    assert all(same(a, b) for a, b in zip(parts(splits), parts(again), strict=True))
    if name not in SPANS:
        assert [len(part.y) for part in parts(splits)] == [len(part.y) for part in parts(other)]
    assert torch.equal(splits.test.y, other.test.y)
    if not isinstance(splits.encoder, TableEncoder):  # which scales x by the training rows
        assert torch.equal(splits.test.x, other.test.x)
    assert same(splits.validation, other.validation) == (name in IN_TIME | PUBLISHED)


def test_its_encoder_survives_being_saved(splits):
    if splits.encoder is not None:
        assert encoder_from_json(splits.encoder.to_json()) == splits.encoder
