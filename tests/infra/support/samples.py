"""Stacks and sites to decide on: the lab of the documentation, with room for one change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bootstrap.artifact import Artifact
from infra.decide import decide
from infra.live import LiveSite
from infra.live_ec2 import FoundVolume, LivePart
from infra.program import Site, compose
from nightshift.plan.changes import RunningGroup
from nightshift.plan.volumes import LiveVolume
from nightshift.settings import Stack, from_config
from tests.infra.recorder import ACCOUNT, REGION, STACK, Recorder, deploy

MONDAY_NOON = datetime(2026, 11, 30, 4, tzinfo=UTC)
"""12:00 in Shanghai: desk is up, vit is not."""
ARTIFACT = Artifact(Path(__file__), "0" * 64, 1)

LAB: dict[str, Any] = {
    "aws:region": REGION,
    "nightshift:site": {
        "zone": "us-east-1a",
        "timezone": "Asia/Shanghai",
        "owner": "vision",
        "image": "ami-0123456789abcdef0",
        "budget": {"monthly_usd": 600, "notify": ["lab@example.org"]},
    },
    "nightshift:volumes": {
        "imagenet": {"size_gib": 300, "throughput": 500, "iops": 4000},
        "runs": {"size_gib": 200, "snapshots": "nightly"},
    },
    "nightshift:snapshots": {"nightly": {"at_utc": "07:00", "keep": 7}},
    "nightshift:groups": {
        "desk": {
            "tier": "small",
            "shifts": [{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "09:00", "to": "18:00"}],
            "volumes": ["runs"],
        },
        "vit": {
            "tier": "medium",
            "capacity": "spot",
            "shifts": [{"days": ["mon", "wed", "fri"], "from": "20:00", "to": "07:00"}],
            "volumes": ["imagenet", "runs"],
            "runtime": "torch-2.6-cu124",
        },
    },
}

EFA_GROUP: dict[str, Any] = {
    "types": ["p4d.24xlarge"],
    "nodes": 2,
    "efa": True,
    "shifts": [{"days": ["sat"], "from": "08:00", "to": "20:00"}],
}


def lab(change: Callable[[dict[str, Any]], object] = lambda raw: None) -> Stack:
    """The lab's stack after one change of its config."""
    raw = copy.deepcopy(LAB)
    change(raw)
    return from_config(raw, STACK)


def nothing_alive(**known: Any) -> LiveSite:
    """A site of which nothing stands, but for what is named."""
    return LiveSite(ACCOUNT, "aws", known.pop("now", MONDAY_NOON), **known)


def parts(*found: LivePart) -> dict[str, LivePart]:
    """Live parts by part."""
    return {part.part: part for part in found}


def volume(name: str, number: int = 1, **other: Any) -> FoundVolume:
    """A live volume of the lab."""
    encrypted, pooled = other.pop("encrypted", True), other.pop("pooled", False)
    known: dict[str, Any] = {
        "id": f"vol-{number:017x}",
        "name": name,
        "index": 0,
        "zone": "us-east-1a",
        "size_gib": 100,
        "state": "available",
        "site": STACK,
        **other,
    }
    return FoundVolume(LiveVolume(**known), encrypted, pooled)


def running(**nodes: int) -> dict[str, RunningGroup]:
    """Groups with that many nodes running."""
    return {group: RunningGroup(running=count, desired=count) for group, count in nodes.items()}


def declare(stack: Stack | None = None, live: LiveSite | None = None) -> Recorder:
    """Decide and declare the whole site under the recorder."""
    stack, live = stack or lab(), live or nothing_alive()
    given = Site(stack, live, decide(stack, live), ARTIFACT, dict.fromkeys(stack.groups, "dXNlcg=="))
    return deploy(lambda: compose(given))
