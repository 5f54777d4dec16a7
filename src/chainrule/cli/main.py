"""`chainrule COMMAND …`: find the command's file, run it, and report errors in one sentence.

Exit codes: 0 done, 1 a claim failed or a bug, 2 bad input, 130 interrupted.
"""

import gc
import os
import sys
from importlib import import_module

import chainrule
from chainrule.console.streams import lost_output, secure
from chainrule.errors import InputError
from chainrule.registry import unknown

COMMANDS = {
    "list": "models, data sets, recipes, claims, optimizers and more, by chapter",
    "show": "one of them: its equation, settings, code, and place in the notes",
    "train": "train a recipe and leave a run folder",
    "resume": "continue an interrupted run",
    "distill": "train a recipe on the outputs of a finished run",
    "lr": "find a learning rate: try many, draw the curve",
    "tune": "search for settings by cross-validation, many networks at once",
    "runs": "list run folders, or compare some of them",
    "evaluate": "recompute the metrics of a finished run",
    "predict": "apply a finished run to your own file or sentence",
    "generate": "generate text with a finished language model",
    "export": "write a finished run as ONNX, torch.export, plain weights or a hub folder",
    "serve": "answer requests over HTTP with a finished run",
    "lab": "check claims of the theory by measurement",
    "bench": "time the library beside its peers, in a checkout of the project",
    "studio": "the whole course, live in the browser",
}
SHARED = ("train", "resume")  # commands that torchrun may start
FIRST = "Start with:  chainrule train digits-mlp"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
        gc.disable()  # until the flags are parsed: imports make many objects and little garbage
        os.environ["MPLBACKEND"] = "agg"  # we draw into files; the user's choice may not exist
        secure()
        if launcher := os.environ.get("CHAINRULE_LAUNCHER"):
            from chainrule.children import die_with_parent

            die_with_parent(int(launcher))
    try:
        code = dispatch(arguments)
        if lost := lost_output():
            raise InputError(f"the output could not be written: {lost.strerror}")
        return code
    except InputError as error:
        return told(str(error), 2, error)
    except KeyboardInterrupt as error:
        return told("interrupted", 130, error)
    except OSError as error:
        return told(in_words(error), 2, error)
    except Exception as error:
        if os.environ.get("CHAINRULE_DEBUG"):
            raise
        what = f"an unexpected fault: {type(error).__name__}: {error}"
        return told(f"{what}\nSet CHAINRULE_DEBUG=1 and run it again to see where.", 1, error)


def told(what: str, code: int, error: BaseException) -> int:
    """Say what went wrong, once where several processes meet it; returns the exit code."""
    line = f"chainrule: {what}"
    if "RANK" in os.environ and not isinstance(error, KeyboardInterrupt):
        from chainrule.training.distributed import faults
        from chainrule.training.distributed.lost import lost_by

        lost = lost_by(error)
        line = f"chainrule: {lost}" if lost else line
        code, line = faults.told(line, code, lost is not None)
    elif "RANK" in os.environ and os.environ["RANK"] != "0":
        return code
    if line:
        print(in_flags(line) if isinstance(error, InputError) else line, file=sys.stderr)
    return code


def dispatch(arguments: list[str]) -> int:
    """The command's own `run`, imported only now: listing must not wait for torch."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if arguments[0] == "--version":
        print(chainrule.__version__)
        return 0
    if any("\udc80" <= letter <= "\udcff" for word in arguments for letter in word):
        raise InputError("a word of the command line is not UTF-8; type it again")
    command, *rest = arguments
    if command not in COMMANDS:
        raise InputError(unknown("command", command, list(COMMANDS)))
    if command not in SHARED and os.environ.get("RANK") and one_of_several():
        raise InputError(
            f"processes of torchrun share the work of {' and '.join(SHARED)} only; start {command} "
            "without torchrun"
        )
    return import_module(f"chainrule.cli.{command}").run(rest)


def one_of_several() -> bool:
    """Whether torchrun has started this process among others."""
    return os.environ.get("WORLD_SIZE", "1") not in ("", "0", "1")


def in_flags(message: str) -> str:
    """The message with names of settings written as flags."""
    from chainrule.cli.options import as_flags

    return as_flags(message)


def in_words(error: OSError) -> str:
    """What the system refused."""
    place = f"cannot use {error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def usage() -> str:
    """The page for `chainrule --help`."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    head = f"chainrule {chainrule.__version__}: a deep-learning course as working software"
    tail = f"chainrule COMMAND --help lists its flags.  {FIRST}"
    return "\n".join([head, "", *lines, "", tail])


if __name__ == "__main__":
    sys.exit(main())
