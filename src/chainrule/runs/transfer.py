"""Starting from the weights of another run, or from published ones: what is taken, what is new.

A report says what was taken over, what was not and why, and what stays frozen. A source that fits
less than half of the weights is refused: the rest would be trained from scratch, unnoticed.

The head, all tensors whose shape depends on the number of classes, is new unless both runs have the
same classes. Notes: A 1.0.2 (transfer learning), J 6.5 (fine-tuning).
"""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.runs.configuration import Configuration
from chainrule.runs.folder import DATA, MODEL
from chainrule.runs.published import INDEX, WEIGHTS, class_names, read_weights, under_our_names
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, build
from chainrule.training import checkpoint

LISTED = 4  # names of each kind that a report spells out
LEAST = 0.5  # share of the numbers in the weights, besides the head, that a source must give


@dataclass(frozen=True)
class TransferReport:
    """Names of tensors by what became of them."""

    source: str
    taken: tuple[str, ...]
    new_head: tuple[str, ...]
    other_shape: tuple[str, ...]
    not_in_source: tuple[str, ...]
    left_behind: tuple[str, ...]

    def __str__(self) -> str:
        total = len(self.taken) + len(self.new_head) + len(self.other_shape)
        total += len(self.not_in_source)
        parts = [f"{len(self.taken)} of {total} tensors taken from {self.source}"]
        for what, names in (
            ("new head", self.new_head),
            ("other shape, so new", self.other_shape),
            ("not in the source, so new", self.not_in_source),
            ("left behind", self.left_behind),
        ):
            if names:
                parts.append(f"{what}: {listed(names)}")
        return "; ".join(parts)

    def faults(self) -> str:
        """What does not fit."""
        kinds = (("of another shape", self.other_shape), ("not there", self.not_in_source))
        return "; ".join(f"{what}: {listed(names)}" for what, names in kinds if names)


def listed(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def source_weights(start: Path) -> dict[str, Tensor]:
    """The weights of a run, of a safetensors file, or of a folder of the Hugging Face hub."""
    if (start / DATA).is_file() and (start / MODEL).is_file():
        return checkpoint.load(start / MODEL)[0]
    files = (start / WEIGHTS, start / INDEX) if start.is_dir() else (start,)
    if not any(path.is_file() for path in files):
        raise InputError(
            f"`from_run` {start} is neither a finished run nor a .safetensors file or a folder "
            "with one; chainrule train makes runs"
        )
    return read_weights(start)


def start_from(
    configuration: Configuration, model: nn.Module, summary: DataSummary, source: Path
) -> TransferReport:
    """Take over the weights of a run, or published ones under their public names."""
    weights = source_weights(source)
    a_run = (source / DATA).is_file()
    classes = Run.load(source).summary.classes if a_run else class_names(source)
    same = bool(classes or a_run) and classes == summary.classes
    if not a_run and not any(fits(model, name, t) for name, t in weights.items()):
        weights = under_our_names(model, weights, source, same)
    head = () if same else head_tensors(configuration, summary)
    return transfer(model, weights, source.name, head)


def fits(model: nn.Module, name: str, tensor: Tensor) -> bool:
    """Whether the model learns a weight matrix of this name and shape."""
    own = dict(model.named_parameters())
    return tensor.ndim > 1 and name in own and own[name].shape == tensor.shape


def transfer(
    model: nn.Module, weights: Mapping[str, Tensor], source: str, head: Sequence[str] = ()
) -> TransferReport:
    """Copy the weights whose name and shape agree into the model.

    Args:
        model: changed in place.
        weights: tensors by name.
        source: where they come from, for the report.
        head: names of tensors that keep their initial values.
    """
    own = model.state_dict()
    fitting = {
        name: t
        for name, t in weights.items()
        if name in own and own[name].shape == t.shape and name not in head
    }
    rest = [name for name in own if name not in fitting and name not in head]
    report = TransferReport(
        source,
        tuple(fitting),
        tuple(head),
        tuple(name for name in rest if name in weights),
        tuple(name for name in rest if name not in weights),
        tuple(name for name in weights if name not in own),
    )
    check_share(model, report, tuple(weights))
    model.load_state_dict(fitting, strict=False)
    checkpoint.check_finite(model, Path(source))
    return report


def check_share(model: nn.Module, report: TransferReport, given: tuple[str, ...]) -> None:
    """Refuse a source that fits less than half of the weights; statistics do not count.

    Args:
        model: before anything is loaded.
        report: what would be taken.
        given: names of the source's tensors.
    """
    sizes = {n: p.numel() for n, p in model.named_parameters() if n not in report.new_head}
    taken = sum(sizes.get(name, 0) for name in report.taken)
    if taken and taken >= LEAST * sum(sizes.values()):
        return
    besides = " besides the head" if report.new_head else ""
    if not taken:
        raise InputError(
            f"no weight matrix of {report.source} fits this network in name and shape{besides}; "
            f"it has {listed(given)}, the network has {listed(tuple(model.state_dict()))}"
        )
    raise InputError(
        f"only {taken / sum(sizes.values()):.0%} of the weights of this network{besides} are in "
        f"{report.source} in the same shape, and expected is at least half; "
        f"{report.faults()}; give this network the sizes of the other one"
    )


def head_tensors(configuration: Configuration, summary: DataSummary) -> tuple[str, ...]:
    """Names of the tensors whose shape depends on the number of classes."""
    if not summary.classes:
        return ()
    more = replace(summary, classes=(*summary.classes, "one more"))
    now, other = (build(configuration, each).state_dict() for each in (summary, more))
    return tuple(name for name, tensor in now.items() if tensor.shape != other[name].shape)


def freeze(model: nn.Module, pattern: str) -> tuple[str, ...]:
    """Keep the parameters whose names match the pattern as they are; returns their names.

    The engine keeps normalization layers without trainable parameters in evaluation mode, so their
    statistics stay as well.
    """
    names = [name for name, _ in model.named_parameters()]
    chosen = tuple(fnmatch.filter(names, pattern))
    if not chosen:
        raise InputError(f"`freeze` {pattern} matches none of: {', '.join(names)}")
    for name, parameter in model.named_parameters():
        if name in chosen:
            parameter.requires_grad_(False)
    if len(chosen) == len(names):
        raise InputError(f"`freeze` {pattern} matches every parameter; nothing could be learned")
    return chosen
