"""Linux namespaces from Python: entering one for the length of a block, and sockets that stay in another."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

CLONE_NEWNET, CLONE_NEWPID = 0x40000000, 0x20000000
_LIBC = ctypes.CDLL(None, use_errno=True)
Made = TypeVar("Made")


def setns(handle: int, kind: int) -> None:
    """Move this thread into a namespace. Raises OSError."""
    if _LIBC.setns(handle, kind):
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


@contextmanager
def _within(kind: int, own: str, there: Path) -> Generator[None]:
    """This thread is in the namespace until the block ends; other threads stay where they are."""
    here = os.open(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/{own}", os.O_RDONLY)
    try:
        other = os.open(there, os.O_RDONLY)
        try:
            setns(other, kind)
        finally:
            os.close(other)
        try:
            yield
        finally:
            setns(here, kind)
    finally:
        os.close(here)


@contextmanager
def children_in(pid: int) -> Generator[None]:
    """Processes begun in the block are in the pid namespace of `pid`, and our children all the same."""
    with _within(CLONE_NEWPID, "pid_for_children", Path(f"/proc/{pid}/ns/pid")):
        yield


def in_network(pid: int | None, make: Callable[[], Made]) -> Made:
    """What `make` gives in the network of `pid` (None: ours). Sockets stay where they were made."""
    if pid is None:
        return make()
    with _within(CLONE_NEWNET, "net", Path(f"/proc/{pid}/ns/net")):
        return make()


def listener(pid: int | None, address: tuple[str, int]) -> socket.socket:
    """A listening TCP socket in the network of `pid`. Raises OSError."""

    def make() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(128)
        except OSError:
            made.close()
            raise
        return made

    return in_network(pid, make)


def connection(pid: int | None, address: tuple[str, int], timeout_s: float) -> socket.socket:
    """A TCP connection out of the network of `pid`. Raises OSError."""

    def make() -> socket.socket:
        return socket.create_connection(address, timeout_s)

    return in_network(pid, make)
