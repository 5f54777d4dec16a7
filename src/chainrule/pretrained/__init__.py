"""Published weights: name maps and loading."""
