"""Readers of pictures and of plain numbers."""

import json

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont

from chainrule.data.datasets import digits, fashion_mnist, mnist, usps
from chainrule.data.readers.encoders import (
    MAX_SIDE,
    ImageEncoder,
    VectorEncoder,
    encoder_from_json,
)
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


GRAY = ImageEncoder(size=28)


def test_a_gray_picture_of_the_right_size_is_read_exactly(save):
    x = GRAY.encode_file(save(ink()))
    assert x.shape == (1, 1, 28, 28) and x.dtype == torch.float32
    assert torch.equal(x[0, 0], torch.from_numpy(ink()) / 255)


def test_dark_ink_on_paper_is_inverted_only_where_asked(save):
    path = save(255 - ink())
    assert torch.equal(GRAY.encode_file(path)[0, 0], torch.from_numpy(ink()) / 255)
    plain = ImageEncoder(size=28, invert_bright=False).encode_file(path)
    assert torch.equal(plain[0, 0], 1 - torch.from_numpy(ink()) / 255)


def test_color_and_transparency_become_the_same_gray_picture(save):
    expected = GRAY.encode_file(save(ink()))
    color = np.stack([255 - ink()] * 3, axis=2)
    assert torch.equal(GRAY.encode_file(save(color)), expected)
    transparent = np.zeros((28, 28, 4), np.uint8)
    transparent[:, :, 3] = ink()
    assert torch.equal(GRAY.encode_file(save(transparent)), expected)
    deep = ink().astype(np.uint16) * 257
    assert torch.equal(GRAY.encode_file(save(deep)), expected)


def test_color_is_kept_channel_by_channel(save):
    color = np.stack([ink(), ink() // 2, ink() * 0], axis=2)
    x = ImageEncoder(size=28, channels=3).encode_file(save(color))
    assert torch.equal(x[0], torch.from_numpy(color).permute(2, 0, 1) / 255)


def test_a_picture_that_is_not_square_is_padded_with_its_border(save):
    tall = np.full((40, 20), 255, np.uint8)
    tall[15:25, 5:15] = 0
    x = GRAY.encode_file(save(tall))[0, 0]
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
    assert similarity > 0.9


def drawn(digit: str, height: int, place: tuple[int, int], paper: int = 255) -> np.ndarray:
    """A digit in dark ink on a sheet of 300 × 300."""
    sheet = Image.new("L", (300, 300), paper)
    ImageDraw.Draw(sheet).text(place, digit, fill=0, font=ImageFont.load_default(height))
    return np.array(sheet)


@pytest.mark.parametrize("encoder", [ImageEncoder(8, margin=0.0), ImageEncoder(28, margin=1 / 7)])
@pytest.mark.parametrize("digit", "0123456789")
def test_neither_place_nor_size_nor_paper_of_a_drawing_matters(save, encoder, digit):
    expected = encoder.encode_file(save(drawn(digit, 150, (80, 60))))
    for height, place, paper, name in [
        (150, (3, 100), 255, "picture.png"),
        (90, (200, 5), 255, "picture.png"),
        (250, (40, 10), 255, "picture.png"),
        (150, (140, 30), 200, "picture.png"),
        (120, (20, 150), 255, "picture.jpg"),
    ]:
        x = encoder.encode_file(save(drawn(digit, height, place, paper), name))
        assert (x - expected).abs().mean() < 0.03
        assert torch.cosine_similarity(x.flatten(), expected.flatten(), dim=0) > 0.985


def test_the_noise_of_a_jpeg_is_not_ink(save, tmp_path):
    pixels = drawn("4", 100, (30, 150))
    expected = ImageEncoder(28, margin=0.1).encode_file(save(pixels))
    Image.fromarray(pixels).save(tmp_path / "rough.jpg", quality=10)
    x = ImageEncoder(28, margin=0.1).encode_file(tmp_path / "rough.jpg")
    assert (x - expected).abs().mean() < 0.03


@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (29, 29)])
def test_the_margin_around_the_ink_is_empty_and_its_inside_full(save, shape):
    pixels = np.full((100, 60), 255, np.uint8)
    pixels[60 : 60 + shape[0], 5 : 5 + shape[1]] = 0
    x = ImageEncoder(20, margin=0.2).encode_file(save(pixels))[0, 0]
    across = x if shape[0] >= shape[1] else x.T
    assert across[:4].max() < 0.1 and across[-3:].max() < 0.1
    assert across[5:15, 10].min() > 0.9
    assert across[:, 10].sum().item() == pytest.approx(12, abs=0.2)


def test_the_center_of_mass_is_in_the_middle_as_far_as_the_margin_reaches(save):
    heavy = np.full((90, 60), 255, np.uint8)
    heavy[10:60, 20:24] = 0
    heavy[50:60, 10:40] = 0
    x = ImageEncoder(28, margin=1 / 7).encode_file(save(heavy))[0, 0]
    rows = torch.arange(28) + 0.5
    # The convention of MNIST: the center of pixel 14.
    assert (x.sum(1) @ rows / x.sum()).item() == pytest.approx(14.5, abs=0.1)
    assert (x.sum(0) @ rows / x.sum()).item() == pytest.approx(14.5, abs=0.1)


@pytest.mark.parametrize("gray", [0, 40, 255])
def test_a_blank_picture_is_refused_where_ink_is_expected(save, gray):
    noise = np.random.default_rng(0).integers(-9, 10, (50, 50))
    path = save((gray + noise).clip(0, 255).astype(np.uint8))
    with pytest.raises(InputError, match=r"no ink found in .*picture.png; expected a drawing"):
        ImageEncoder(8, margin=0.0).encode_file(path)
    assert ImageEncoder(8).encode_file(path).shape == (1, 1, 8, 8)


@pytest.mark.parametrize("margin", [-0.1, 0.5, float("nan")])
def test_a_margin_that_leaves_no_room_is_refused(margin):
    with pytest.raises(InputError, match=r"margin must be at least 0 and below 0\.5"):
        ImageEncoder(8, margin=margin)


@pytest.mark.parametrize("data", [digits, fashion_mnist, mnist, usps])
def test_pictures_of_a_set_come_back_from_a_corner_of_a_larger_sheet(save, big_data, data):
    splits = data.load(big_data)
    similar = []
    for image in splits.test.x[:20]:
        pixels = np.kron(image[0].mul(255).round().byte().numpy(), np.ones((5, 5), np.uint8))
        sheet = np.full((2 * len(pixels), 3 * len(pixels)), 255, np.uint8)
        sheet[8 : 8 + len(pixels), 12 : 12 + len(pixels)] -= pixels
        x = splits.encoder.encode_file(save(sheet))
        similar.append(torch.cosine_similarity(x.flatten(), image.flatten(), dim=0))
    # The sets place their pictures on whole pixels, so up to half a pixel remains.
    assert torch.stack(similar).mean() > 0.93 and min(similar) > 0.75


def test_a_model_of_the_digits_reads_drawings_anywhere_on_the_sheet(save):
    from sklearn.linear_model import LogisticRegression

    splits = digits.load()
    model = LogisticRegression(C=0.1, max_iter=500)
    model.fit(splits.train.x.flatten(1).numpy(), splits.train.y.numpy())
    places = [(60, (10, 20)), (90, (150, 120)), (150, (90, 60))]
    paths = [
        (digit, save(drawn(str(digit), *place), f"{digit}-{place[0]}.png"))
        for digit in range(10)
        for place in places
    ]

    def right(encoder: ImageEncoder) -> float:
        x = torch.cat([encoder.encode_file(path) for _, path in paths]).flatten(1).numpy()
        return float((model.predict(x) == [digit for digit, _ in paths]).mean())

    assert right(splits.encoder) >= 0.5 > 0.2 >= right(ImageEncoder(8))


def test_files_that_are_no_pictures_are_refused(save, tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        GRAY.encode_file(tmp_path / "none.png")
    whole = (tmp_path / save(ink())).read_bytes()
    for content in (b"", b"text", whole[:50], b"GIF89a" + bytes(20)):
        (tmp_path / "broken.png").write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as a PNG, JPEG or WebP"):
            GRAY.encode_file(tmp_path / "broken.png")


def test_a_picture_too_large_for_its_square_is_refused_before_it_is_unpacked(save):
    path = save(np.zeros((1, MAX_SIDE + 1), np.uint8))
    with pytest.raises(InputError, match=r"has 6145 × 1 pixels; reduce its size to at most 6,144"):
        GRAY.encode_file(path)


def test_vectors_are_read_by_name_as_they_are(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x2,note,x1\n1,a,-0.5\n3,b,4\n")
    assert VectorEncoder(("x1", "x2")).encode_file(path).tolist() == [[-0.5, 1], [4, 3]]
    with pytest.raises(InputError, match=r"points.csv: missing columns 'x3', 'x4'.*'note'"):
        VectorEncoder(("x1", "x3", "x4")).encode_file(path)
    path.write_text("x1,x2\n1,word\n")
    with pytest.raises(InputError, match=r"points.csv: column 'x2', row 1 .* got 'word'"):
        VectorEncoder(("x1", "x2")).encode_file(path)
    path.write_text("x1,x2\n1,2\n3,\n")
    with pytest.raises(InputError, match=r"points.csv: .* none in column 'x2', row 2"):
        VectorEncoder(("x1", "x2")).encode_file(path)


@pytest.mark.parametrize(
    "encoder", [ImageEncoder(8, 3, False), ImageEncoder(28, margin=1 / 7), VectorEncoder(("x1",))]
)
def test_encoders_survive_json(encoder):
    assert encoder_from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_a_picture_reader_saved_before_there_were_margins_takes_the_whole_picture():
    state = {"kind": "image", "size": 8, "channels": 1, "invert_bright": True}
    assert encoder_from_json(state) == ImageEncoder(8)


def test_an_unknown_kind_of_encoder_is_refused():
    with pytest.raises(InputError, match="no encoder named 'sound'"):
        encoder_from_json({"kind": "sound"})


def test_pixels_are_encoded_as_their_file_is(save) -> None:
    encoder = ImageEncoder(size=28, margin=4 / 28)
    assert torch.equal(encoder.encode_pixels(ink(40)), encoder.encode_file(save(ink(40))))
    with pytest.raises(InputError, match="no ink found in the drawing"):
        encoder.encode_pixels(np.zeros((8, 8), np.uint8))
