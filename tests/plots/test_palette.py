"""The palettes: plain strings that stay apart for every kind of color vision."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from chainrule.plots.palette import EXTENDED_PALETTE, PALETTE

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(color: str, vision: str) -> np.ndarray:
    """CIELAB of a color as seen with this kind of vision."""
    rgb = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    xyz = XYZ @ seen / XYZ.sum(1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def nearest(colors: tuple[str, ...], vision: str) -> float:
    """The smallest distance of two colors in CIELAB."""
    return min(np.linalg.norm(lab(a, vision) - lab(b, vision)) for a, b in combinations(colors, 2))


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("colors", [PALETTE, EXTENDED_PALETTE], ids=["six", "ten"])
def test_colors_stay_apart(colors: tuple[str, ...], vision: str) -> None:
    assert nearest(colors, vision) > 15


def test_colors_that_look_alike_are_noticed() -> None:
    alike = ("#E07B00", "#B8A300")
    assert nearest(alike, "normal") > 15 > nearest(alike, "deuteranopia")


def test_the_first_four_stay_apart_in_gray() -> None:
    lightness = sorted(lab(color, "normal")[0] for color in PALETTE[:4])
    assert np.diff(lightness).min() > 7


def test_colors_can_be_imported_without_matplotlib() -> None:
    code = (
        "import sys; from chainrule.plots.palette import PALETTE;"
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'numpy', 'torch')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
