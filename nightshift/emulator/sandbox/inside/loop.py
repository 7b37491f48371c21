"""Pid 1's loop: what its maker says, what `systemctl` asks, children that end, and what is due."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from nightshift.emulator.sandbox.inside.manager import Manager
from nightshift.emulator.sandbox.inside.running import Running
from nightshift.emulator.sandbox.inside.systemctl import SOCKET
from nightshift.emulator.sandbox.inside.units import Ended, Service

GONE, OFF = "gone", "poweroff"
"""How a node ended: its maker has gone, or it was turned off."""


class Loop:
    """`run` returns how the node ended."""

    def __init__(self, manager: Manager, cloud_init: Service, note: Callable[[str], None]) -> None:
        self._manager, self._cloud_init, self._note = manager, cloud_init, note
        self._off = False
        self._wake, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        Path(SOCKET).parent.mkdir(parents=True, exist_ok=True)
        self._listen = socket.socket(socket.AF_UNIX)
        self._listen.bind(SOCKET)
        self._listen.listen(16)

    def run(self) -> str:
        """Until the end."""
        while True:
            ready, _, _ = select.select([0, self._wake, self._listen], [], [], self._manager.due())
            if 0 in ready:
                said = os.read(0, 1024)
                if not said:
                    return GONE
                self._told(said.decode())
            if self._wake in ready:
                os.read(self._wake, 1024)
                self._reap()
            if self._listen in ready:
                self._answer()
            self._manager.tick()
            if self._off and self._manager.stopped:
                return OFF

    def _told(self, said: str) -> None:
        for word in said.split():
            if word == "boot":
                self._manager.boot()
                self._manager.begin(Running(self._cloud_init))
            elif word == OFF:
                self.power_off("asked from outside")

    def power_off(self, why: str) -> None:
        """Services are stopped, then the node is off."""
        self._note(f"power off: {why}")
        self._off = True
        self._manager.stop_all()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            code = os.waitstatus_to_exitcode(status)
            self._manager.ended(pid, Ended(code) if code >= 0 else Ended(None, -code))

    def _answer(self) -> None:
        line, _ = self._listen.accept()
        with line:
            line.settimeout(1)
            try:
                with line.makefile("rb") as asked:
                    question = json.loads(asked.readline())
                line.sendall(json.dumps(self._reply(question)).encode() + b"\n")
            except (OSError, ValueError) as error:
                self._note(f"a question that can't be answered: {error}")

    def _reply(self, question: dict[str, list[str]]) -> dict[str, object]:
        if "settled" in question:
            return {"settled": all(self._manager.settled(name) for name in question["settled"])}
        words = question["words"]
        if words[:1] == [OFF]:
            self.power_off("asked by a program of the node")
            return {"rc": 0, "out": "", "err": ""}
        rc, out, err = self._manager.asked(words)
        return {"rc": rc, "out": out, "err": err}
