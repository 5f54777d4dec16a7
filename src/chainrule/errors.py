"""The exceptions that speak to the user."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, what was expected, what to do.

    Messages name arguments as Python does; the command line prints them as flags and exits with 2.
    """


class DivergenceError(InputError):
    """A loss or a weight is no longer finite."""


class NotBatchableError(InputError):
    """Networks or settings that cannot be trained in one batched program."""
