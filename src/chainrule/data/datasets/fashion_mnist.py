"""Fashion-MNIST: 70,000 images of clothing.

Gray images of 28×28 in [0, 1] on a dark background; a harder MNIST of the same shape. The official
10,000 test images are the test split; the seed draws the validation split from the 60,000 others.
"""

from pathlib import Path

from chainrule.data.readers.images.idx import fetch_idx, idx_splits
from chainrule.data.splits import About, Splits

ABOUT = About(
    task="classification",
    source="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    license="MIT",
    citation="Xiao, Rasul and Vollgraf (2017), Fashion-MNIST, arXiv:1708.07747",
    shapes="x (n, 1, 28, 28) in [0, 1]; y 10 classes; 55,000 / 5,000 / 10,000",
)
CHECKSUMS = [
    "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "25c81989df183df01b3e8a0aad5dffbe",
    "bef4ecab320f06d8554ea6380940ec79",
    "bb300cfdad3c16e7a12a480ee83cd310",
]
CLASSES = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
MARGIN = 0.0  # its authors cropped every article to its outline


def load(folder: Path | None = None, seed: int = 0, validation: int = 5_000) -> Splits:
    """validation: size of the validation split."""
    paths = fetch_idx("fashion_mnist", ABOUT.source, CHECKSUMS, folder)
    return idx_splits(paths, CLASSES, validation, seed, MARGIN)
