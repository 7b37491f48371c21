"""The verbs against the emulated AWS with a deployed lab: `up` and `refresh` leave every override alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.environment import aws_environment
from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.rehearsal.clients import clients_of

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("verbs")]
ROOT = Path(__file__).parents[2]
FILE = ROOT / "stacks" / "Pulumi.lab.yaml"
VIT = "nightshift-lab.vit"


@dataclass
class Lab:
    """A deployed lab, its engine, and the command line on it."""

    workspace: Workspace
    env: dict[str, str]
    capture: pytest.CaptureFixture[str]

    def say(self, *words: str) -> dict[str, Any]:
        context = Context(cwd=ROOT, env=self.env, say=lambda line: None)
        code = run([*words, "--stack", "lab", "--json"], context)
        told = json.loads(self.capture.readouterr().out)
        return {"code": code, **told}

    def changes(self) -> list[int]:
        """What an up, a refresh and an up after it change."""
        return [self.workspace.up().changed, self.workspace.refresh().changed, self.workspace.up().changed]

    def client(self, service: str) -> Any:
        return clients_of(self.env["AWS_ENDPOINT_URL"], "us-east-1")(service)

    def starts(self) -> dict[str, str]:
        found = self.client("autoscaling").describe_scheduled_actions(AutoScalingGroupName=VIT)
        return {
            one["ScheduledActionName"]: f"{one['StartTime']:%Y-%m-%d %H:%M}"
            for one in found["ScheduledUpdateGroupActions"]
            if one.get("StartTime")
        }


@pytest.fixture(name="lab")
def _lab(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Lab]:
    toolchain = ensure_toolchain(lambda line: None)
    with start_cloud() as cloud, Workspace(toolchain, FILE, ROOT, cloud.endpoint) as workspace:
        first = workspace.up()
        assert first.ok, first.diagnostics
        env = {**aws_environment(cloud.endpoint), "HOME": str(tmp_path)}
        yield Lab(workspace, env, capsys)


def test_hold_wake_and_resume_stand_through_up_and_refresh(lab: Lab) -> None:
    before = lab.starts()["up-2000"]
    held = lab.say("hold", "vit", "--until", "2027-06-01" if before < "2027-05-01" else "2099-01-01", "--yes")
    assert held["code"] == 0, held
    moved = lab.starts()["up-2000"]
    assert moved > "2027-06"
    assert lab.changes() == [0, 0, 0]
    assert lab.starts()["up-2000"] == moved

    woken = lab.say("wake", "vit", "--for", "3h", "--yes")
    assert woken["code"] == 0, woken
    status = next(one for one in lab.say("status")["groups"] if one["name"] == "vit")
    assert (status["desired"], status["override"]["state"], len(status["nodes"])) == (1, "up", 1)
    assert lab.changes() == [0, 0, 0]

    (node,) = (one["id"] for one in status["nodes"])
    assert f"--node {node}" in " ".join(lab.say("connect", "vit")["error"]["lines"])
    assert lab.say("connect", "vit", "--node", node)["command"][3:5] == ["--target", node]
    assert lab.say("logs", "vit")["events"] == []

    resumed = lab.say("resume", "vit", "--yes")
    assert resumed["code"] == 0, resumed
    assert lab.starts()["up-2000"] == before
    assert "wake-end" not in lab.starts()
    assert lab.changes() == [0, 0, 0]
