"""`chainrule distill TEACHER_RUN STUDENT_RECIPE [flags]`: train a student on a run's outputs."""

from chainrule.cli import train
from chainrule.console.output import out
from chainrule.errors import InputError

USAGE = "chainrule distill TEACHER_RUN STUDENT_RECIPE"


def run(arguments: list[str]) -> int:
    if arguments in ([], ["-h"], ["--help"]):
        out.print(f"usage: {USAGE} [flags of the recipe]")
        return 0
    if len(arguments) < 2 or arguments[0].startswith("-"):
        raise InputError(f"expected the folder of a run and the name of a recipe: {USAGE}")
    teacher, student, *flags = arguments
    return train.run([student, "--teacher", teacher, *flags])
