"""The way from the nodes to the emulated AWS, on which any call can go wrong."""

from __future__ import annotations

import contextlib
import http.client
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any
from urllib.parse import urlsplit

from nightshift.emulator.sandbox.calls import step_of
from nightshift.emulator.sandbox.control import Refused, control
from nightshift.emulator.sandbox.faults import Fault, Faults
from nightshift.emulator.sandbox.kernel import connection, listener
from nightshift.emulator.sandbox.serving import Handler, Server

_IN_MEMORY = 1 << 20
_PIECE = 1 << 16
_HOP = {"connection", "keep-alive", "transfer-encoding", "expect", "content-length"}
_ANSWER_S, _CONNECT_S, _AGAIN_S = 300.0, 10.0, 0.3


class Gateway:
    """Serves the emulated AWS of `endpoint` at `address` of the network of `hub`, on the endpoint's own port.

    `faults_of` a node's address befall that node's calls alone. `done` hears of every call that went through.
    """

    def __init__(self, hub: int, address: str, endpoint: str) -> None:
        there = urlsplit(endpoint)
        if there.hostname is None or there.port is None:
            raise ValueError(f"endpoint: given {endpoint!r}, needed is http://ADDRESS:PORT")
        self.endpoint = endpoint
        self.address = (address, there.port)
        self.target = (there.hostname, there.port)
        self.done: Callable[[str], None] = lambda _step: None
        self._faults: dict[str, Faults] = {}
        self._lock = threading.Lock()
        gateway = self

        class Calls(_Calls):
            way = gateway

        self._server = Server(listener(hub, self.address), Calls)

    def faults_of(self, address: str) -> Faults:
        """The faults of the node with this address."""
        with self._lock:
            return self._faults.setdefault(address, Faults())

    def relay(self, pid: int) -> Relay:
        """The endpoint's own address inside the node of pid 1 `pid`, by way of its cable."""
        return Relay(pid, self.target, self.address)

    def credentials(self, instance_id: str) -> dict[str, str] | None:
        """The role's credentials of an instance; None when it has none, as for one that isn't running.

        Raises OSError when the emulated AWS doesn't answer.
        """
        try:
            return control(self.endpoint, "node-credentials", {"instance_id": instance_id})
        except Refused:
            return None

    def target_of(self, instance_id: str) -> str | None:
        """The lifecycle state that the instance's group brings it to, None when it has none.

        Raises OSError when the emulated AWS doesn't answer.
        """
        rows = control(self.endpoint, "instances", {"ids": [instance_id]})["instances"]
        state = next((row["lifecycle"] for row in rows), None)
        if state is None:
            return None
        return "Terminated" if state.startswith("Terminat") else "InService"

    def close(self) -> None:
        """Nothing is served any more."""
        self._server.close()


class _Calls(Handler):
    """One connection of a node."""

    way: Gateway

    def _pass(self) -> None:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as body:
            self._receive(body)
            head = body.read(_PIECE)
            body.seek(0)
            step = step_of(self.command, self.path, dict(self.headers.items()), head)
            fault = self.way.faults_of(self.client_address[0]).take(step)
            wrong = self.suffer(fault)
            if wrong is not None:
                self.give(wrong)
            else:
                self._forward(body, fault, step)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass

    def _receive(self, kept: IO[bytes]) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                kept.write(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers.get("Content-Length") or 0)
        while left and (piece := self.rfile.read(min(left, _PIECE))):
            kept.write(piece)
            left -= len(piece)
        kept.seek(0)

    def _forward(self, body: IO[bytes], fault: Fault | None, step: str) -> None:
        size = body.seek(0, 2)
        body.seek(0)
        there = http.client.HTTPConnection(*self.way.target, timeout=_ANSWER_S)
        try:
            there.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, text in self.headers.items():
                if name.lower() not in _HOP:
                    there.putheader(name, text)
            there.putheader("Content-Length", str(size))
            there.putheader("Connection", "close")
            there.endheaders()
            while piece := body.read(_PIECE):
                there.send(piece)
            answer = there.getresponse()
            self.way.done(step)
            self._answer(answer, fault)
        except http.client.HTTPException:
            self.drop()
        finally:
            there.close()

    def _answer(self, answer: http.client.HTTPResponse, fault: Fault | None) -> None:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as kept:
            shutil.copyfileobj(answer, kept)
            size = kept.tell()
            kept.seek(0)
            if fault is not None and fault.how == "lost":
                self.drop()
            self.send_response_only(answer.status, answer.reason)
            for name, text in answer.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, text)
            told = answer.getheader("Content-Length") if self.command == "HEAD" else str(size)
            self.send_header("Content-Length", told or "0")
            self.end_headers()
            if fault is not None and fault.how == "short":
                kept.truncate(size // 2)
                self.close_connection = True
            shutil.copyfileobj(kept, self.wfile)
            self.wfile.flush()


class Relay:
    """A TCP port inside a node that leads over its cable to another address."""

    def __init__(self, pid: int, own: tuple[str, int], to: tuple[str, int]) -> None:
        self._pid, self._to = pid, to
        self._socket = listener(pid, own)
        self._live: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                came, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(came,), daemon=True).start()

    def _carry(self, came: socket.socket) -> None:
        with came:
            gone = self._reached(came)
            if gone is None:
                return
            with gone:
                gone.settimeout(None)
                with self._lock:
                    self._live |= {came, gone}
                back = threading.Thread(target=_pump, args=(gone, came), daemon=True)
                back.start()
                _pump(came, gone)
                back.join()
                with self._lock:
                    self._live -= {came, gone}

    def _reached(self, came: socket.socket) -> socket.socket | None:
        """The other end; with the cable cut nothing is heard, so the client waits until it gives up."""
        while True:
            try:
                return connection(self._pid, self._to, _CONNECT_S)
            except OSError:
                if self._closed or _gone(came):
                    return None
                time.sleep(_AGAIN_S)

    def close(self) -> None:
        """Stop, and break what is under way."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            for each in self._live:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)


def _gone(client: socket.socket) -> bool:
    """Whether its end is closed; Linux tells it of a socket with unread data too."""
    poll = select.poll()
    poll.register(client, select.POLLRDHUP)
    return bool(poll.poll(0))


def _pump(source: socket.socket, sink: Any) -> None:
    """All that comes, then the end of it; a reset on one side becomes one on the other."""
    try:
        while data := source.recv(_PIECE):
            sink.sendall(data)
    except ConnectionResetError:
        _reset(sink)
    except OSError:
        _end(sink, socket.SHUT_RDWR)
    else:
        _end(sink, socket.SHUT_WR)


def _end(end: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(how)


def _reset(end: socket.socket) -> None:
    """`with` closes it: as a reset."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        end.shutdown(socket.SHUT_RD)
