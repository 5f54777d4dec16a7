"""Where tensors come from: one data set per file, and the reader of your own tables and arrays.

from chainrule.data import digits, table
digits.load().train.x                      # (1200, 1, 8, 8)
table("passengers.csv", target="survived")  # the same three splits from your own file
"""

from chainrule.data.readers.arrays import arrays, memory_mapped
from chainrule.data.readers.encoders import encoder_from_json
from chainrule.data.readers.table import table
from chainrule.data.splits import About, Encoder, Split, Splits

__all__ = [
    "About",
    "Encoder",
    "Split",
    "Splits",
    "arrays",
    "encoder_from_json",
    "memory_mapped",
    "table",
]
