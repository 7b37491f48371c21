"""What schedules and nodes do to a group, done by hand: desired size, hooks by the node's own credentials."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.engine.support.looking import group
from tests.engine.support.site import Deployed

_PATIENCE_S = 120.0


def resize(site: Deployed, name: str, desired: int) -> None:
    """As a scheduled action does it when it fires."""
    site.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=f"nightshift-{site.name}.{name}", DesiredCapacity=desired
    )


def waiting(site: Deployed, name: str, state: str) -> list[str]:
    """The ids of the group's nodes that a hook holds in `state`."""
    return [one["InstanceId"] for one in group(site, name)["Instances"] if one["LifecycleState"] == state]


def credentials(site: Deployed, instance: str) -> Mapping[str, str]:
    """What a node's own metadata service would give it."""
    given = site.cloud.control("node-credentials", {"instance_id": instance})
    return {key: str(value) for key, value in given.items()}


def complete(site: Deployed, name: str, instance: str, hook: str) -> None:
    """A node says that it is ready, or drained."""
    site.client("autoscaling", credentials(site, instance)).complete_lifecycle_action(
        AutoScalingGroupName=f"nightshift-{site.name}.{name}",
        LifecycleHookName=hook,
        InstanceId=instance,
        LifecycleActionResult="CONTINUE",
    )


def shift_begins(site: Deployed, name: str, nodes: int = 1) -> list[str]:
    """The group's nodes launch, prove themselves ready and are in service; their ids."""
    resize(site, name, nodes)
    for instance in waiting(site, name, "Pending:Wait"):
        complete(site, name, instance, "ready")
    found = group(site, name)["Instances"]
    assert [one["LifecycleState"] for one in found] == ["InService"] * nodes
    return [one["InstanceId"] for one in found]


def drained(site: Deployed, name: str) -> None:
    """Each leaving node of the group finishes its drain."""
    for instance in waiting(site, name, "Terminating:Wait"):
        complete(site, name, instance, "drain")


def shift_ends(site: Deployed, name: str) -> None:
    """The group goes to 0 and its nodes drain."""
    resize(site, name, 0)
    drained(site, name)
    assert group(site, name)["Instances"] == []


@contextmanager
def draining_later(site: Deployed, name: str, after_s: float) -> Generator[dict[str, Any]]:
    """While the block runs, each leaving node of the group ends its drain `after_s` seconds after it began.

    Yields what happened: `drained` node ids, `gone_before` whether the group went while a node still drained.
    """
    seen: dict[str, Any] = {"drained": [], "gone_before": False}
    stop = threading.Event()

    def watch() -> None:
        began: dict[str, float] = {}
        while not stop.wait(0.5):
            try:
                leaving = waiting(site, name, "Terminating:Wait")
            except ValueError:
                seen["gone_before"] = seen["gone_before"] or not seen["drained"]
                return
            for instance in leaving:
                if time.monotonic() - began.setdefault(instance, time.monotonic()) >= after_s:
                    complete(site, name, instance, "drain")
                    seen["drained"].append(instance)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(_PATIENCE_S)
