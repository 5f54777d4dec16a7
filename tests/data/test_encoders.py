"""Readers of pictures and of plain numbers."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from chainrule.data import digits
from chainrule.data.encoders import ImageEncoder, VectorEncoder, encoder_from_json
from chainrule.errors import InputError


@pytest.fixture
def save(tmp_path):
    def save(pixels: np.ndarray, name: str = "picture.png") -> str:
        path = tmp_path / name
        Image.fromarray(pixels).save(path)
        return str(path)

    return save


def ink(size: int = 28) -> np.ndarray:
    """A bright bar on dark."""
    pixels = np.zeros((size, size), np.uint8)
    pixels[5:20, 12:16] = 255
    return pixels


GREY = ImageEncoder(size=28)


def test_a_grey_picture_of_the_right_size_is_read_exactly(save):
    x = GREY.encode_file(save(ink()))
    assert x.shape == (1, 1, 28, 28) and x.dtype == torch.float32
    assert torch.equal(x[0, 0], torch.from_numpy(ink()) / 255)


def test_dark_ink_on_paper_is_inverted_only_where_asked(save):
    path = save(255 - ink())
    assert torch.equal(GREY.encode_file(path)[0, 0], torch.from_numpy(ink()) / 255)
    plain = ImageEncoder(size=28, invert_bright=False).encode_file(path)
    assert torch.equal(plain[0, 0], 1 - torch.from_numpy(ink()) / 255)


def test_colour_and_transparency_become_the_same_grey_picture(save):
    expected = GREY.encode_file(save(ink()))
    colour = np.stack([255 - ink()] * 3, axis=2)
    assert torch.equal(GREY.encode_file(save(colour)), expected)
    transparent = np.zeros((28, 28, 4), np.uint8)
    transparent[:, :, 3] = ink()
    assert torch.equal(GREY.encode_file(save(transparent)), expected)
    deep = ink().astype(np.uint16) * 257
    assert torch.equal(GREY.encode_file(save(deep)), expected)


def test_colour_is_kept_channel_by_channel(save):
    colour = np.stack([ink(), ink() // 2, ink() * 0], axis=2)
    x = ImageEncoder(size=28, channels=3).encode_file(save(colour))
    assert torch.equal(x[0], torch.from_numpy(colour).permute(2, 0, 1) / 255)


def test_a_picture_that_is_not_square_is_padded_with_its_border(save):
    tall = np.full((40, 20), 255, np.uint8)
    tall[15:25, 5:15] = 0
    x = GREY.encode_file(save(tall))[0, 0]
    assert x[:, :5].max() < 1e-6 and x[:, -5:].max() < 1e-6
    assert x[14, 14] > 0.9


def test_a_jpeg_is_read_nearly_exactly(save):
    x = ImageEncoder(size=8).encode_file(save(np.full((80, 80), 40, np.uint8), "picture.jpg"))
    torch.testing.assert_close(x, torch.full((1, 1, 8, 8), 40 / 255), atol=0.01, rtol=0)


def test_a_digit_drawn_large_comes_back_as_the_digit(save):
    splits = digits.load()
    pixels = splits.test.x[0, 0].mul(255).round().byte().numpy()
    x = splits.encoder.encode_file(save(np.kron(pixels, np.ones((20, 20), np.uint8))))
    similarity = torch.cosine_similarity(x.flatten(), splits.test.x[0].flatten(), dim=0)
    assert similarity > 0.98


def test_files_that_are_no_pictures_are_refused(save, tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        GREY.encode_file(tmp_path / "none.png")
    whole = (tmp_path / save(ink())).read_bytes()
    for content in (b"", b"text", whole[:50], b"GIF89a" + bytes(20)):
        (tmp_path / "broken.png").write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as a PNG or JPEG"):
            GREY.encode_file(tmp_path / "broken.png")


@pytest.mark.parametrize("limit", [500, 300])
def test_a_picture_too_large_to_unpack_is_refused(save, monkeypatch, limit):
    path = save(ink())
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(InputError, match="make it smaller"):
        GREY.encode_file(path)


def test_vectors_are_read_by_name_as_they_are(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x2,note,x1\n1,a,-0.5\n3,b,4\n")
    assert VectorEncoder(("x1", "x2")).encode_file(path).tolist() == [[-0.5, 1], [4, 3]]
    with pytest.raises(InputError, match="expected the columns x1, x3, got x2, note, x1"):
        VectorEncoder(("x1", "x3")).encode_file(path)
    path.write_text("x1,x2\n1,2\n3,\n")
    with pytest.raises(InputError, match="none in column 'x2', row 2"):
        VectorEncoder(("x1", "x2")).encode_file(path)


@pytest.mark.parametrize("encoder", [ImageEncoder(8, 3, False), VectorEncoder(("x1", "x2"))])
def test_encoders_survive_json(encoder):
    assert encoder_from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_an_unknown_kind_of_encoder_is_refused():
    with pytest.raises(InputError, match="no encoder named 'sound'"):
        encoder_from_json({"kind": "sound"})
