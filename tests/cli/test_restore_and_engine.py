"""The steps that `restore` tells bring a volume back: real engine, emulated AWS, in the order told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.environment import aws_environment
from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.rehearsal.clients import clients_of

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("restore")]
ROOT = Path(__file__).parents[2]


def _edited(text: str, edit: list[str]) -> str:
    """The stack file with these lines under nightshift:volumes, as a person would write them."""
    whole = yaml.safe_load(text)
    ((name, fields),) = yaml.safe_load("\n".join(edit)).items()
    whole["config"]["nightshift:volumes"].setdefault(name, {}).update(fields)
    return yaml.safe_dump(whole)


def test_the_steps_told_bring_the_volume_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n")
    file = tmp_path / "stacks" / "Pulumi.lab.yaml"
    file.write_text((ROOT / "stacks" / "Pulumi.lab.yaml").read_text(encoding="utf-8"))
    toolchain = ensure_toolchain(lambda line: None)
    with start_cloud() as cloud, Workspace(toolchain, file, ROOT, cloud.endpoint) as workspace:
        env = {**aws_environment(cloud.endpoint), "HOME": str(tmp_path)}
        ec2 = clients_of(cloud.endpoint, "us-east-1")("ec2")

        def up() -> Any:
            workspace.write_config()
            result = workspace.up()
            assert result.ok, result.diagnostics
            return result

        def say(*words: str) -> dict[str, Any]:
            code = run([*words, "--json"], Context(cwd=tmp_path, env=env, say=lambda line: None))
            told = json.loads(capsys.readouterr().out)
            assert code == 0, told
            return told

        def volume() -> Any:
            filters = [{"Name": "tag:nightshift:volume", "Values": ["runs"]}]
            (found,) = ec2.describe_volumes(Filters=filters)["Volumes"]
            return found

        up()
        before = volume()
        kind = [{"ResourceType": "snapshot", "Tags": before["Tags"]}]
        made = ec2.create_snapshot(VolumeId=before["VolumeId"], TagSpecifications=kind)["SnapshotId"]
        told = say("restore", "runs", "--snapshot", made)
        assert told["chosen"] == made
        edited = False
        for command in told["commands"]:
            words = re.findall(r'"[^"]*"|\S+', command)
            words = [word.strip('"') for word in words]
            if words[:2] == ["pulumi", "refresh"]:
                file.write_text(_edited(file.read_text(), told["edit"]))
                edited = True
                assert workspace.refresh().ok
            elif words[:2] == ["pulumi", "up"]:
                assert edited
                up()
            else:
                yes = ["--yes"] if words[1] in {"hold", "retire", "resume"} else []
                say(*words[1:], *yes)
        after = volume()
        assert after["VolumeId"] != before["VolumeId"]
        assert after["SnapshotId"] == made
        assert after["Encrypted"]
        assert up().changed == 0
        assert workspace.refresh().changed == 0
