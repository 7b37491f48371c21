"""This node's interface and a port that is free on it."""

from __future__ import annotations

import fcntl
import socket
import struct
from contextlib import suppress

from bootstrap.launch.command import PORTS, port_of

_SIOCGIFADDR = 0x8915  # linux/sockios.h


def interface_of(address: str) -> str | None:
    """The name of the interface that has this IPv4 address as its first one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                told = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                if socket.inet_ntoa(told[20:24]) == address:
                    return name
    return None


def free_port(address: str, generation: int) -> int:
    """The generation's port, or the next one that nothing listens on. Raises OSError when all are taken."""
    for turn in range(PORTS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind((address, port_of(generation, turn)))
                return port_of(generation, turn)
    raise OSError(f"no free port on {address} from {port_of(0)} on")
