"""`chainrule distill TEACHER_RUN STUDENT_RECIPE [flags]`: train a student on a run's outputs."""

from chainrule.cli import train
from chainrule.console.output import out


def run(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0].startswith("-"):
        out.print("usage: chainrule distill TEACHER_RUN STUDENT_RECIPE [flags of the recipe]")
        return 0 if arguments in (["-h"], ["--help"]) else 2
    teacher, student, *flags = arguments
    return train.run([student, "--teacher", teacher, *flags])
