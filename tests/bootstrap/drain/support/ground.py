"""A group on the emulated AWS, and its nodes as namespaces with the real agent in them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import boto3

from bootstrap.manifest import BootJob, BootManifest, BootShift, BootVolume
from nightshift.emulator.cloud.process import Cloud
from nightshift.emulator.sandbox.network import Network
from nightshift.emulator.sandbox.node import Node
from nightshift.plan import names
from tests.bootstrap.drain.support.declared import (
    ARTIFACTS,
    ASG,
    DATA,
    GROUP,
    LOGS,
    MANIFEST_KEY,
    REGION,
    SITE,
    TYPE,
    VOLUME,
    ZONE,
    declare_group,
)
from tests.bootstrap.storage.support.bench import MEMORY, scratch

ROOT = Path(__file__).resolve().parents[4]
HERE = Path(__file__).parent
EVERY_DAY = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
KEYS = {"aws_access_key_id": "operator", "aws_secret_access_key": "operator"}
PATIENCE_S = 120.0
STEPS_S = 600.0
"""Until a job makes steps: on a busy machine importing torch alone takes a minute."""


class GaveUp(AssertionError):
    """Something that must happen didn't, in time."""


def until(what: str, true: Callable[[], Any], seconds: float = PATIENCE_S, every: float = 0.02) -> Any:
    """What it gives as soon as that is true. Raises GaveUp."""
    end = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > end:
            raise GaveUp(f"{what}: not within {seconds:g} s")
        time.sleep(every)
    return found


@dataclass
class Life:
    """One node of the group, from its launch on. `log` is what its agent says."""

    ground: Ground
    node: Node
    process: subprocess.Popen[bytes]
    log: Path
    began: float

    @property
    def words(self) -> str:
        """What the agent has said until now."""
        return self.log.read_text(errors="replace")

    def says(self, words: str, seconds: float = PATIENCE_S) -> None:
        """Wait until the agent says so. Raises GaveUp with its last words."""

        def said() -> bool:
            if self.process.poll() is not None and words not in self.words:
                raise GaveUp(f"the agent ended with {self.process.returncode}: {self.words[-3000:]}")
            return words in self.words

        try:
            until(words, said, seconds)
        except GaveUp as error:
            raise GaveUp(f"{error}; the agent said: {self.words[-3000:]}") from None

    def job_file(self, name: str) -> dict[str, Any] | None:
        """A file of the folder that job and agent share."""
        try:
            return json.loads(self.node.path(f"/run/nightshift/job/{name}").read_text())
        except (OSError, ValueError):
            return None

    def trains(self, steps: int = 3) -> int:
        """Wait until the job has made some steps in this node; the step that it has come to."""

        def going() -> int:
            if self.process.poll() is not None:
                raise GaveUp(f"the agent ended with {self.process.returncode}: {self.words[-3000:]}")
            resumed = max(
                (each.get("step", 0) for each in self.events() if each["event"] == "resumed"), default=0
            )
            told = self.job_file("progress.json")
            return told["step"] if told is not None and told["step"] >= resumed + steps else 0

        try:
            return until("the job makes steps", going, STEPS_S)
        except GaveUp as error:
            raise GaveUp(f"{error}; the agent said: {self.words[-3000:]}") from None

    def resumed(self) -> int:
        """The step that the job went on from, 0 for a new run."""
        return max((each.get("step", 0) for each in self.events() if each["event"] == "resumed"), default=0)

    def events(self) -> list[dict[str, Any]]:
        """What the job tells of itself."""
        try:
            text = self.node.path("/run/nightshift/job/events.jsonl").read_text()
        except OSError:
            return []
        return [json.loads(line) for line in text.splitlines()]

    def mounted(self) -> bool:
        """Whether the volume is mounted in the node, asked from outside of it."""
        try:
            table = Path(f"/proc/{self.node.pid}/mountinfo").read_text()
        except OSError:
            return False
        return f" /data/{VOLUME} " in table

    def end(self, seconds: float = PATIENCE_S) -> int:
        """Wait for the agent's end; its exit code, -9 when EC2 ended its machine. The node is gone then."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise GaveUp(f"the agent doesn't end: {self.words[-3000:]}") from None
        self.node.kill()
        return code


@dataclass
class Ground:
    """The site. `code` is the job's folder, seen by all nodes."""

    cloud: Cloud
    net: Network
    folder: Path
    clients: dict[str, Any] = field(default_factory=dict)
    lives: list[Life] = field(default_factory=list)

    def client(self, service: str) -> Any:
        """An operator's client."""
        if service not in self.clients:
            make: Any = boto3.session.Session(region_name=REGION).client
            self.clients[service] = make(service, endpoint_url=self.cloud.endpoint, **KEYS)
        return self.clients[service]

    @property
    def code(self) -> Path:
        """Where the job's script lies."""
        return self.folder / "code"

    @property
    def stuck(self) -> Path:
        """Make it, and the job hangs; take it away before the next node."""
        return self.code / "stuck"

    def manifest(self, **changes: Any) -> BootManifest:
        """The group's, with a shift that never ends."""
        given: dict[str, Any] = {
            "site": SITE,
            "group": GROUP,
            "group_name": ASG,
            "region": REGION,
            "zone": ZONE,
            "nodes": 1,
            "instance_types": (TYPE,),
            "efa": False,
            "runtime": "cpu",
            "timezone": "Etc/UTC",
            "shifts": (BootShift(EVERY_DAY, "00:00", "00:00"),),
            "volumes": (BootVolume(VOLUME, 1, "xfs", "site", blank=True),),
            "boot_s": 300,
            "drain_s": 60,
            "data_bucket": DATA,
            "log_group": LOGS,
            "job": BootJob(str(self.code), None, "train.py", (), "release"),
        }
        return BootManifest(**{**given, **changes})

    def declare(self, manifest: BootManifest) -> None:
        """Put the manifest where nodes read it."""
        self.client("s3").put_object(Bucket=ARTIFACTS, Key=MANIFEST_KEY, Body=manifest.to_json().encode())

    def members(self) -> list[dict[str, Any]]:
        """The group's instances."""
        found = self.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])
        return found["AutoScalingGroups"][0]["Instances"]

    def resize(self, desired: int) -> None:
        """As a scheduled action does."""
        self.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=desired)

    def launch(self, *, brief: bool = True) -> Life:
        """The group launches a node; its agent runs. `brief` leaves out all checks but the volumes'."""
        known = {each["InstanceId"] for each in self.members()}
        self.resize(1)
        fresh = [each["InstanceId"] for each in self.members() if each["InstanceId"] not in known]
        node = self.net.node(fresh[0], zone=ZONE, type=TYPE)
        return self.start_agent(node, brief=brief)

    def start_agent(self, node: Node, *, brief: bool = True) -> Life:
        """Start the agent, first or again."""
        words = [str(HERE / "brief.py")] if brief else ["-m", "bootstrap", "start", "--node"]
        log = self.folder / f"{node.id}-{len(self.lives)}.log"
        environment = {
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "NIGHTSHIFT_RUNTIME_PYTHON": sys.executable,
            "NIGHTSHIFT_POLL_S": "1",
            "NO_PROXY": "*",
        }
        with log.open("wb") as out:
            process = node.popen(
                [sys.executable, *words, str(self.folder / "node.json")],
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        life = Life(self, node, process, log, time.monotonic())
        self.lives.append(life)
        return life

    def record(self, node: Node, name: str) -> dict[str, Any] | None:
        """What the node has written of itself: readiness.json, drain.json."""
        s3 = self.client("s3")
        found = s3.list_objects_v2(Bucket=DATA, Prefix="nodes/").get("Contents", ())
        keys = [each["Key"] for each in found if each["Key"].endswith(f":{node.id}/{name}")]
        return json.loads(s3.get_object(Bucket=DATA, Key=keys[0])["Body"].read()) if keys else None

    def holder(self) -> str | None:
        """The instance that has the volume."""
        told = self.client("ec2").describe_volumes(
            Filters=[{"Name": "tag-key", "Values": [names.TAG_VOLUME]}]
        )
        attached = told["Volumes"][0]["Attachments"]
        return attached[0]["InstanceId"] if attached else None


def _make(ground: Ground) -> None:
    config = declare_group(ground.client, ground.cloud.endpoint)
    (ground.folder / "node.json").write_text(json.dumps(asdict(config)))
    ground.code.mkdir()
    shutil.copy(HERE / "train.py", ground.code / "train.py")
    ground.declare(ground.manifest())


@contextmanager
def ground(cloud: Cloud) -> Generator[Ground]:
    """A new site; nodes and agents of it end with it."""
    cloud.control("reset", {})
    folder = scratch(MEMORY)
    try:
        with Network(share=(folder,), cloud=cloud.endpoint) as net:
            made = Ground(cloud, net, folder)
            _make(made)
            yield made
            for client in made.clients.values():
                client.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
