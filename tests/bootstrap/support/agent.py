"""An agent on a node that isn't: AWS as one client that notes what it's asked, and rooms that do as told."""

from __future__ import annotations

import io
import signal
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from botocore.exceptions import ClientError

from bootstrap.aws import NodeAws
from bootstrap.imds import Instance
from bootstrap.lifecycle.metadata import Said
from bootstrap.lifecycle.watch import STATE
from bootstrap.manifest import BootJob, BootManifest, BootShift
from bootstrap.start import agent, boot, stay
from bootstrap.start.agent import Agent
from bootstrap.start.edges import NodeEdges
from bootstrap.start.node import Node
from nightshift.records.drain import DrainRecord
from nightshift.records.model import OverrideRecord, ReadinessRecord, RunRecord
from tests.bootstrap.support import samples
from tests.bootstrap.support.rooms import FakeRooms
from tests.bootstrap.support.samples import CONFIG

INSTANCE = Instance("i-0abc", "g6.12xlarge", "us-east-1a")
JOB = BootJob("https://example.org/lab/vit.git", "3f2c1d0", "train.py", (), "release")
ALWAYS = BootShift(("mon", "tue", "wed", "thu", "fri", "sat", "sun"), "00:00", "00:00")
NIGHT = BootShift(ALWAYS.days, "20:00", "07:00")
"""NOW, noon, is far outside of it."""
MANIFEST = replace(samples.MANIFEST, shifts=(ALWAYS,), job=JOB)
SHORT = (
    (stay, "TURN_S", 0.005),
    (stay, "GUARD_S", 0.02),
    (stay, "RUN_S", 0.02),
    (stay, "HOURS_S", 0.02),
    (stay, "EVERY_S", 0.02),
    (stay, "MARK_S", 0.1),
    (boot, "DENIED_S", 0.05),
    (boot, "_PAUSE_S", 0.01),
    (agent, "LEAVE_S", 0.1),
    (agent, "RECORD_S", 0.05),
    (agent, "PAUSE_S", 0.01),
)
"""The agent's times, for tests."""
NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)
USER = "AROA:i-0abc"


def refusal(code: str, message: str = "no") -> ClientError:
    """As botocore raises it."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "Call")


class Client:
    """Every service of AWS at once: S3 keeps objects, the others note what is asked. `refuse` by name."""

    def __init__(self, manifest: str) -> None:
        self.objects: dict[str, bytes] = {CONFIG.manifest_key: manifest.encode()}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.refuse: dict[str, Exception] = {}
        self.now = NOW
        self.exceptions = type("Exceptions", (), {"ClientError": ClientError})

    def named(self, name: str) -> list[dict[str, Any]]:
        """What was asked under this name, in order."""
        return [given for call, given in self.calls if call == name]

    def names(self) -> list[str]:
        """What was asked to change something, in order."""
        quiet = ("get_caller_identity", "get_object", "record_lifecycle_action_heartbeat")
        return [call for call, _ in self.calls if call not in quiet]

    def _note(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        if name in self.refuse:
            raise self.refuse[name]
        self.calls.append((name, given))
        date = f"{self.now:%a, %d %b %Y %H:%M:%S} GMT"
        return {"UserId": USER, "ResponseMetadata": {"HTTPHeaders": {"date": date}}}

    def get_object(self, **given: Any) -> Any:
        self._note("get_object", given)
        if given["Key"] not in self.objects:
            raise refusal("AccessDenied", "as S3 answers a node for what isn't there")
        return {"Body": io.BytesIO(self.objects[given["Key"]]), "ETag": '"1"'}

    def put_object(self, **given: Any) -> Any:
        self._note("put_object", given)
        self.objects[given["Key"]] = given["Body"]
        return {"ETag": '"1"'}

    def get_paginator(self, _name: str) -> Any:
        def paginate(**given: Any) -> list[Any]:
            if "list_objects_v2" in self.refuse:
                raise self.refuse["list_objects_v2"]
            keys = [key for key in self.objects if key.startswith(given["Prefix"])]
            return [{"Contents": [{"Key": key, "ETag": str(hash(self.objects[key]))} for key in keys]}]

        return type("Pages", (), {"paginate": staticmethod(paginate)})()

    def __getattr__(self, name: str) -> Any:
        return lambda **given: self._note(name, given)


@dataclass
class Service:
    """The metadata service: answers by path."""

    answers: dict[str, str] = field(default_factory=lambda: {STATE: "InService"})

    def get(self, path: str) -> Said | None:
        told = self.answers.get(path)
        return None if told is None else Said(told, NOW)


@dataclass
class Bench:
    """One node."""

    client: Client
    node: Node
    service: Service = field(default_factory=Service)
    rooms: FakeRooms = field(default_factory=FakeRooms)

    def run(self) -> int:
        """One life of the agent; the test's signal handlers come back."""
        before = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)]
        try:
            return Agent(self.node, lambda _manifest: self.rooms, self.service).run()
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def override(self, record: OverrideRecord) -> None:
        """An operator's word."""
        self.client.objects["overrides/vit.json"] = record.dump()

    def set_run(self, record: RunRecord) -> None:
        """What an earlier node has recorded."""
        self.client.objects["runs/vit/latest.json"] = record.dump()

    @property
    def run_record(self) -> RunRecord | None:
        """What is recorded of the run."""
        body = self.client.objects.get("runs/vit/latest.json")
        return RunRecord.load("runs", body) if body else None

    @property
    def readiness(self) -> ReadinessRecord | None:
        """The node's verdict on itself."""
        body = self.client.objects.get(f"nodes/{USER}/readiness.json")
        return ReadinessRecord.load("readiness", body) if body else None


def ends(bench: Bench, after_s: float = 0.0) -> Callable[[], None]:
    """The group ends the node, some time after this is called."""

    def act() -> None:
        time.sleep(after_s)
        bench.service.answers[STATE] = "Terminated"

    return act


@contextmanager
def bench(run_dir: Path) -> Generator[Bench]:
    """An agent's node; metadata is looked at every 20 ms."""
    client = Client(MANIFEST.to_json())
    with ExitStack() as stack:
        for module, name, seconds in SHORT:
            stack.enter_context(patch.object(module, name, seconds))
        stack.enter_context(patch.object(NodeAws, "client", lambda _self, _service, **_: client))
        aws = NodeAws(CONFIG, INSTANCE.id)
        yield Bench(client, Node(CONFIG, INSTANCE, aws, NodeEdges(run_dir=run_dir, poll_s=0.02)))


def declare(node: Bench, manifest: BootManifest) -> None:
    """Another manifest lies in the bucket."""
    node.client.objects[CONFIG.manifest_key] = manifest.to_json().encode()


def hooks(node: Bench) -> list[tuple[str, str]]:
    """Which hook was told what."""
    told = node.client.named("complete_lifecycle_action")
    return [(each["LifecycleHookName"], each["LifecycleActionResult"]) for each in told]


def ended(node: Bench) -> list[bool]:
    """Each call to end itself: whether the group shrinks by it."""
    told = node.client.named("terminate_instance_in_auto_scaling_group")
    return [each["ShouldDecrementDesiredCapacity"] for each in told]


def drain_record(node: Bench) -> DrainRecord:
    """How it drained."""
    return DrainRecord.load("drain", node.client.objects[f"nodes/{USER}/drain.json"])
