"""The real agent with real JupyterLab servers in nodes of their own: logins, homes, tokens, ends."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap.start.install import GIVEN_UP
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.sandbox.network import reason_to_skip
from nightshift.emulator.sandbox.node import Node
from nightshift.emulator.sandbox.place import group_root
from nightshift.plan.people import uid_of
from nightshift.records.notebook import Notebook
from tests.bootstrap.drain.support.declared import VOLUME
from tests.bootstrap.drain.support.ground import Ground, Life, ground, until
from tests.bootstrap.drain.support.measure import MACHINE_GONE, drain
from tests.bootstrap.notebook.support import desk

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]
HOMES = f"/data/{VOLUME}"
LISTENS = Path(__file__).parent / "support" / "listens.py"
LOOPBACK = "0100007F"
"""127.0.0.1 as /proc/net/tcp has it."""


@pytest.fixture(scope="module")
def site() -> Iterator[Ground]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    if group_root() is None:
        pytest.skip("needs control groups of version 2")
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.skip("needs jupyterlab beside this interpreter")
    before = desk.accounts_of_this_machine()
    with start_cloud() as cloud, ground(cloud) as made:
        yield made
    assert desk.accounts_of_this_machine() == before, "no login of a node may land on this machine"


@pytest.fixture(autouse=True)
def _alone(site: Ground) -> Iterator[None]:
    """A test that fails leaves no node to the next one."""
    yield
    left = [life for life in site.lives if life.node.up]
    for life in left:
        site.resize(0)
        site.client("ec2").terminate_instances(InstanceIds=[life.node.id])
        life.node.kill()


def declare_people(site: Ground) -> None:
    site.declare(site.manifest(job=None, notebook=True, users=("grace", "ada")))


def server_of(life: Life, user: str) -> int:
    """The id of that user's notebook, as this machine has it."""
    (pid,) = desk.processes(life, f"-m jupyterlab --config=/run/nightshift/notebook/{user}/")
    return pid


def everywhere(life: Life) -> str:
    """All that a token may not stand in: arguments and environments, logs, the agent's words, the volume."""
    logs = life.node.run(["sh", "-c", f"cat /var/log/nightshift/notebook/*; grep -r . {HOMES}"], check=False)
    return desk.environments_of(life.node) + logs.stdout + life.words


def ends_without_holding_the_volume(site: Ground, life: Life, ada: Notebook) -> None:
    """Terminals hear of it; what was left in a notebook is gone before the volume is."""
    left = "import subprocess; subprocess.Popen(['setsid', 'sleep', '1000'], cwd='.')"
    desk.asks(life, ada, code=left)
    with life.node.popen([sys.executable, LISTENS, "300"], stdout=subprocess.PIPE, text=True) as terminal:
        assert terminal.stdout is not None
        assert terminal.stdout.readline() == "ready\n"
        site.resize(0)
        life.node.imds.target_lifecycle_state = "Terminated"
        life.says("drain: unmount")
        assert not life.mounted()
        running = desk.processes(life, "").values()
        assert not [each for each in running if "jupyter" in each or "ipykernel" in each or "sleep" in each]
        assert life.end() in (0, MACHINE_GONE)
        assert "*** Nightshift: what runs here ends within 60 s" in terminal.stdout.read()
    steps = {each["name"]: each for each in (site.record(life.node, "drain.json") or {})["steps"]}
    assert list(steps)[:2] == ["notebooks", "unmount"]
    assert steps["notebooks"]["done"]
    assert "ended" not in steps["unmount"]["says"], "nobody was in the way"
    record = desk.record(life)
    assert record is not None
    assert record.notebooks == ()


def test_two_people_have_a_notebook_each_on_loopback_in_their_own_home_until_the_end(site: Ground) -> None:
    declare_people(site)
    life = desk.launch(site)
    ada, grace = desk.opens(life, "ada"), desk.opens(life, "grace")
    assert (ada.port, grace.port) == (8888, 8889)
    assert ada.token != grace.token
    assert [desk.asks(life, ada, token)["status"] for token in ("", "x" * 43, grace.token)] == [403] * 3
    table = life.node.run(["cat", "/proc/net/tcp"]).stdout
    listening = {line.split()[1] for line in table.splitlines() if line.split()[3] == "0A"}
    assert {f"{LOOPBACK}:{port:04X}" for port in (8888, 8889)} <= listening
    assert not {each for each in listening if each.endswith((":22B8", ":22B9")) and LOOPBACK not in each}
    code = "import os; print(os.getuid(), os.getcwd()); os.listdir('../grace')"
    said = desk.asks(life, ada, code=code)["said"]
    assert said.startswith(f"{uid_of('ada')} {HOMES}/ada\n")
    assert "PermissionError" in said
    shell = life.node.run(
        ["su", "-", "ada", "-c", "command -v python3; pwd; sudo -n id -u"], check=False
    ).stdout
    assert shell.splitlines() == [str(desk.PYTHON.parent / "python3"), f"{HOMES}/ada"], "and no root"
    seen = everywhere(life)
    assert "jupyterlab" in seen
    assert ada.token not in seen
    assert grace.token not in seen
    desk.asks(life, ada, code="open('mine.txt', 'w').write('of the first night')")
    ends_without_holding_the_volume(site, life, ada)


def killed_and_there_again(life: Life, ada: Notebook) -> None:
    """A server that dies is started again, at its port and with its token; its kernels go with it."""
    first, kernels = server_of(life, "ada"), desk.processes(life, "ipykernel_launcher")
    assert kernels
    os.kill(first, signal.SIGKILL)
    life.says("notebook of ada: ended with -9")
    until("it answers again", lambda: desk.asks(life, ada)["status"] == 200, desk.NOTEBOOK_S)
    assert server_of(life, "ada") != first
    assert not desk.processes(life, "ipykernel_launcher").keys() & kernels.keys()
    assert desk.told(life, "ada") == ada, "a browser that is open goes on"


def looked_after_by_the_next_agent(life: Life) -> Life:
    """What an agent that was killed has left is ended, and begun anew."""
    life.process.kill()
    life.process.wait()
    left = desk.processes(life, "jupyterlab")
    assert left, "the agent was killed, nobody else"
    again = desk.start(life.ground, life.node)
    again.says("notebook of grace: started")
    assert not desk.processes(life, "jupyterlab").keys() & left.keys()
    return again


def test_the_next_node_finds_homes_and_owners_again_and_looks_after_its_notebooks(site: Ground) -> None:
    """On the volume of the test before; what the image of a node knew is gone with it."""
    declare_people(site)
    life = desk.launch(site)
    ada = desk.opens(life, "ada")
    told = desk.asks(life, ada, code="import os; print(open('mine.txt').read(), os.stat('mine.txt').st_uid)")
    assert told["said"] == f"of the first night {uid_of('ada')}\n"
    killed_and_there_again(life, ada)
    again = looked_after_by_the_next_agent(life)
    life.node.run(["chown", "1234:1234", f"{HOMES}/grace"])
    desk.end(again)
    third = desk.launch(site)
    third.says("notebook of grace: started")
    assert f"grace has number 1234 here and not {uid_of('grace')}" in third.words
    until("it runs by that number", lambda: desk.owner(server_of(third, "grace")) == 1234)
    desk.end(third)


def test_beside_a_job_a_notebook_of_its_own_login_costs_a_spot_drain_nothing(site: Ground) -> None:
    site.declare(site.manifest(notebook=True))
    life = desk.launch(site)
    life.trains()
    notebook = desk.opens(life, "notebook")
    told = desk.asks(life, notebook, code="import os; print(os.getuid(), os.getcwd())")["said"]
    assert told == f"{uid_of('notebook')} {HOMES}/notebook\n"
    kernel = next(iter(desk.processes(life, "ipykernel_launcher")))
    assert Path(f"/proc/{kernel}/oom_score_adj").read_text() == "500\n", "memory is the job's first"
    done = drain(site, life, "spot")
    assert (done.saved, done.not_done, done.problems) == (True, [], [])
    assert done.steps["notebooks"] < 2, "it ended while the job did"


def test_a_notebook_that_cannot_run_is_given_up_in_words_and_the_node_stays(site: Ground) -> None:
    broken = "#!/bin/sh\necho No module named jupyterlab\nexit 3\n"

    def brings(node: Node) -> None:
        node.run(["sh", "-c", "cat > /opt/python && chmod 755 /opt/python"], input=broken)

    site.declare(site.manifest(job=None, notebook=True))
    life = desk.launch(site, Path("/opt/python"), brings)
    life.says("given up, what else runs goes on")
    assert "ended with 3: No module named jupyterlab; started again in" in life.words

    def problem() -> str:
        known = desk.record(life)
        return known.notebooks[0].problem if known is not None else ""

    assert until("operators know", problem) == "given up, ended with 3: No module named jupyterlab"
    readiness = site.record(life.node, "readiness.json")
    assert readiness is not None
    assert readiness["ready"] is True
    assert life.process.poll() is None
    desk.end(life)


def test_an_account_that_the_image_brings_fails_the_node_with_the_reason(site: Ground) -> None:
    def brings(node: Node) -> None:
        node.run(["useradd", "--uid", "1001", "--no-create-home", "ada"])

    declare_people(site)
    life = desk.launch(site, arrange=brings)
    assert life.end() in (GIVEN_UP, MACHINE_GONE)
    readiness = site.record(life.node, "readiness.json")
    assert readiness is not None
    assert (readiness["ready"], readiness["failed"]) == (False, "users")
    assert "ada: number 1001" in readiness["says"]
    assert "take another name" in readiness["says"]
    site.resize(0)
