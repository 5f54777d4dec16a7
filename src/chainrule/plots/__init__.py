"""The only place that draws. It takes plain values."""
