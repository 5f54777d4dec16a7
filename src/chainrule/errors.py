"""The exceptions that speak to the user."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, what was expected, what to do.

    Messages name arguments as Python does; the command line prints them as flags and exits with 2.

    >>> import chainrule as cr
    >>> try:
    ...     cr.check("novikof")
    ... except cr.InputError as error:
    ...     print(str(error)[:40])
    there is no claim named 'novikof'; did y
    """


class DivergenceError(InputError):
    """A loss or a weight is no longer finite."""


class NotBatchableError(InputError):
    """Networks or settings that cannot be trained in one batched program."""


class StopTraining(Exception):  # noqa: N818  as StopIteration: an order, not an error
    """Raised by a callback, or thrown into `iterate`, to end a run with the weights to keep.

    >>> import chainrule as cr
    >>> def enough(now):
    ...     raise cr.StopTraining("seen enough")
    >>> model, data = cr.models.MLP(2, [4], 2), cr.data.moons()
    >>> cr.fit(model, data, epochs=9, callbacks=[enough], progress=False).stopped
    'seen enough'
    """

    DEFAULT = "stopped by a callback"
