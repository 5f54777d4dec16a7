"""Options of a run beyond its recipe: an ensemble, a teacher, the weights of another run.

A recipe declares which of them it does not support, and why; flags and messages follow from that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chainrule.errors import InputError

CAPABILITIES: Mapping[str, str] = {
    "members": "an ensemble",
    "teacher": "distillation",
    "transfer": "transfer from another run",
    "tune": "tuning by cross-validation",
    "lr": "the learning-rate finder",
    "predict": "prediction for new inputs",
    "export": "export as one program",
    "processes": "several processes",
}

MOST_PROCESSES = 1024
TEMPERATURE, TEACHER_SHARE = 4.0, 0.9  # of distillation, unless chosen


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Ensemble, processes, distillation and transfer."""

    members: int = 1
    """Number of networks of an ensemble, trained at once from different initializations."""
    processes: int = 1
    """Number of processes that share every batch, or the members of an ensemble."""
    teacher: str = ""
    """A finished run whose outputs are learned along with the labels (distillation)."""
    temperature: float = TEMPERATURE
    """Temperature of the softmax of teacher and student."""
    teacher_share: float = TEACHER_SHARE
    """Weight of the teacher's outputs against that of the labels."""
    from_run: str = ""
    """A finished run, a .safetensors file or a folder of the Hugging Face hub, whose weights this
    run starts from."""
    freeze: str = ""
    """Pattern of the parameters that are not trained, such as layers.0.*."""

    def __post_init__(self) -> None:
        if self.members < 1:
            raise InputError(f"`members` must be at least 1, got {self.members}")
        if not 1 <= self.processes <= MOST_PROCESSES:
            most = f"between 1 and {MOST_PROCESSES}"
            raise InputError(f"`processes` must be {most}, got {self.processes}")
        if self.processes > self.members > 1:
            raise InputError(
                f"{self.processes} `processes` cannot share {self.members} `members`, each of "
                "which trains in one; choose more members or fewer processes"
            )
        if not (self.temperature > 0 and 0 <= self.teacher_share <= 1):
            raise InputError(
                "expected a `temperature` above 0 and a `teacher_share` in [0, 1], got "
                f"{self.temperature} and {self.teacher_share}"
            )
        idle = (self.temperature, self.teacher_share) != (TEMPERATURE, TEACHER_SHARE)
        if idle and not self.teacher:
            raise InputError("`temperature` and `teacher_share` do nothing without a `teacher`")
        for name in ("teacher", "from_run"):  # the run must find them from any folder
            if value := getattr(self, name):
                object.__setattr__(self, name, str(Path(value).resolve()))


OPTION_OF = {
    "members": "members",
    "processes": "processes",
    "teacher": "teacher",
    "temperature": "teacher",
    "teacher_share": "teacher",
    "from_run": "transfer",
    "freeze": "transfer",
}
"""The capability that each option belongs to."""
SETTING_OF = dict.fromkeys(("layer_decay", "unfreeze_every"), "transfer")
"""The capability that settings of the training belong to."""
