"""Many networks of one architecture, trained in one batched program."""
