"""Machines of an emulated network: a namespace each, bandwidth by tc, latency by a relay.

    with network(2, megabits=200, milliseconds=1) as machines:
        process = machines[0].start([sys.executable, "worker.py"])

Every namespace has one TUN device. What it sends is shaped by `tc qdisc … tbf` to the bandwidth,
then read by a relay process, which hands each packet to the namespace of its destination after the
latency. The relay is needed where the kernel lacks netem; it works the same where it has it. Links
are full duplex, packets are as long as TUN allows, and nothing is lost. Needs root. Namespaces,
devices and the relay vanish with the program.
"""

import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from chainrule.children import die_with_parent

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MTU = 32_000
BURST = MTU + 1_000  # bytes that may leave at once: one packet
FAST = 20_000  # megabits per second from which on nothing is shaped
SETTINGS = {  # of each namespace, as on a cluster: a flow that paused does not start slowly again
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_no_metrics_save": "1",
}


@dataclass(frozen=True)
class Machine:
    """A namespace with one network device."""

    namespace: str
    device: str
    address: str

    def start(self, command: Sequence[str], **options: object) -> "subprocess.Popen[str]":
        """A process on this machine."""
        words = ["ip", "netns", "exec", self.namespace, *command]
        return subprocess.Popen(words, text=True, **options)  # type: ignore[call-overload]

    def sent(self) -> int:
        """Bytes that have left its device, headers of IP and TCP included."""
        words = ["ip", "netns", "exec", self.namespace, "cat"]
        path = f"/sys/class/net/{self.device}/statistics/tx_bytes"
        return int(subprocess.run([*words, path], capture_output=True, text=True).stdout or 0)


@contextmanager
def network(machines: int, megabits: float, milliseconds: float) -> Iterator[list[Machine]]:
    """Machines on one switch, each with a link of this bandwidth and latency one way."""
    number = os.getpid() % 10_000
    with ExitStack() as stack:
        found, files = [], []
        for i in range(machines):
            machine = Machine(f"scale{number}m{i}", f"sc{number}d{i}", f"10.77.0.{i + 1}")
            run("ip", "netns", "add", machine.namespace)
            stack.callback(forget, machine.namespace)
            files.append(tun(machine.device))
            stack.callback(os.close, files[-1])
            connect(machine, megabits)
            found.append(machine)
        command = [sys.executable, __file__, str(milliseconds), str(os.getpid()), *map(str, files)]
        relay = subprocess.Popen(command, pass_fds=files)
        stack.callback(relay.wait)
        stack.callback(relay.terminate)
        yield found


def tun(name: str) -> int:
    """The file of a new TUN device."""
    file = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def connect(machine: Machine, megabits: float) -> None:
    """Move the device into its namespace, give it an address, shape what it sends."""
    space, device = machine.namespace, machine.device
    run("ip", "link", "set", device, "netns", space)
    run("ip", "-n", space, "addr", "add", f"{machine.address}/24", "dev", device)
    run("ip", "-n", space, "link", "set", device, "mtu", str(MTU), "txqueuelen", "10000", "up")
    run("ip", "-n", space, "link", "set", "lo", "up")
    inside = ("ip", "netns", "exec", space)
    for name, value in SETTINGS.items():
        with suppress(subprocess.CalledProcessError):
            run(*inside, "sysctl", "-q", "-w", f"{name}={value}")
    if megabits < FAST:
        shape = ("rate", f"{megabits:g}mbit", "burst", str(BURST), "limit", str(64 * 2**20))
        run(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", *shape)


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def forget(namespace: str) -> None:
    subprocess.run(["ip", "netns", "del", namespace], capture_output=True)


def relay(files: Sequence[int], seconds: float) -> None:
    """Read packets from all devices; write each to that of its destination after the latency."""
    for file in files:
        os.set_blocking(file, False)
    waiting: list[tuple[float, int, int, bytes]] = []
    count = 0
    while True:
        pause = max(0.0, waiting[0][0] - time.perf_counter()) if waiting else None
        ready, _, _ = select.select(files, [], [], pause)
        for file in ready:
            with suppress(BlockingIOError):
                packet = os.read(file, MTU + 64)
                if packet[0] >> 4 == 4 and 1 <= packet[19] <= len(files):
                    count += 1
                    due = time.perf_counter() + seconds
                    heapq.heappush(waiting, (due, count, files[packet[19] - 1], packet))
        while waiting and waiting[0][0] <= time.perf_counter():
            _, _, file, packet = heapq.heappop(waiting)
            os.write(file, packet)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[2]))
    with suppress(PermissionError):
        os.nice(-5)  # a line does not wait for a processor
    relay([int(file) for file in sys.argv[3:]], float(sys.argv[1]) / 1e3)
