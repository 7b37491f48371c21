"""A small HTTP server on a given listening socket, and how an answer goes wrong on purpose."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any

from nightshift.emulator.sandbox.faults import Fault

MOST_HANG_S = 600.0
_FAULT = b"<Error><Code>InternalError</Code><Message>a fault of the sandbox</Message></Error>"
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset."""


class Dropped(Exception):
    """The connection was broken on purpose; there's nothing left to answer."""


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class Server(ThreadingMixIn, TCPServer):
    """Serves a socket that listens already, in whichever network it does; no name is looked up."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, listening: socket.socket, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()
        self._live: set[socket.socket] = set()
        self.broken: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        """As usual, but remembered, so that closing the server breaks it."""
        self._live.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """As usual; a connection that is to break goes without the word that ends it in order."""
        self._live.discard(request)
        if request in self.broken:
            self.broken.discard(request)
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def close(self) -> None:
        """Stop listening, and break what is under way."""
        self.shutdown()
        self.server_close()
        for each in list(self._live):
            with contextlib.suppress(OSError):
                break_off(each)
        self._thread.join()


def break_off(connection: socket.socket) -> None:
    """The other end gets a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 without a log; subclasses answer a request with `give`."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def handle_expect_100(self) -> bool:
        """As usual, and said at once: a client waits a second for it before it sends its body."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def suffer(self, fault: Fault | None) -> Reply | None:
        """What becomes of the request before it's done: an error to give, None to go on. Raises Dropped."""
        if fault is None or fault.how in ("lost", "short"):
            return None
        if fault.how == "reset":
            self.drop()
        if fault.how == "hang":
            self.wait(MOST_HANG_S)
            self.drop()
        if fault.how == "slow":
            self.wait(fault.seconds)
            return None
        return Reply(500, _FAULT)

    def wait(self, seconds: float) -> None:
        """Until then, or until the client goes away."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.connection], [], [], left)[0]:
                return

    def drop(self) -> None:
        """Break the connection. Raises Dropped, always."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        if isinstance(self.server, Server):
            self.server.broken.add(self.connection)
        raise Dropped

    def give(self, reply: Reply, fault: Fault | None = None) -> None:
        """Answer; `lost` breaks instead, `short` breaks in the middle of the body."""
        if fault is not None and fault.how == "lost":
            self.drop()
        self.send_response_only(reply.status)
        for name, text in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault is not None and fault.how == "short":
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(reply.body)
        self.wfile.flush()

    def handle_one_request(self) -> None:
        """As usual; a broken connection ends it without a word."""
        try:
            super().handle_one_request()
        except (Dropped, OSError):
            self.close_connection = True
