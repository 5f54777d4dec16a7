"""Whether all processes were given the same model, data and settings, of which they take shares."""

import hashlib
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from chainrule.errors import InputError
from chainrule.training import checkpoint
from chainrule.training.distributed.group import Group
from chainrule.training.distributed.lost import answered
from chainrule.training.randomness import GENERATOR
from chainrule.training.sources.base import BatchSource
from chainrule.training.trainer import TrainSpec, origin


def check_alike(model: nn.Module, spec: TrainSpec, group: Group) -> None:
    """Refuse what differs between the processes; all begin with the weights of the first."""
    own = {
        "models": str([(name, t.shape, t.dtype) for name, t in model.state_dict().items()]),
        "settings": str(origin(spec.settings, {})),
        "data": f"{spec.train.describe()} {fingerprint(spec.train, spec)}",
        "validation data": str(spec.validation and len(spec.validation)),
    }
    every = group.gather({name: digest(value) for name, value in own.items()})
    differ = [name for name in own if any(one[name] != every[0][name] for one in every)]
    if differ:
        raise InputError(
            f"the processes were given different {differ[0]}; every one needs the same, of which "
            "it takes its share itself: load all of the data in each, seed what draws at random "
            "(NumPy and random too), and leave out samplers by rank"
        )
    with torch.no_grad(), answered():
        for t in model.state_dict().values():
            if t.numel():
                whole = t.contiguous()
                dist.broadcast(whole, 0)
                t.copy_(whole)


def fingerprint(source: BatchSource, spec: TrainSpec) -> str:
    """A checksum of some examples, read without a trace in torch's generator."""
    with GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        found = hashlib.sha256()
        for t in source.sample(spec.settings):
            found.update(checkpoint.as_bytes(t))
    return found.hexdigest()


def digest(value: Any) -> str:
    """SHA-256 of what a value is printed as."""
    return hashlib.sha256(str(value).encode()).hexdigest()
