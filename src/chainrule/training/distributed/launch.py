"""Starting the processes of a run on this machine, by torch's elastic agent.

The agent starts k processes with torchrun's environment, watches them, and, where it may, starts
all of them again from the last checkpoint when one is lost.
"""

import logging
import os
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from chainrule.errors import InputError
from chainrule.training.distributed.faults import LOST, NOTE, REASON

LAUNCHER = "CHAINRULE_LAUNCHER"  # holds the process id of the launcher, with which its workers end
INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # that the agent handles


def check_processes(processes: int, sharded: bool, elastic: int) -> None:
    """Refuse a number that makes no sense, and options that would do nothing."""
    if elastic < 0:
        raise InputError(f"`elastic` must be at least 0, got {elastic}")
    idle = [name for name, given in (("sharded", sharded), ("elastic", elastic)) if given]
    if processes == 1 and idle:
        raise InputError(f"`{idle[0]}` does nothing with one process; give `processes` 2 or more")


def launch(words: Sequence[str], processes: int, restarts: int, again: str) -> tuple[int, str]:
    """Run `chainrule WORDS` in several processes; returns the exit code and what to say.

    Args:
        words: of the command.
        processes: how many.
        restarts: how often they may be started again after one was lost.
        again: what the user can do when a process was lost.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        local_addr="localhost",
        max_restarts=restarts,
        monitor_interval=0.1,
    )
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "fault"
        before, handlers = dict(os.environ), {n: signal.getsignal(n) for n in SIGNALS}
        os.environ |= environment(processes, note)
        logging.disable(logging.CRITICAL)  # the agent tells of every process that ends
        try:
            elastic_launch(config, sys.executable)("-m", "chainrule", *words)
        except SignalException:
            return INTERRUPTED, ""
        except ChildFailedError as error:
            if any(f.exitcode == INTERRUPTED for f in error.failures.values()):
                return INTERRUPTED, ""
            raise InputError(f"{ended(error, processes, note)}; {again}") from None
        finally:
            logging.disable(logging.NOTSET)
            restore(handlers)
            os.environ.clear()
            os.environ |= before
        return told(note)


def restore(handlers: Mapping[signal.Signals, Any]) -> None:
    """Put the handlers of signals back: the agent, in the main thread, leaves its own."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # None: not set by Python
                signal.signal(number, handler)


def environment(processes: int, note: Path) -> dict[str, str]:
    """What the workers find beside torchrun's variables."""
    threads = max(1, torch.get_num_threads() // processes)
    return {
        LAUNCHER: str(os.getpid()),
        NOTE: str(note),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(threads)),
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        # Restarts after a kill are unreliable otherwise: pytorch/pytorch#135712.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }


def ended(error: object, processes: int, note: Path) -> str:
    """Which process was lost, and how; or why the others do not answer each other."""
    failures = sorted(error.failures.items(), key=lambda item: item[1].timestamp)  # type: ignore[attr-defined]
    killed = [(r, f.exitcode) for r, f in failures if f.exitcode < 0]
    other = [(r, f.exitcode) for r, f in failures if f.exitcode not in (LOST, -signal.SIGTERM)]
    reason = Path(f"{note}{REASON}")
    if not other and reason.exists():
        return reason.read_text("utf-8").removeprefix("chainrule: ")
    rank, code = next((item for item in other if item in killed), (other or killed or [(0, 1)])[0])
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"process {rank} of {processes} {how}"


def told(note: Path) -> tuple[int, str]:
    """Exit code and words of the fault that a process has left, if any."""
    if not note.exists():
        return 0, ""
    code, _, line = note.read_text("utf-8").partition(" ")
    return int(code), line
