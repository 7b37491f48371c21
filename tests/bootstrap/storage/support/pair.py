"""Nodes on the emulated AWS whose AttachVolume makes a real device appear, and DetachVolume takes it away."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3

from bootstrap.aws import NodeAws
from bootstrap.manifest import BootVolume
from bootstrap.start.config import NodeConfig
from bootstrap.storage.attach import attach_all, release_all
from bootstrap.storage.outcome import AttachReport
from bootstrap.storage.place import Waits
from nightshift.emulator.cloud.process import Cloud
from nightshift.emulator.sandbox.devices import Disk
from nightshift.plan.names import volume_tags
from tests.bootstrap.storage.support.bench import MEMORY, manifest, scratch
from tests.bootstrap.storage.support.machine import Machine

REGION, ZONE = "us-east-1", "us-east-1a"
KEYS = {"AWS_ACCESS_KEY_ID": "operator", "AWS_SECRET_ACCESS_KEY": "operator"}
WAITS = Waits(
    claim_s=60, attach_s=20, device_s=20, term_s=0.5, kill_s=5, detach_s=30, poll_s=0.05, device_poll_s=0.02
)


@dataclass
class Held:
    """Who held which volume from when to when, by the nodes' own clock."""

    spans: list[tuple[str, str, float, float]] = field(default_factory=list)
    since: dict[str, tuple[str, float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begins(self, volume: str, node: str) -> None:
        """AttachVolume was answered."""
        with self.lock:
            assert volume not in self.since, f"{volume}: {node} has it, and so has {self.since[volume][0]}"
            self.since[volume] = (node, time.monotonic())

    def ends(self, volume: str) -> None:
        """DetachVolume is about to be asked."""
        with self.lock:
            node, began = self.since.pop(volume)
            self.spans.append((volume, node, began, time.monotonic()))


class PluggingAws(NodeAws):
    """The node's real edge, and the hardware that follows it."""

    def __init__(self, config: NodeConfig, machine: Machine, disks: dict[str, Disk], held: Held) -> None:
        super().__init__(config, machine.instance)
        self._machine, self._disks, self._held = machine, disks, held

    def attach_volume(self, volume_id: str, device: str) -> None:
        super().attach_volume(volume_id, device)
        self._held.begins(volume_id, self._machine.instance)
        self._machine.plug(self._disks[volume_id])

    def detach_volume(self, volume_id: str) -> None:
        self._machine.unplug(self._disks[volume_id])
        self._held.ends(volume_id)
        super().detach_volume(volume_id)


@dataclass
class Pair:
    """Nodes of one site, with its volumes by label: `runs`, or `scratch-1` in a pool."""

    cloud: Cloud
    ec2: Any
    folder: Path
    store: Path
    disks: dict[str, Disk] = field(default_factory=dict)
    machines: list[Machine] = field(default_factory=list)
    held: Held = field(default_factory=Held)

    def volume(self, name: str, index: int | None = None) -> str:
        """A new blank volume with the program's tags, and its disk."""
        tags = [
            {"Key": key, "Value": text} for key, text in volume_tags("lab", name, "us", index=index).items()
        ]
        made = self.ec2.create_volume(
            AvailabilityZone=ZONE,
            Size=1,
            VolumeType="gp3",
            TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
        )
        self.disks[made["VolumeId"]] = Disk.make(self.store, made["VolumeId"])
        return str(made["VolumeId"])

    def node(self) -> Machine:
        """A new running instance with its own trees."""
        made = self.ec2.run_instances(
            ImageId="ami-0abc0000000000001",
            InstanceType="g4dn.xlarge",
            MinCount=1,
            MaxCount=1,
            Placement={"AvailabilityZone": ZONE},
        )
        instance = made["Instances"][0]["InstanceId"]
        machine = Machine(self.folder / instance, instance, ZONE)
        self.machines.append(machine)
        return machine

    def aws(self, machine: Machine) -> PluggingAws:
        """The node's edge to AWS."""
        config = NodeConfig(
            "lab", "vit", "nightshift-lab.vit", REGION, "", "", "", "", "", "", "ready", self.cloud.endpoint
        )
        return PluggingAws(config, machine, self.disks, self.held)

    def close(self) -> None:
        """Everything is taken down."""
        for machine in self.machines:
            machine.close()
        for disk in self.disks.values():
            disk.close()


@contextmanager
def pair(cloud: Cloud) -> Generator[Pair]:
    """An empty site on the emulated AWS."""
    folder, store = scratch(), scratch(MEMORY)
    cloud.control("reset", {})
    with patch.dict(os.environ, KEYS):
        ec2 = boto3.client("ec2", region_name=REGION, endpoint_url=cloud.endpoint)
        made = Pair(cloud, ec2, folder, store)
        try:
            yield made
        finally:
            ec2.close()
            made.close()
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(store, ignore_errors=True)


@dataclass
class Stay:
    """One node's life: attach all, use them for a while, release all."""

    report: AttachReport | None = None
    clean: bool = False
    saw: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0
    error: str = ""


def live(made: Pair, machine: Machine, wishes: Sequence[BootVolume], stay: Stay, use_s: float) -> None:
    """Run one node's life; each leaves its name on every volume, and sees who was there before."""
    began = time.monotonic()
    try:
        aws = made.aws(machine)
        stay.report = attach_all(manifest(*wishes), aws, machine.place(WAITS))
        for volume in stay.report.volumes:
            stay.saw[volume.name] = sorted(each.name for each in Path(volume.path).glob("i-*"))
            (Path(volume.path) / machine.instance).write_text("was here")
        time.sleep(use_s)
        stay.clean = release_all(wishes, aws, machine.place(WAITS)).clean
    except Exception as error:
        stay.error = f"{type(error).__name__}: {error}"
    stay.seconds = time.monotonic() - began


def together(made: Pair, wishes: Sequence[Sequence[BootVolume]], seed: int, use_s: float = 0.3) -> list[Stay]:
    """As many nodes as wishes, begun within 50 ms of each other in an order that the seed gives."""
    chance = random.Random(seed)
    stays = [Stay() for _ in wishes]
    machines = [made.node() for _ in wishes]
    threads = [
        threading.Thread(target=live, args=(made, machine, each, stay, use_s * chance.random()))
        for machine, each, stay in zip(machines, wishes, stays, strict=True)
    ]
    for thread in chance.sample(threads, len(threads)):
        thread.start()
        time.sleep(0.05 * chance.random())
    for thread in threads:
        thread.join(180)
    return stays
