"""Base classes and helpers that recipes of one family share."""
