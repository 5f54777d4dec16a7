"""What every activity needs, imported once in the process from which all children are forked."""

import sklearn.datasets  # noqa: F401
import torch  # noqa: F401

import chainrule.learning.tasks
import chainrule.models.feedforward
import chainrule.studio.player
import chainrule.training  # noqa: F401
