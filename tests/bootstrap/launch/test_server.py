"""The server that launches are forked from, with a torch that only knows how to start one worker."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

import pytest

from bootstrap.launch.cage import Cages, CgroupCage, cages
from bootstrap.launch.torchrun import GONE, Order, Server, Torchrun

pytestmark = pytest.mark.node
TORCH = {
    "__init__": "",
    "distributed/__init__": "",
    "distributed/run": """
class Given: ...
def parse_args(words):
    given = Given()
    given.module, given.training_script, *given.training_script_args = "--module" in words, *words[-2:]
    return given
def config_from_args(given):
    return Given(), None, None
""",
    "distributed/elastic/__init__": "",
    "distributed/elastic/multiprocessing/__init__": "",
    "distributed/elastic/multiprocessing/errors": "def record(act):\n    return act\n",
    "distributed/launcher/__init__": "",
    "distributed/launcher/api": """
import multiprocessing, sys
def elastic_launch(config, play):
    def go(*given):
        worker = multiprocessing.get_context(config.start_method).Process(target=play, args=given)
        worker.start()
        worker.join()
        sys.exit(worker.exitcode)
    return go
""",
}
SCRIPT = """
import atexit, json, multiprocessing, os, sys, time
def child(out):
    open(out, "w").write(open("/proc/self/cgroup").read())
if __name__ == "__main__":
    own = multiprocessing.get_context("forkserver").Process(target=child, args=(sys.argv[1] + ".child",))
    own.start()
    own.join()
    facts = {"argv": sys.argv, "cwd": os.getcwd(), "path": sys.path[0], "secret": os.environ["SECRET"],
             "ahead": "torch.distributed.run" in sys.modules, "group": open("/proc/self/cgroup").read()}
    open(sys.argv[1], "w").write(json.dumps(facts))
    atexit.register(lambda: open(sys.argv[1] + ".atexit", "w"))
    time.sleep(float(os.environ.get("LASTS", "0")))
    sys.exit(7)
"""


class Bench:
    """A server, and a script for it."""

    def __init__(self, folder: Path, made: Cages, whole: CgroupCage) -> None:
        self.folder, self.made, self.whole = folder, made, whole
        for name, text in TORCH.items():
            file = folder / "torch" / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (folder / "script.py").write_text(SCRIPT)
        environment = {"PYTHONPATH": str(folder), "PATH": os.environ["PATH"]}
        self.heard: list[bytes] = []
        self.server = Server(Path(sys.executable), environment, whole, made.new(), self._listen)

    def _listen(self, stream: IO[bytes]) -> None:
        def read() -> None:
            with stream:
                self.heard.extend(stream)

        threading.Thread(target=read, daemon=True).start()

    def begin(self, **environment: str) -> Torchrun:
        cage = self.made.new()
        assert isinstance(cage, CgroupCage)
        words = ["script.py", str(self.folder / "out")]
        return self.server.begin(cage, Order(words, {"SECRET": "open", **environment}, self.folder))


@pytest.fixture
def bench(tmp_path: Path) -> Generator[Bench]:
    made = cages(None, tmp_path)
    if not isinstance(made.whole, CgroupCage):
        pytest.skip("needs a cgroup of version 2 that can be written")
    one = Bench(tmp_path, made, made.whole)
    yield one
    assert made.whole.kill(10) == []
    one.server.close()


def until(look: Callable[[], object], limit_s: float = 30.0) -> None:
    end = time.monotonic() + limit_s
    while not look():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.02)


def test_a_forked_script_is_as_one_that_python_starts(bench: Bench) -> None:
    run = bench.begin()
    until(lambda: run.code is not None)
    assert run.code == 7, bench.heard
    facts = json.loads((bench.folder / "out").read_text())
    assert facts["argv"] == [str(bench.folder / "script.py"), str(bench.folder / "out")]
    assert (facts["cwd"], facts["path"]) == (str(bench.folder), str(bench.folder))
    assert (facts["secret"], facts["ahead"]) == ("open", True)
    assert (bench.folder / "out.atexit").exists()
    assert (bench.folder / "out.child").read_text() == facts["group"], "its own server is in its own cgroup"
    assert run.end(10) == []


def test_a_launch_is_ended_alone_and_the_next_needs_no_import(bench: Bench) -> None:
    first = bench.begin(LASTS="600")
    until(lambda: (bench.folder / "out").exists() and first.workers())
    assert first.end(10) == []
    until(lambda: first.code is not None)
    assert first.code == -9
    assert bench.server.alive
    began = time.monotonic()
    second = bench.begin()
    until(lambda: second.code is not None)
    assert second.code == 7
    assert time.monotonic() - began < 10


def test_a_job_whose_agent_is_gone_is_gone(bench: Bench) -> None:
    """The agent's end of the pipe closes when it dies, however it dies."""
    run = bench.begin(LASTS="600")
    until(lambda: (bench.folder / "out").exists())
    assert bench.server._process.stdin is not None
    bench.server._process.stdin.close()
    until(lambda: not bench.whole.pids())
    until(lambda: run.code is not None)
    assert run.code == GONE
