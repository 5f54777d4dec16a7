"""Texts: files, labels, pairs, treebanks."""
