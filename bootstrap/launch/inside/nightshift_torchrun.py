"""Runs in the runtime's Python, without our packages: torchrun, imported ahead of the word to go.

Reads one JSON object from standard input: `arguments` (torchrun's), `environment`, `folder`, `warm`. End of
input without one: nothing to do. Warm: workers are forked from a server process that has imported torch,
so that a restart costs no import; the script finds itself as `python script.py` would start it.
This folder is on sys.path while torch is imported, so no other module may lie in it.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import runpy
import sys
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

AHEAD = (
    "torch",
    "torch.distributed.checkpoint.state_dict",
    "torch.distributed.elastic.multiprocessing",
    "torch.nn.parallel",
    "torch.optim",
    "torch.utils.data",
    "torch._dynamo",
)


def main() -> int:
    """Exit code as torchrun's."""
    warm = sys.argv[1:] == ["warm"]
    if warm:
        multiprocessing.set_forkserver_preload(list(AHEAD))
        forkserver.ensure_running()
    torchrun = import_module("torch.distributed.run")
    text = sys.stdin.read()
    if not text.strip():
        return 0
    order = json.loads(text)
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    if warm:
        _launch_warm(torchrun, order)
    else:
        torchrun.main(order["arguments"])
    return 0


def _launch_warm(torchrun: Any, order: dict[str, Any]) -> None:
    """What torchrun.main does, except for how workers start."""
    errors = import_module("torch.distributed.elastic.multiprocessing.errors")
    launcher = import_module("torch.distributed.launcher.api")
    given = torchrun.parse_args(order["arguments"])
    config, _, _ = torchrun.config_from_args(given)
    config.start_method = "forkserver"
    script = [given.training_script, *given.training_script_args]
    work = (script, bool(given.module), order["folder"], order["environment"])
    errors.record(launcher.elastic_launch(config, play))(*work)


def play(script: list[str], module: bool, folder: str, environment: dict[str, str]) -> None:
    """The user's script as the main program of this process."""
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = list(script)
    here = Path(__file__).resolve().parent
    sys.path[:] = [each for each in sys.path if not each or Path(each).resolve() != here]
    sys.path.insert(0, folder if module else str(Path(script[0]).resolve().parent))
    code = 0
    try:
        if module:
            runpy.run_module(script[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script[0], run_name="__main__")
    except SystemExit as ending:
        code = _code(ending)
    except BaseException as error:
        # what python itself does with an error that nobody caught
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    atexit._run_exitfuncs()  # a multiprocessing child leaves without
    if code:
        sys.exit(code)


def _code(ending: SystemExit) -> int:
    if ending.code is None or isinstance(ending.code, int):
        return ending.code or 0
    print(ending.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
