"""The only place that prints, draws or writes pages. It takes plain values."""
