"""The data sets, one per file.

Each file defines `ABOUT`, the origin of the data, and `load(folder=None, seed=0, …)`, which returns
`Splits`. `chainrule.data.NAME` is that function under the name of its file.
"""
