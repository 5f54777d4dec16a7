"""The one exception that speaks to the user."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, what was expected, what to do.

    The command line prints it as one sentence and exits with code 2.
    """
