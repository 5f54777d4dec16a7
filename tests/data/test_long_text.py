"""A text that stays on the disk has the tokens of one that is read into memory."""

import gzip
from pathlib import Path

import pytest
import torch

from chainrule.data import text_file
from chainrule.data.readers.texts import long_text
from chainrule.errors import InputError

TEXT = "The quick brown fox jumps over the lazy dog.\r\nЖ and 漢 too.\n" * 200


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(long_text, "CHUNK", 7)  # an end of a line falls between two parts


def write(path: Path, text: str = TEXT) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("letters", [10, 400])
def test_tokens_and_splits_are_those_of_a_short_text(
    letters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "".join(chr(0x4E00 + k) for k in range(letters))  # beyond one byte per token
    path = write(tmp_path / "text.txt", TEXT + more)
    short = text_file(path)
    monkeypatch.setattr(long_text, "LONG", 0)
    for _ in range(2):  # made, then from the cache
        found = text_file(path)
        assert found.classes == short.classes and found.fingerprint
        assert found.train.x.dtype == (torch.uint8 if letters == 10 else torch.int16)
        for part in ("train", "validation", "test"):
            for mine, theirs in zip(getattr(found, part), getattr(short, part), strict=True):
                assert torch.equal(mine.long(), theirs)


def test_a_folder_is_read_in_the_order_of_names_and_held_out_parts_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in (("b.txt", "b" * 500), ("a.txt", "a" * 500)):
        write(folder / name, text)
    for limit in (long_text.LONG, 0):
        monkeypatch.setattr(long_text, "LONG", limit)
        found = text_file(folder)
        assert found.train.x[:3].tolist() == [2, 2, 2] and found.test.x[-1] == 3
    monkeypatch.setattr(long_text, "MOST_HELD_OUT", 20)
    found = text_file(folder)
    assert (len(found.train.x), len(found.test.x)) == (959, 19)


def test_damage_is_noticed_and_bad_text_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_text, "LONG", 0)
    path = write(tmp_path / "text.txt")
    before = text_file(path).train.x.clone()
    for copy in (tmp_path / "cache").rglob("*.npy"):
        content = bytearray(copy.read_bytes())
        content[-1] ^= 1
        copy.write_bytes(content)
    assert torch.equal(text_file(path).train.x, before)
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe" * 50)
    with pytest.raises(InputError, match="is not a text file in UTF-8"):
        text_file(tmp_path / "bad.txt")
    packed = tmp_path / "text.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert torch.equal(text_file(packed).train.x, before)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(InputError, match="is a damaged gzip file"):
        text_file(packed)
    with pytest.raises(InputError, match="exceeds `context_length` 5000"):
        text_file(path, 5000)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \.txt files"):
        text_file(tmp_path / "empty")
