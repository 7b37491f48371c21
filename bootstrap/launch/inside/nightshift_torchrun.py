"""Runs in the runtime's Python, without our packages: torchrun, imported once for all of a job's launches.

`serve CAGE STATUS` reads orders, one JSON object a line, from standard input; each begins one torchrun,
forked as its workers are from a server process that has imported torch, so that a restart costs no import.
On file descriptor STATUS it says `0 warm 0` once torch is there, `NUMBER pid PID` of each, and `NUMBER code
CODE` when it has ended. The end of its input means that the node's agent is gone: then the whole cgroup CAGE
is killed, this process with it. `once` reads one order and is torchrun. This folder is on sys.path while
torch is imported: no other module may lie in it.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import runpy
import sys
from importlib import import_module
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

AHEAD = [
    "torch",
    "torch.distributed.run",
    "torch.distributed.checkpoint.state_dict",
    "torch.nn.parallel",
    "torch.optim",
    "torch.utils.data",
    "torch._dynamo",
]
_WAY = ("_forkserver_address", "_forkserver_authkey")
Order = dict[str, Any]
"""`number`, `cage`, `arguments` (torchrun's), `environment`, `folder`."""


def once() -> None:
    """torchrun as it is."""
    order = json.loads(sys.stdin.readline())
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    import_module("torch.distributed.run").main(order["arguments"])


def serve(cage: str, status: int) -> None:
    """Until the agent goes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(AHEAD)
    _server().ensure_running()
    way = {name: value for name, value in vars(_server()).items() if name in _WAY}
    running: dict[BaseProcess, int] = {}
    first = context.Process(target=nothing)
    first.start()
    running[first] = 0
    orders = _Lines(sys.stdin.fileno())
    while not orders.ended:
        ready = connection.wait([orders.handle, *(process.sentinel for process in running)])
        for process in [each for each in running if each.sentinel in ready]:
            process.join()
            number = running.pop(process)
            said = f"{number} code {process.exitcode}" if number else "0 warm 0"
            os.write(status, f"{said}\n".encode())
        for line in orders.read() if orders.handle in ready else []:
            order = json.loads(line)
            process = context.Process(target=launch, args=(order, way))
            process.start()
            running[process] = order["number"]
            os.write(status, f"{order['number']} pid {process.pid}\n".encode())
    (Path(cage) / "cgroup.kill").write_text("1")


def nothing() -> None:
    """Done as soon as the server has imported all."""


class _Lines:
    """Whole lines of a pipe, without ever waiting for the rest of one."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.ended = False
        self._rest = b""

    def read(self) -> list[bytes]:
        piece = os.read(self.handle, 1 << 16)
        self.ended = not piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return lines


def launch(order: Order, way: dict[str, Any]) -> None:
    """What torchrun.main does, except for how workers start."""
    _enter(order)
    _use_the_server(way)
    torchrun = import_module("torch.distributed.run")
    errors = import_module("torch.distributed.elastic.multiprocessing.errors")
    launcher = import_module("torch.distributed.launcher.api")
    given = torchrun.parse_args(order["arguments"])
    config, _, _ = torchrun.config_from_args(given)
    config.start_method = "forkserver"
    script = [given.training_script, *given.training_script_args]
    errors.record(launcher.elastic_launch(config, play))(order, script, bool(given.module))


def play(order: Order, script: list[str], module: bool) -> None:
    """The user's script as the main program of this process, as `python FOLDER/script.py` would start it."""
    _enter(order)
    _forget_the_server(order["folder"])
    sys.argv = list(script)
    here = Path(__file__).resolve().parent
    sys.path[:] = [each for each in sys.path if not each or Path(each).resolve() != here]
    sys.path.insert(0, order["folder"] if module else str(Path(script[0]).resolve().parent))
    code = 0
    try:
        if module:
            runpy.run_module(script[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(Path(script[0]).absolute()), run_name="__main__")
    except SystemExit as ending:
        code = _code(ending)
    except BaseException as error:
        # what python itself does with an error that nobody caught
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    atexit._run_exitfuncs()  # a multiprocessing child leaves without
    if code:
        sys.exit(code)


def _enter(order: Order) -> None:
    """Into the launch's own cgroup. One that is gone means that the launch has been ended already."""
    try:
        (Path(order["cage"]) / "cgroup.procs").write_text("0")
    except OSError:
        os._exit(1)
    os.environ.update(order["environment"])
    os.chdir(order["folder"])


def _server() -> Any:
    """multiprocessing's own record of its server; each process has one."""
    return vars(import_module("multiprocessing.forkserver"))["_forkserver"]


def _use_the_server(way: dict[str, Any]) -> None:
    """What a server forked would start a server of its own; `way` leads to the one that has torch already."""
    server = _server()
    vars(server).update(way)
    server.ensure_running = lambda: None


def _forget_the_server(folder: str) -> None:
    """What the script forks by a server is to come from one of its own, in its own cgroup; and what it starts
    looks for the script where the script was started."""
    _server().__init__()
    vars(import_module("multiprocessing.process"))["ORIGINAL_DIR"] = folder


def _code(ending: SystemExit) -> int:
    if ending.code is None or isinstance(ending.code, int):
        return ending.code or 0
    print(ending.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    # by its own name, so that the processes of the server find what they are to do
    itself = import_module("nightshift_torchrun")
    if sys.argv[1] == "serve":
        itself.serve(sys.argv[2], int(sys.argv[3]))
    else:
        itself.once()
