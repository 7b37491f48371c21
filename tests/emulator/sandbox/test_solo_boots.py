"""The stack `solo` on the emulated AWS: from user data through every check to its notebook, and its end."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bootstrap.artifact import build
from nightshift.emulator.cloud import Cloud
from nightshift.emulator.sandbox.machines.description import Machine
from nightshift.emulator.sandbox.machines.recorded import equip
from nightshift.emulator.sandbox.network import Network, reason_to_skip
from nightshift.emulator.sandbox.node import Node
from nightshift.plan.people import NOTEBOOK_USER, uid_of
from nightshift.records.notebook import Notebook, NotebookRecord
from nightshift.settings.models import Stack
from nightshift.settings.reading import read_stack
from tests.bootstrap.drain.support.ground import ROOT, until
from tests.bootstrap.notebook.support import desk
from tests.emulator.sandbox.support.site import GROUP, Site, deploy

pytestmark = pytest.mark.node
KIND = "g6.xlarge"
BOOT_S = 240.0
ALWAYS = [{"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "from": "00:00", "to": "00:00"}]


def solo(folder: Path) -> Stack:
    """The shipped one, in the emulated site's zone, with a small volume and a shift that is now."""
    whole: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / "Pulumi.solo.yaml").read_text())
    config = whole["config"]
    config["aws:region"] = "us-east-1"
    config["nightshift:site"] |= {"zone": "us-east-1a", "image": "ami-0abc0000000000001"}
    config["nightshift:volumes"]["home"]["size_gib"] = 1
    (shipped,) = config["nightshift:groups"].values()
    del shipped["tier"]
    config["nightshift:groups"] = {GROUP: {**shipped, "types": [KIND], "shifts": ALWAYS}}
    file = folder / "Pulumi.solo.yaml"
    file.write_text(yaml.safe_dump(whole))
    return read_stack(file)


def boots(net: Network, site: Site, runtime: str) -> Node:
    """The group's node, up from an empty root on a recorded machine."""
    (instance,) = site.size(1)
    node = net.node(instance, type=KIND, start=False)
    equip(node.image, Machine(kind=KIND, nodes=1, efa=False, runtime=runtime))
    node.image.cloud_init_s = 5
    node.image.environment["NIGHTSHIFT_POLL_S"] = "0.5"
    node.imds.user_data = site.user_data().encode()
    node.boot()
    desk.open_to_people(node)
    return node


def told(site: Site, node: Node) -> Notebook | None:
    """How the notebook is reached, as operators find it."""
    text = site.records("notebook.json").get(node.id)
    record = NotebookRecord.load("notebook.json", text.encode()) if text else None
    return record.notebooks[0] if record is not None and record.notebooks else None


def test_solo_comes_up_with_a_notebook_on_its_home_and_goes_without_a_trace(
    cloud: Cloud, tmp_path: Path
) -> None:
    if reason := reason_to_skip():
        pytest.skip(reason)
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.skip("needs jupyterlab beside this interpreter")
    before = desk.accounts_of_this_machine()
    wanted = solo(tmp_path)
    assert wanted.groups[GROUP].notebook
    with Network(cloud=cloud.endpoint) as net:
        site = deploy(cloud.endpoint, wanted, build())
        node = boots(net, site, wanted.groups[GROUP].runtime)
        notebook = until("operators find the notebook", lambda: told(site, node), BOOT_S, 0.3)
        assert site.instances()[node.id] == "InService"
        until("it answers", lambda: desk.answer(node, notebook)["status"] == 200, BOOT_S, 0.3)
        code = "import os, torch; print(os.getuid(), os.getcwd(), torch.__version__)"
        said = desk.answer(node, notebook, code=code)["said"].split()
        assert said[:2] == [str(uid_of(NOTEBOOK_USER)), f"/data/home/{NOTEBOOK_USER}"]
        assert said[2][0].isdigit()
        assert json.loads(site.records("readiness.json")[node.id])["ready"]
        assert notebook.token not in node.journal() + desk.environments_of(node)
        site.size(0)
        until("it has left its group", lambda: node.id not in site.instances(), BOOT_S, 0.2)
        assert told(site, node) is None
        steps = json.loads(site.records("drain.json")[node.id])["steps"]
        assert [(each["name"], each["done"]) for each in steps] == [("notebooks", True), ("unmount", True)]
    assert desk.accounts_of_this_machine() == before
