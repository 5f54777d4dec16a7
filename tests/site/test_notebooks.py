"""Every chapter's notebook is executed, from its first cell to its last, with short training."""

import os
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SHORT = '''
import functools
import chainrule as cr
from chainrule import api

def at_most(function, epochs):
    """The function, with no more epochs than these."""
    def short(*arguments, **settings):
        return function(*arguments, **settings | {"epochs": min(epochs, settings.get("epochs", 1))})
    return short

cr.fit, cr.iterate = at_most(cr.fit, 2), at_most(cr.iterate, 2)
'''
