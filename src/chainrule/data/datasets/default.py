"""Default: 10,000 credit-card customers, of whom 333 default on their debt.

Simulated for the book; the features are student, balance and income. A fixed, stratified fifth is
the test split; the seed draws another fifth for validation.
"""

from pathlib import Path

from chainrule.data.readers.islp import about, islp_table
from chainrule.data.readers.tables.table import table
from chainrule.data.splits import Splits

ABOUT = about(
    "classification",
    "Default",
    "x (n, 4): student one-hot, balance and income standardized; y No, Yes; 6,000 / 2,000 / 2,000",
)
CHECKSUM = "d113590204485565bdd692b2d8430e7c2fcc72ec323df92314a745c99a0eefe9"


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    header = ("default", "student", "balance", "income")
    columns = islp_table("Default", CHECKSUM, 10_000, header, folder)
    return table(columns, target="default", seed=seed)
