"""The steps that `restore` tells bring a volume back: real engine, emulated AWS, in the order told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nightshift.cli import tagged
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


def _pooled(text: str) -> str:
    """The lab with a pool of two on desk."""
    whole = yaml.safe_load(text)
    config = whole["config"]
    config["nightshift:volumes"]["scratch"] = {"size_gib": 50, "per": "node"}
    config["nightshift:groups"]["desk"] |= {"nodes": 2, "volumes": ["scratch"]}
    return yaml.safe_dump(whole)


@pytest.mark.parametrize(
    ("name", "index", "lost"),
    [("runs", None, ()), ("scratch", 1, ()), ("scratch", 1, (0,))],
    ids=["a volume", "one of a pool", "one of a pool with another one gone"],
)
def test_the_steps_told_bring_the_volume_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, index: int | None, lost: tuple[int, ...]
) -> None:
    """Of a pool that one alone: `from:` is for all of it, and for whichever isn't alive."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n")
    file = tmp_path / "stacks" / "Pulumi.lab.yaml"
    text = (ROOT / "stacks" / "Pulumi.lab.yaml").read_text(encoding="utf-8")
    file.write_text(text if index is None else _pooled(text))
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

        def volumes() -> dict[int, Any]:
            filters = [{"Name": "tag:nightshift:volume", "Values": [name]}]
            found = ec2.describe_volumes(Filters=filters)["Volumes"]
            return {int(tagged.tags_of(one).get("nightshift:index", "0")): one for one in found}

        up()
        at = index or 0
        before = volumes()
        kind = [{"ResourceType": "snapshot", "Tags": before[at]["Tags"]}]
        made = ec2.create_snapshot(VolumeId=before[at]["VolumeId"], TagSpecifications=kind)["SnapshotId"]
        for gone in lost:
            ec2.delete_volume(VolumeId=before[gone]["VolumeId"])
        told = say("restore", name, *(["--snapshot", made] if index is None else ["--index", str(index)]))
        assert told["chosen"] == made
        for number, command in enumerate(told["commands"]):
            if number == told["edit_at"]:
                file.write_text(_edited(file.read_text(), told["edit"]))
            words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
            if words[:2] == ["pulumi", "refresh"]:
                assert workspace.refresh().ok
            elif words[:2] == ["pulumi", "up"]:
                up()
            else:
                yes = ["--yes"] if words[1] in {"hold", "retire", "resume"} else []
                say(*words[1:], *yes)
        after = volumes()
        assert after[at]["VolumeId"] != before[at]["VolumeId"]
        assert after[at]["SnapshotId"] == made
        assert after[at]["Encrypted"]
        assert set(after) == set(before)
        for other in set(before) - {at}:
            assert after[other].get("SnapshotId") != made
            assert (after[other]["VolumeId"] == before[other]["VolumeId"]) == (other not in lost)
        if told["afterwards"]:
            file.write_text(file.read_text().replace(f"from: {made}", ""))
            assert all(step.type != "aws:ebs/volume:Volume" for step in up().changed_steps())
            assert {one["VolumeId"] for one in volumes().values()} == {
                one["VolumeId"] for one in after.values()
            }
        assert up().changed == 0
        assert workspace.refresh().changed == 0
