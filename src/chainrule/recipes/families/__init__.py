"""What recipes of one family share: one small base per family."""
