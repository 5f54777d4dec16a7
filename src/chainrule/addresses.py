"""Addresses that a server of ours listens on, and names by which it may be reached."""

import errno
import socket
from ipaddress import ip_address

from chainrule.errors import InputError

PORTS = 20  # in which a free one is looked for
SHORTEST_TOKEN = 16  # characters of a token that a user chooses


def check_exposure(host: str, token: str) -> None:
    """Refuse to be seen from other machines without a token that somebody chose."""
    if not is_loopback(host) and not token:
        raise InputError(
            f"`host` {host} can be reached from other machines, so it needs a `token` of your own "
            f"of at least {SHORTEST_TOKEN} characters; without `host` only this machine is served"
        )
    if token and (len(token) < SHORTEST_TOKEN or not token.isascii() or not is_plain(token)):
        raise InputError(
            f"`token` must have at least {SHORTEST_TOKEN} letters, digits, - or _, got {len(token)}"
        )


def is_plain(token: str) -> bool:
    return token.replace("-", "").replace("_", "").isalnum()


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_any(host: str) -> bool:
    """Whether the host stands for every address of this machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def own_hosts(host: str, port: int) -> list[str]:
    """The values of the Host header by which the page may be reached."""
    names = {"127.0.0.1", "localhost"}
    if is_any(host):
        names |= {socket.gethostname(), socket.getfqdn(), lan_address(), *addresses()}
    else:
        names.add(bracketed(host))
    return [f"{name}:{port}" for name in sorted(names)]


def addresses() -> set[str]:
    """The addresses of this machine, as far as its name tells."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except socket.gaierror:
        return set()
    return {bracketed(str(place[4][0])) for place in found}


def lan_address() -> str:
    """The address by which other machines reach this one; no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that only documentation uses
        except OSError:  # no network
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int, first: int) -> socket.socket:
    """A listening socket; port 0 takes the first free one from `first` on."""
    wanted = [port] if port else [*range(first, first + PORTS), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in wanted:
        # With its protocol named, asyncio turns off Nagle's delay of small answers, 40 ms each.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
        except OSError as error:
            listening.close()
            if error.errno == errno.EADDRINUSE and number != wanted[-1]:
                continue
            raise InputError(
                f"cannot listen on {host}, `port` {number}: {error.strerror}"
            ) from None
        listening.listen(128)
        return listening
    raise InputError("found no free port")
