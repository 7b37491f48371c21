"""A boot manifest to change."""

from __future__ import annotations

from typing import Any

from bootstrap.manifest import BootJob, BootManifest, BootShift, BootVolume

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def manifest(**changes: Any) -> BootManifest:
    """One node, two volumes, a job whose code lies on one."""
    given: dict[str, Any] = {
        "site": "lab",
        "group": "train",
        "group_name": "nightshift-lab.train",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "nodes": 1,
        "instance_types": ("g6.2xlarge",),
        "efa": False,
        "runtime": "torch-2.15-cu132",
        "timezone": "Etc/UTC",
        "shifts": (BootShift(DAYS, "20:00", "07:00"),),
        "volumes": (
            BootVolume("data", 1, "xfs", "site", blank=True),
            BootVolume("runs", 1, "xfs", "site", blank=True),
        ),
        "boot_s": 1200,
        "drain_s": 600,
        "data_bucket": "nightshift-lab-data",
        "log_group": "/nightshift/lab",
        "job": BootJob("/data/runs/train", None, "train.py --epochs 90", (), "release"),
    }
    return BootManifest(**{**given, **changes})
