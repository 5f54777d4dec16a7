"""chainrule: a deep-learning course as working software."""

__version__ = "0.1.0"
