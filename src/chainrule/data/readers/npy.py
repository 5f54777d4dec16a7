"""Arrays of numbers in NumPy's .npy and .npz formats; nothing is unpickled.

.npy    a magic number, a header with shape and type, then the numbers
.npz    a zip archive of .npy files
"""

import math
import warnings
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from chainrule.data.files import MAX_UNPACKED, opened, reading, unzip
from chainrule.errors import InputError

FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TokenError,
    TypeError,
)
"""What the parser of a damaged header raises besides ValueError."""
HEADERS: dict[tuple[int, int], Callable[[Any], tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def npz_arrays(path: Path, names: Sequence[str], limit: int = MAX_UNPACKED) -> list[np.ndarray]:
    """These arrays of an .npz file, each of at most `limit` bytes."""
    with opened(path) as stream, reading(path), zipfile.ZipFile(stream) as archive:
        return [npy_array(unzip(archive, f"{name}.npy", limit)) for name in names]


def npy_array(content: bytes) -> np.ndarray:
    """The numbers of an .npy file."""
    stream = BytesIO(content)
    try:
        with warnings.catch_warnings(action="ignore"):  # a damaged header is odd Python
            shape, fortran_order, dtype = HEADERS[np.lib.format.read_magic(stream)](stream)
    except FAULTS as error:
        raise InputError("expected the header of an .npy file") from error
    left = len(content) - stream.tell()
    if dtype.kind not in "biuf" or min(shape, default=0) < 0:
        raise InputError(f"expected an array of numbers, got {dtype} of shape {shape}")
    if math.prod(shape) * dtype.itemsize != left:
        raise InputError(f"expected {math.prod(shape)} numbers, got {left} bytes")
    flat = np.frombuffer(content, dtype, offset=stream.tell())
    return flat.reshape(shape, order="F" if fortran_order else "C")
