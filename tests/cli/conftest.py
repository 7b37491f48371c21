"""A project with one stack, a fixed clock, and AWS as moto has it in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.plan import names
from nightshift.plan.shifts import compile_actions
from nightshift.settings import Stack, read_stack
from nightshift.settings.to_plan import calendar_of

NOW = "2026-12-01T09:00:00Z"
ACCOUNT = "123456789012"
MOTO_IMAGE = "ami-03cf127a"
LAB = """# the lab
config:
  aws:region: us-east-1
  nightshift:site:
    zone: us-east-1a
    timezone: Asia/Shanghai
    owner: vision
    image: ami-0abc0000000000001 # pinned in November
    budget: {monthly_usd: 600, notify: [lab@example.org]}
  nightshift:volumes:
    imagenet: {size_gib: 300, throughput: 500, iops: 4000}
    runs: {size_gib: 200, snapshots: nightly}
  nightshift:snapshots:
    nightly: {at_utc: "07:00", keep: 7}
  nightshift:groups:
    desk:
      tier: small
      shifts: [{days: [mon, tue, wed, thu, fri], from: "09:00", to: "18:00"}]
      volumes: [runs]
    vit:
      tier: medium
      capacity: spot
      shifts: [{days: [mon, wed, fri], from: "20:00", to: "07:00"}]
      volumes: [imagenet, runs]
      runtime: torch-2.6-cu124
"""


@dataclass
class Project:
    """A folder with a Pulumi.yaml and stacks/Pulumi.lab.yaml, and a way to say verbs in it."""

    root: Path
    answer: bool = True
    ask: Callable[[str], bool] | None = None
    asked: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.root / "stacks" / "Pulumi.lab.yaml"

    @property
    def stack(self) -> Stack:
        return read_stack(self.file)

    def take_shipped_lab(self) -> None:
        """Use the stack file that people copy instead of the tests' own."""
        shipped = Path(__file__).parents[2] / "stacks" / "Pulumi.lab.yaml"
        self.file.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")

    def context(self) -> Context:
        return Context(cwd=self.root, env=self.env, ask=self._ask, say=lambda line: None)

    def say(self, *words: str) -> int:
        return run(list(words), self.context())

    def _ask(self, question: str) -> bool:
        self.asked.append(question)
        return self.ask(question) if self.ask else self.answer


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Project:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n")
    project = Project(tmp_path, env={"NIGHTSHIFT_NOW": NOW, "HOME": str(tmp_path)})
    project.file.write_text(LAB)
    return project


@pytest.fixture(name="aws")
def _aws(monkeypatch: pytest.MonkeyPatch, project: Project) -> Iterator[Callable[[str], Any]]:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    project.env |= keys
    client: Any = boto3.client
    with mock_aws():
        yield lambda service: client(service, region_name="us-east-1")


@pytest.fixture(name="deployed")
def _deployed(aws: Callable[[str], Any], project: Project) -> Callable[[str], Any]:
    """The lab's groups, schedules, volumes and data bucket; moto keys schedules by name alone."""
    ec2, scaling = aws("ec2"), aws("autoscaling")
    stack = project.stack
    subnet = next(
        one["SubnetId"]
        for one in ec2.describe_subnets()["Subnets"]
        if one["AvailabilityZone"] == "us-east-1a"
    )
    for group, kind in (("desk", "g6.2xlarge"), ("vit", "g6.12xlarge")):
        name = names.group_name("lab", group)
        ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"ImageId": MOTO_IMAGE, "InstanceType": kind}
        )
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            MinSize=0,
            MaxSize=1,
            DesiredCapacity=0,
            LaunchTemplate={"LaunchTemplateName": name, "Version": "1"},
            VPCZoneIdentifier=subnet,
            Tags=[
                {
                    "Key": key,
                    "Value": value,
                    "PropagateAtLaunch": True,
                    "ResourceId": name,
                    "ResourceType": "auto-scaling-group",
                }
                for key, value in names.node_tags("lab", group, "vision").items()
            ],
        )
        calendar = calendar_of(stack.site, stack.groups[group])
        for action in compile_actions(calendar.shifts, calendar.zone, calendar.nodes):
            scaling.put_scheduled_update_group_action(
                AutoScalingGroupName=name,
                ScheduledActionName=action.name,
                Recurrence=action.recurrence,
                TimeZone=action.time_zone,
                DesiredCapacity=action.desired,
            )
    for volume, size in (("imagenet", 300), ("runs", 200)):
        tags = names.volume_tags("lab", volume, "vision")
        ec2.create_volume(
            AvailabilityZone="us-east-1a",
            Size=size,
            TagSpecifications=[
                {"ResourceType": "volume", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}
            ],
        )
    aws("s3").create_bucket(Bucket=data_bucket())
    return aws


@pytest.fixture(name="ec2")
def _ec2(aws: Callable[[str], Any]) -> Any:
    """EC2 with the lab's volumes alone."""
    client = aws("ec2")
    for name, size in (("imagenet", 300), ("runs", 200)):
        tags = [{"Key": key, "Value": text} for key, text in names.volume_tags("lab", name, "vision").items()]
        client.create_volume(
            AvailabilityZone="us-east-1a",
            Size=size,
            TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
        )
    return client


def volume(ec2: Any, name: str = "runs") -> Any:
    """The live volume of that name."""
    filters = [{"Name": "tag:nightshift:volume", "Values": [name]}]
    return ec2.describe_volumes(Filters=filters)["Volumes"][0]


def snapshot(ec2: Any, name: str = "runs", *, tagged: bool = True) -> str:
    """One as a policy makes it, the volume's tags going along; or one by hand."""
    found = volume(ec2, name)
    kind = [{"ResourceType": "snapshot", "Tags": found["Tags"]}] if tagged else []
    return str(ec2.create_snapshot(VolumeId=found["VolumeId"], TagSpecifications=kind)["SnapshotId"])


def volume_ids(ec2: Any) -> set[str]:
    """Of all that are alive, anybody's."""
    return {str(one["VolumeId"]) for one in ec2.describe_volumes()["Volumes"]}


def data_bucket() -> str:
    return names.bucket_name("lab", "data", ACCOUNT, "us-east-1")


@pytest.fixture(name="golden")
def _golden() -> Callable[[str, Any], None]:
    """Compare lines with golden/NAME.txt, at most 80 wide. NIGHTSHIFT_GOLDEN=write renews the file."""

    def compare(name: str, lines: Any) -> None:
        file = Path(__file__).with_name("golden") / f"{name}.txt"
        text = "".join(f"{line}\n" for line in lines)
        if os.environ.get("NIGHTSHIFT_GOLDEN") == "write":
            file.write_text(text)
        assert text == file.read_text()
        assert max(map(len, lines)) <= 80

    return compare
