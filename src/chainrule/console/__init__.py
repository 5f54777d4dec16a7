"""The only place that prints. It takes plain values."""
